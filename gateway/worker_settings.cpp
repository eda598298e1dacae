#include "gateway/worker_settings.hpp"

#include "gateway/access/rate_limiter.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/calls/session_id.hpp"

#include <algorithm>
#include <string>

namespace gateway {
namespace {

void limit_rates(worker_list workers, const core::rate_limits& limits)
{
    const auto shared = access::rate_limiter::make(limits);
    for (const auto& each : workers) {
        each->set_rate_limits(shared);
    }
}

core::secret new_session_key()
{
    std::string bytes(jose::sealing_key_bytes, '\0');
    jose::system_random({reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
    return core::secret{std::move(bytes)};
}

void publish_session_ids(worker_list workers, const config::mcp_settings& settings)
{
    std::vector<core::secret> keys;
    for (const auto& text : settings.session_keys) {
        keys.push_back(jose::sealing_key(text.reveal()).value());
    }
    if (keys.empty()) {
        static const auto own = new_session_key();
        keys.push_back(own);
    }
    const auto ids = std::make_shared<const mcp::session_ids>(jose::text_sealer{keys});
    for (const auto& each : workers) {
        each->set_session_ids(ids);
    }
}

}  // namespace

void tell_workers(worker_list workers, const config::settings& now, const std::vector<std::string_view>& changed)
{
    if (std::ranges::any_of(changed, [](auto path) { return path.starts_with("rate_limits"); })) {
        limit_rates(workers, now.rate_limits);
    }
    if (std::ranges::find(changed, "mcp.session_keys") != changed.end()) {
        publish_session_ids(workers, now.mcp);
    }
}

}  // namespace gateway
