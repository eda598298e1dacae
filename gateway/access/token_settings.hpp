// Settings that the providers of signed tokens have in common. Pure.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "gateway/access/key_set_source.hpp"
#include "gateway/access/token_claims.hpp"

#include <string>
#include <vector>

namespace gateway::access {

// One issuer whose tokens a provider accepts.
struct token_settings {
    std::string issuer;
    std::vector<std::string> audiences;
    std::vector<std::string> algorithms;  // names of RFC 7518
    core::duration leeway{};
    key_set_place keys;
    std::string header = {};  // in which the tokens are; empty: bearer tokens
    claim_style style = claim_style::usual;
    std::vector<std::string> clients = {};  // as jose::token_policy has them

    friend bool operator==(const token_settings&, const token_settings&) = default;
};

// One for each issuer of the provider; empty: it accepts no such tokens.
std::vector<token_settings> token_settings_of(const core::access_provider& provider);

}  // namespace gateway::access
