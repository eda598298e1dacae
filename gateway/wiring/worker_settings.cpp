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

// A key as a file of `mcp.session_keys` has it.
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

}  // namespace

worker_settings::worker_settings(
    const std::vector<std::unique_ptr<worker::worker>>& workers,
    push::push_plane& deliveries,
    const core::secret& own_key,
    log_change log
)
    : workers_{workers},
      deliveries_{deliveries},
      own_key_{own_key},
      log_{std::move(log)}
{
}

void worker_settings::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (log_ && changed.has_any_of("log.")) {
        log_(now.log_level, now.log_format);
    }
    if (changed.has_any_of("rate_limits")) {
        const auto shared = access::rate_limiter::make(now.rate_limits);
        for (const auto& each : workers_) {
            each->post([shared](worker::worker& on) { on.handler().set_rate_limits(shared); });
        }
    }
    if (changed.has("log.level")) {
        for (const auto& each : workers_) {
            each->post([level = now.log_level](worker::worker& on) { on.lines().set_level(level); });
        }
    }
    if (changed.has("mcp.session_keys")) {
        publish_keys(now.mcp);
    }
}

void worker_settings::publish_keys(const config::mcp_settings& settings)
{
    const bool alone = settings.session_keys.empty();
    const auto keys = keys_of(settings, own_key_);
    const auto ids = std::make_shared<const ::mcp::session_ids>(jose::text_sealer{keys}, alone);
    const auto addresses = std::make_shared<const model::push_addresses>(jose::text_sealer{keys});
    for (const auto& each : workers_) {
        each->post([ids, addresses](worker::worker& on) {
            on.handler().set_session_ids(ids);
            on.handler().set_push_addresses(addresses);
        });
    }
    deliveries_.set_addresses(addresses);
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
