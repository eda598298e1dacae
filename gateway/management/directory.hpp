// The directory of agents, rendered from the registry and the cards when somebody asks. On the control loop's thread.
#pragma once

#include "gateway/cards/card_plane.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/turns.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::management {

class directory {
public:
    // References outlive it.
    directory(const registry& agents, const cards::card_plane& cards, model::turns& by);

    // Where callers reach the gateway, without a slash at the end.
    void set_public_base(std::string base) { base_ = std::move(base); }

    // Agents that are served, by id. A catalog of more than largest_page agents is one of pages.
    net::task<std::shared_ptr<const model::directory_page>> render(model::directory_request request) const;

private:
    model::listed_agent listed(const model::agent_entry& agent) const;
    net::task<std::vector<std::string>> cursors(const model::directory_request& request) const;

    const registry& registry_;
    const cards::card_plane& cards_;
    model::turns& turns_;
    std::string base_;
};

}  // namespace gateway::management
