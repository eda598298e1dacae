#include "gateway/reload/own_address.hpp"

#include "config/url.hpp"
#include "config/values.hpp"
#include "core/url.hpp"

#include <string_view>

namespace gateway::reload {
namespace {

bool is_every_address(const std::string& host)
{
    return host == "0.0.0.0" || host == "::";
}

std::string_view path_of(std::string_view url)
{
    const auto path = url.substr(config::path_begin(url));
    return path.substr(0, path.find_last_not_of('/') + 1);
}

bool leads_to(const config::endpoint& listener, const config::endpoint& address)
{
    if (listener.port == 0 || listener.port != address.port) {
        return false;
    }
    const bool on_loopback = config::is_loopback(listener) || is_every_address(listener.host);
    return listener.host == address.host || (on_loopback && config::is_loopback(address));
}

}  // namespace

std::string public_base_of(const config::settings& settings, const std::string& bound)
{
    const std::string own = (settings.tls.empty() ? "http://" : "https://") + bound;
    return settings.public_url.empty() ? own : settings.public_url;
}

bool is_own_address(const std::string& url, const config::settings& settings)
{
    const auto origin = core::origin_of(url);
    if (origin.empty()) {
        return false;
    }
    // Below the same origin other things than the gateway may live.
    if (origin == core::origin_of(settings.public_url) && path_of(url).starts_with(path_of(settings.public_url))) {
        return true;
    }
    const auto address = config::parse_endpoint(origin.substr(origin.find("//") + 2));
    return address && (leads_to(settings.listen, *address) || leads_to(settings.admin, *address) ||
                       leads_to(settings.metrics, *address));
}

}  // namespace gateway::reload
