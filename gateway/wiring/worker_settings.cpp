#include "gateway/wiring/worker_settings.hpp"

#include "core/ascii.hpp"
#include "core/keyed_hash.hpp"
#include "gateway/access/rate_limiter.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/calls/session_id.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

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

// The store may be another process's by the time that the keys change.
worker_settings::worker_settings(const parts& of)
    : parts_{of},
      replica_{of.store.engine().shared() == nullptr ? store::replica_id{0} : of.store.engine().shared()->self()}
{
}

std::unique_ptr<worker_settings> make_worker_settings(const worker_settings::parts& of)
{
    return std::make_unique<worker_settings>(of);
}

void worker_settings::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (parts_.log && changed.has_any_of("log.")) {
        parts_.log(now.log_level, now.log_format);
    }
    if (changed.has_any_of("rate_limits")) {
        publish_limits(now.rate_limits);
    }
    if (changed.has("log.level")) {
        for (const auto& each : parts_.workers) {
            each->post([level = now.log_level](worker::worker& on) { on.lines().set_level(level); });
        }
    }
    if (changed.has("mcp.session_keys")) {
        publish_keys(now.mcp);
    }
}

void worker_settings::set_replicas(std::size_t live, const core::rate_limits& limits)
{
    const auto before = std::exchange(replicas_, std::max(live, std::size_t{1}));
    if (before != replicas_ && limits.divide) {
        publish_limits(limits);
    }
}

void worker_settings::publish_limits(const core::rate_limits& limits)
{
    const auto shared = access::rate_limiter::make(limits, replicas_);
    for (const auto& each : parts_.workers) {
        each->post([shared](worker::worker& on) { on.handler().set_rate_limits(shared); });
    }
}

void worker_settings::publish_keys(const config::mcp_settings& settings)
{
    const bool shared = replica_ != 0;
    const bool alone = settings.session_keys.empty() && !shared;
    const auto keys = keys_of(settings, parts_.own_key);
    const auto ids = std::make_shared<const ::mcp::session_ids>(jose::text_sealer{keys}, alone, replica_);
    if (shared) {
        parts_.callers.programs().set_seals(ids);
    }
    const auto addresses = std::make_shared<const model::push_addresses>(jose::text_sealer{keys});
    for (const auto& each : parts_.workers) {
        each->post([ids, addresses](worker::worker& on) {
            on.handler().set_session_ids(ids);
            on.handler().set_push_addresses(addresses);
        });
    }
    parts_.deliveries.set_addresses(addresses);
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

namespace {

bool is_about_access(const model::changed_settings& changed)
{
    return changed.has("access") || changed.has("admin_access") || changed.has("register.token");
}

}  // namespace

void access_publication::begin(
    const config::settings& now,
    const config::settings& next,
    const model::changed_settings& changed
)
{
    if (is_about_access(changed)) {
        publish(next, access::access_plan::make(now.access, nullptr, told_.public_base));
    }
}

void access_publication::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (is_about_access(changed)) {
        publish(now, nullptr);
    }
    if (now.rules != std::exchange(rules_, now.rules)) {
        for (const auto& each : told_.workers) {
            each->post([rules = rules_](worker::worker& on) { on.handler().set_rules(rules); });
        }
    }
    if (changed.has("access")) {
        const auto before = std::exchange(schemes_, std::make_shared<const access::card_schemes>(now.access));
        told_.card_work.editor().set_access([schemes = schemes_](const core::agent& agent) {
            return schemes->of(agent);
        });
        told_.cards.make_again(access::card_schemes::difference(before, schemes_), told_.operators);
    }
}

void access_publication::publish(const config::settings& now, std::shared_ptr<const access::access_plan> before)
{
    const bool ended = before == nullptr;
    const access::access_plans plans{
        access::access_plan::make(now.access, std::move(before), told_.public_base),
        access::access_plan::make_for_registration(now.access, now.registration.token, told_.public_base),
        // Not the admin listener's: whoever fails on `listen` would lock out operators who share the address.
        std::make_shared<access::failure_limit>(now.limits.failed_credentials, core::keyed_hash{}({}, {})[0])
    };
    callers_ = plans.callers;
    for (const auto& each : told_.workers) {
        each->post([plans](worker::worker& on) { on.handler().set_access(plans); });
    }
    told_.listeners.set_access(plans.callers);
    if (now.admin_access == core::admin_access::scopes) {
        told_.admin.set_plans(plans);
    } else if (ended) {
        told_.admin.set_plans({});
    }
}

}  // namespace gateway::wiring
