// An operator's rules for the endpoints of an agent: where they are, which one gets a call, when they count as healthy, and which
// calls are sent again. endpoint_defaults are for agents without rules.
#pragma once

#include "core/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

enum class balancing : std::uint8_t {
    failover,  // the first healthy one, in written order
    spread,    // of two at random the one with fewer calls in flight
    caller,    // the same for a caller
};

// "failover", "spread", "caller".
std::string_view name(balancing value) noexcept;

enum class health_check : std::uint8_t {
    automatic,  // tcp for several endpoints, else none
    none,
    tcp,   // a connection, and with https its handshake
    card,  // the agent's card
    http,  // a GET that is answered with 200 to 299
};

// "auto", "none", "tcp", "card", "http".
std::string_view name(health_check value) noexcept;

struct health_settings {
    health_check check = health_check::automatic;
    duration interval{10'000};
    duration timeout{2'000};
    std::uint64_t fail = 3;  // checks, one after the other
    std::uint64_t pass = 2;

    friend bool operator==(const health_settings&, const health_settings&) = default;
};

struct retry_settings {
    std::uint64_t attempts = 2;  // how often a call is sent in all
    double budget = 0.2;         // of the agent's calls may be sent again

    friend bool operator==(const retry_settings&, const retry_settings&) = default;
};

struct endpoint_defaults {
    balancing balance = balancing::failover;
    duration failback{300'000};
    health_settings health;
    retry_settings retry;
};

// These instead of the defaults.
struct endpoint_rules {
    std::vector<std::string> upstreams;  // 2 to 32 URLs of A2A, the first one is the agent's `url`; empty: that alone
    std::optional<balancing> balance;
    std::optional<duration> failback;
    std::optional<health_check> check;
    std::string health_path;  // of a check by `http`; empty: the path of the endpoint
    std::optional<duration> health_interval;
    std::optional<duration> health_timeout;
    std::optional<std::uint64_t> health_fail;
    std::optional<std::uint64_t> health_pass;
    std::optional<std::uint64_t> retry_attempts;
    std::optional<double> retry_budget;

    friend bool operator==(const endpoint_rules&, const endpoint_rules&) = default;
};

}  // namespace core
