// The directory of agents, rendered from the registry and the cards when somebody asks. On the control loop's thread.
#pragma once

#include "core/memory_budget.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/threads/turns.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::management {

class directory {
public:
    // References outlive it.
    directory(const registry& agents, const cards::card_plane& cards, threads::turns& by, core::memory_budget& memory);

    // Where callers reach the gateway, without a slash at the end.
    void set_public_base(std::string base)
    {
        base_ = std::move(base);
        name_space_ = model::server_namespace(base_);
    }

    // Agents that are served, by id. A catalog of more than largest_page agents is one of pages. Equal pages are one, for as long as
    // somebody has it. Null: `memory` has no room for the page, beside those that others have. A page without a body: there is no
    // such document.
    net::task<std::shared_ptr<const model::directory_page>> render(model::directory_request request);

private:
    using page_pointer = std::shared_ptr<const model::directory_page>;

    net::task<page_pointer> make(model::directory_request request) const;
    page_pointer make_of_one(const model::directory_request& request) const;
    bool is_shown(const model::directory_request& request, const registered_agent& agent) const;
    page_pointer finished(model::directory_page page, core::memory_share memory) const;
    page_pointer shared(page_pointer page);
    model::listed_agent listed(const registered_agent& of) const;
    net::task<std::vector<std::string>> cursors(const model::directory_request& request) const;

    const registry& registry_;
    const cards::card_plane& cards_;
    threads::turns& turns_;
    core::memory_budget& memory_;
    std::string base_;
    std::string name_space_;  // of the names of MCP servers
    std::unordered_map<std::string, std::weak_ptr<const model::directory_page>>
        pages_;                 // by validators and other fields
    std::size_t sweep_at_ = 0;  // so many of them
};

}  // namespace gateway::management
