#include "gateway/responses/host_policy.hpp"

#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/url.hpp"
#include "net/http1/head.hpp"

#include <algorithm>

namespace gateway::responses {

host_policy::host_policy(const config::settings& settings, const config::endpoint& listen)
    : names_{settings.hosts}
{
    if (names_.empty() && config::is_loopback(listen)) {
        names_ = {"localhost", "127.0.0.1", "::1", listen.host};
        if (const auto url = core::http_url::parse(settings.public_url)) {
            names_.push_back(url->host);
        }
    } else if (names_.empty()) {
        any_ = true;
    }
    any_ = any_ || std::find(names_.begin(), names_.end(), "*") != names_.end();
}

host_policy host_policy::of_operators(const config::settings& settings)
{
    host_policy out{settings, settings.admin};
    if (!settings.hosts.empty()) {
        out.names_.insert(out.names_.end(), {"localhost", settings.admin.host});
        out.addresses_ = true;
    }
    return out;
}

bool host_policy::answers(std::string_view authority) const noexcept
{
    if (any_ || authority.empty()) {
        return true;
    }
    const auto host = net::http1::host_of(authority);
    if (addresses_ && core::parse_ip(host)) {
        return true;
    }
    return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
        return core::equal_ignoring_case(name, host);
    });
}

}  // namespace gateway::responses
