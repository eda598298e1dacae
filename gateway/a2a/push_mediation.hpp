// Replaces a caller's push configuration if the gateway delivers the notifications itself: the agent gets an address of
// the gateway's instead, with the caller's sealed into it, and callers read their own back. One thread.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "config/settings.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/request_context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::a2a {

bool mediates_push(const model::agent_entry& agent, const config::settings& settings) noexcept;

// Whether a method that A2A does not have looks like one of push notifications, such as those of 0.1: what it says could not be
// mediated.
bool names_push(std::string_view method);

struct push_mediation {
    const config::settings& settings;
    const request::local_snapshot& known;
    ::a2a::dialect caller;
    std::string owner;  // as model::push_receiver::owner

    // Why the caller's URL, token or authentication cannot be taken; nullopt: it can. `at` is where it stands.
    std::optional<::a2a::refusal> objection(const ::a2a::placed_push_config& at) const;

    // `body`, in which `found` stand, as the agent gets it. There are addresses.
    std::string mediated(
        std::string_view body,
        const std::string& agent,
        const std::vector<::a2a::placed_push_config>& found
    ) const;
};

}  // namespace gateway::a2a
