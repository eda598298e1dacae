// Writes into a card which credentials callers need. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/json/json.hpp"

namespace a2a {

// Which credentials callers need: those of the gateway. What the agent itself asks for cannot be given through a gateway that
// keeps callers' credentials.
struct card_access {
    core::json schemes =
        core::json::object();  // by name, as OpenAPI and types.ts of 0.3.0 write them; any one of them suffices
    bool optional = false;     // calls are passed on without a credential too
    bool passes = false;       // callers' credentials reach the agent: what it asks for stays, and is needed besides

    friend bool operator==(const card_access&, const card_access&) = default;
};

// Sets `securitySchemes` and `security` of a card of 0.x, `securityRequirements` of one of 1.0, both of a hybrid, and
// `authentication.schemes` where a card of 0.1 has `authentication`. Unless `passes`, what the agent asks for goes, that of its
// skills too. Where it stays, each of its alternatives joins each of the gateway's, max_requirements of them; a scheme of the
// gateway whose name the agent uses too has a number behind its name.
void set_access(core::json& card, card_generation generation, const card_access& access);

}  // namespace a2a
