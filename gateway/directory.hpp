// The directory of agents, rendered from the registry and the cards when somebody asks. On the control loop's thread.
#pragma once

#include "gateway/card_plane.hpp"
#include "gateway/directory_page.hpp"
#include "gateway/registry.hpp"
#include "gateway/turns.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway {

class directory {
public:
    // References outlive it.
    directory(const registry& agents, const card_plane& cards, turns& by);

    // Where callers reach the gateway, without a slash at the end.
    void set_public_base(std::string base) { base_ = std::move(base); }

    // Agents that are served, by id. A catalog of more than largest_page agents is one of pages.
    net::task<std::shared_ptr<const directory_page>> render(directory_request request) const;

private:
    listed_agent listed(const agent_entry& agent) const;
    net::task<std::vector<std::string>> cursors() const;

    const registry& registry_;
    const card_plane& cards_;
    turns& turns_;
    std::string base_;
};

}  // namespace gateway
