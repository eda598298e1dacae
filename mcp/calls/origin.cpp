#include "mcp/calls/origin.hpp"

#include "core/ip.hpp"
#include "core/url.hpp"

#include <algorithm>

namespace mcp {
namespace {

// Scheme, host and port of an http or https origin; empty: it is none, or it has more.
std::string normalised(std::string_view origin)
{
    const auto scheme = origin.find("://");
    if (scheme == std::string_view::npos || origin.find_first_of("/?#@\\ ", scheme + 3) != std::string_view::npos) {
        return {};
    }
    return core::origin_of(origin);
}

bool is_loopback(std::string_view origin)
{
    const auto url = core::http_url::parse(origin);
    if (!url) {
        return false;
    }
    if (url->host == "localhost") {
        return true;
    }
    static const auto four = core::parse_ip_block("127.0.0.0/8");
    static const auto six = core::parse_ip_block("::1");
    const auto address = core::parse_ip(url->host);
    return address && ((four && four->contains(*address)) || (six && six->contains(*address)));
}

}  // namespace

origin_verdict judge_origin(std::string_view origin, unsigned count, const origin_policy& policy)
{
    if (count == 0) {
        return origin_verdict::none;
    }
    if (count > 1 || origin.empty() || origin == "null") {
        return origin_verdict::forbidden;
    }
    const auto http = normalised(origin);
    const auto is_it = [&http](const std::string& each) { return !http.empty() && core::origin_of(each) == http; };
    if (std::ranges::any_of(policy.own, is_it)) {
        return origin_verdict::own;
    }
    // Pages of other schemes, such as extensions of browsers, are listed as browsers name them.
    const auto is_listed = [&](const std::string& each) { return each == origin || is_it(each); };
    if (std::ranges::any_of(policy.listed, is_listed)) {
        return origin_verdict::listed;
    }
    const bool loopback = policy.loopback_listener && !http.empty() && is_loopback(http);
    return loopback ? origin_verdict::loopback : origin_verdict::forbidden;
}

}  // namespace mcp
