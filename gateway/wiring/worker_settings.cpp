#include "gateway/wiring/worker_settings.hpp"

#include "core/ascii.hpp"
#include "gateway/access/rate_limiter.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/calls/session_id.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace gateway::wiring {
namespace {

void limit_rates(worker_list workers, const core::rate_limits& limits)
{
    const auto shared = access::rate_limiter::make(limits);
    for (const auto& each : workers) {
        each->set_rate_limits(shared);
    }
}

// As it could be written in a file of `mcp.session_keys`.
core::secret new_session_key()
{
    std::array<unsigned char, jose::sealing_key_bytes> bytes{};
    jose::system_random(bytes);
    std::string text;
    for (const auto each : bytes) {
        text += core::hex_digits[each >> 4U];
        text += core::hex_digits[each & 0x0FU];
    }
    return core::secret{std::move(text)};
}

std::vector<core::secret> keys_of(const config::mcp_settings& settings, const core::secret& own_key)
{
    const auto configured = std::span{settings.session_keys};
    std::vector<core::secret> keys;
    for (const auto& text : configured.empty() ? std::span{&own_key, 1} : configured) {
        if (auto key = jose::sealing_key(text.reveal())) {
            keys.push_back(std::move(*key));
        }
    }
    return keys;
}

void publish_session_ids(worker_list workers, const config::mcp_settings& settings, const core::secret& own_key)
{
    const bool alone = settings.session_keys.empty();
    const auto ids = std::make_shared<const ::mcp::session_ids>(jose::text_sealer{keys_of(settings, own_key)}, alone);
    const auto addresses = push_addresses_of(settings, own_key);
    for (const auto& each : workers) {
        each->set_session_ids(ids);
        each->set_push_addresses(addresses);
    }
}

}  // namespace

void tell_workers(
    worker_list workers,
    const config::settings& now,
    const std::vector<std::string_view>& changed,
    const core::secret& own_key
)
{
    if (std::ranges::any_of(changed, [](auto path) { return path.starts_with("rate_limits"); })) {
        limit_rates(workers, now.rate_limits);
    }
    if (std::ranges::find(changed, "log.level") != changed.end()) {
        for (const auto& each : workers) {
            each->set_log_level(now.log_level);
        }
    }
    if (std::ranges::find(changed, "mcp.session_keys") != changed.end()) {
        publish_session_ids(workers, now.mcp, own_key);
    }
}

std::shared_ptr<const model::push_addresses>
push_addresses_of(const config::mcp_settings& settings, const core::secret& own_key)
{
    return std::make_shared<const model::push_addresses>(jose::text_sealer{keys_of(settings, own_key)});
}

core::secret own_session_key(store::engine& records, const core::logger& log)
{
    auto made = new_session_key();
    auto kept = records.session_key(made);
    if (kept && jose::sealing_key(kept->reveal())) {
        return std::move(*kept);
    }
    const auto why = kept ? core::gateway_error(core::errc::store_failed, "is no key") : kept.error();
    log.write(
        core::log_level::warn,
        "session_key_persist_failed",
        {{"code", core::name(why.code)}, {"detail", why.detail}}
    );
    return made;
}

}  // namespace gateway::wiring
