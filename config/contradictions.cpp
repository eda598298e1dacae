#include "config/contradictions.hpp"

#include "config/values.hpp"

#include <algorithm>

namespace config {
namespace {

void add_of_listeners(const process_settings& settings, std::vector<contradiction>& out)
{
    const auto add_if_same = [&](std::string_view first, std::string_view second, const endpoint& a, const endpoint& b
                             ) {
        if (a == b && a.port != 0) {
            out.push_back({first, second, "is the same address as", "an address of its own"});
        }
    };
    add_if_same("admin", "listen", settings.admin, settings.listen);
    add_if_same("metrics", "listen", settings.metrics, settings.listen);
    add_if_same("metrics", "admin", settings.metrics, settings.admin);
    if (settings.metrics.host.empty() && !settings.metrics_tls.empty()) {
        out.push_back({"metrics_tls", "metrics", "has no listener without", "an address there, or no metrics_tls"});
    }
}

void add_of_programs(const process_settings& settings, std::vector<contradiction>& out)
{
    if (!settings.admin_programs) {
        return;
    }
    if (!is_loopback(settings.admin)) {
        out.push_back(
            {"admin_programs", "admin", "is for a loopback address alone, unlike", "127.0.0.1 as its host, or false"}
        );
    }
    // A page of any site could come in by a name of its own.
    if (std::ranges::find(settings.hosts, "*") != settings.hosts.end()) {
        out.push_back({"admin_programs", "hosts", "does not go with any name in", "the names alone, or false"});
    }
}

void add_of_rates(const core::rate_limits& all, std::vector<contradiction>& out)
{
    const auto add_if_idle = [&](std::string_view burst, std::string_view rate, const core::rate_limit& limit) {
        if (limit.burst > 0 && limit.rate == 0) {
            out.push_back({burst, rate, "limits nothing without", "a rate"});
        }
    };
    add_if_idle("rate_limits.principal.burst", "rate_limits.principal.rate", all.principal);
    add_if_idle("rate_limits.agent.burst", "rate_limits.agent.rate", all.agent);
    add_if_idle("rate_limits.address.burst", "rate_limits.address.rate", all.address);
}

}  // namespace

std::vector<contradiction> contradictions_of(const process_settings& settings)
{
    std::vector<contradiction> out;
    if (settings.cards.min_ttl > settings.cards.max_ttl) {
        out.push_back({"cards.min_ttl", "cards.max_ttl", "is more than", "at most cards.max_ttl"});
    }
    if (settings.limits.target >= settings.limits.header) {
        out.push_back({"limits.target", "limits.header", "is not less than", "a target that fits into the head"});
    }
    add_of_listeners(settings, out);
    add_of_programs(settings, out);
    add_of_rates(settings.rate_limits, out);
    if (settings.push_sign && settings.cards.signing_key.empty()) {
        out.push_back({"push_sign", "cards.signing_key", "signs nothing without", "a key, or false"});
    }
    return out;
}

}  // namespace config
