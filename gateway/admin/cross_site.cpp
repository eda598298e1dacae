#include "gateway/admin/cross_site.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/console/events.hpp"

#include <algorithm>
#include <string>

namespace gateway::admin {
namespace {

using net::http1::method;

// An origin has nothing behind its port.
bool is_own(std::string_view origin, std::string_view authority)
{
    const auto scheme = origin.find("://");
    if (scheme == std::string_view::npos || origin.find_first_of("/?#@\\ ", scheme + 3) != std::string_view::npos) {
        return false;
    }
    const auto own = core::origin_of(std::string{origin.substr(0, scheme + 3)} + std::string{authority});
    return !own.empty() && own == core::origin_of(origin);
}

}  // namespace

bool is_cross_site(const net::http1::request_head& asked, std::string_view path)
{
    const bool reads = asked.verb == method::get || asked.verb == method::head || asked.verb == method::options;
    if (reads && path != console::events_path) {
        return false;
    }
    return std::ranges::any_of(asked.fields, [&](const auto& each) {
        if (each.id == net::http1::field_name::origin) {
            return !is_own(each.value, asked.authority);
        }
        return core::equal_ignoring_case(each.name, "Sec-Fetch-Site") && each.value != "same-origin" &&
               each.value != "none";
    });
}

}  // namespace gateway::admin
