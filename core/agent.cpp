#include "core/agent.hpp"

#include "core/ascii.hpp"
#include "core/choices.hpp"
#include "core/url.hpp"

#include <algorithm>

namespace core {

breaker_settings breaker_of(const agent& record, const breaker_settings& defaults) noexcept
{
    return {
        .failures = record.breaker_failures.value_or(defaults.failures),
        .ratio = record.breaker_ratio.value_or(defaults.ratio),
        .volume = record.breaker_volume.value_or(defaults.volume),
        .window = record.breaker_window.value_or(defaults.window),
        .cooldown = record.breaker_cooldown.value_or(defaults.cooldown),
        .max_cooldown = record.breaker_max_cooldown.value_or(defaults.max_cooldown),
        .probe = record.breaker_probe.value_or(defaults.probe)
    };
}

const endpoint_rules& rules_of(const agent& record) noexcept
{
    static const endpoint_rules none;
    return record.rules ? *record.rules : none;
}

health_settings health_of(const agent& record, const health_settings& defaults) noexcept
{
    const auto& own = rules_of(record);
    return {
        .check = own.check.value_or(defaults.check),
        .interval = own.health_interval.value_or(defaults.interval),
        .timeout = own.health_timeout.value_or(defaults.timeout),
        .fail = own.health_fail.value_or(defaults.fail),
        .pass = own.health_pass.value_or(defaults.pass)
    };
}

retry_settings retry_of(const agent& record, const retry_settings& defaults) noexcept
{
    const auto& own = rules_of(record);
    return {
        .attempts = own.retry_attempts.value_or(defaults.attempts),
        .budget = own.retry_budget.value_or(defaults.budget)
    };
}

call_limits limits_of(const agent& record, const call_limits& defaults) noexcept
{
    return {
        .in_flight = record.most_in_flight.value_or(defaults.in_flight),
        .queue = record.most_queued.value_or(defaults.queue),
        .streams = record.most_streams.value_or(defaults.streams),
        .wait = record.queue_wait.value_or(defaults.wait)
    };
}

bool valid_agent_id(std::string_view id) noexcept
{
    constexpr std::size_t longest = 128;
    const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-'; };
    // Clients that have dropped an agent's id arrive at "/agents/.well-known": no agent has that name.
    return !id.empty() && id.size() <= longest && id != "." && id != ".well-known" &&
           id.find("..") == std::string_view::npos && std::all_of(id.begin(), id.end(), allowed);
}

std::string_view name(protocol value) noexcept
{
    return chosen_name(value);
}

std::string_view name(a2a_dialect value) noexcept
{
    return chosen_name(value);
}

std::string_view name(http_version value) noexcept
{
    return chosen_name(value);
}

bool only_grpc(const agent& record) noexcept
{
    return is_grpc_url(record.url);
}

std::string grpc_address(const agent& record)
{
    return http_form(only_grpc(record) ? record.url : record.grpc_url);
}

std::string_view name(balancing value) noexcept
{
    return chosen_name(value);
}

std::string_view name(health_check value) noexcept
{
    return chosen_name(value);
}

std::string_view name(error_edition value) noexcept
{
    return chosen_name(value);
}

std::string_view name(card_shape value) noexcept
{
    return chosen_name(value);
}

std::string_view name(card_trust value) noexcept
{
    return chosen_name(value);
}

std::string_view name(tool_form value) noexcept
{
    return chosen_name(value);
}

std::string_view name(extended_card_access value) noexcept
{
    return chosen_name(value);
}

std::string_view name(public_documents value) noexcept
{
    return chosen_name(value);
}

std::string_view name(pin_mode value) noexcept
{
    return chosen_name(value);
}

std::string_view name(push_mode value) noexcept
{
    return chosen_name(value);
}

std::string_view name(skill_visibility value) noexcept
{
    return chosen_name(value);
}

std::string_view name(client_authentication value) noexcept
{
    return chosen_name(value);
}

std::string_view name(oauth_grant value) noexcept
{
    return chosen_name(value);
}

std::string_view name(admin_access value) noexcept
{
    return chosen_name(value);
}

bool has_credentials(const agent& record) noexcept
{
    return !record.bearer.empty() || !std::holds_alternative<std::monostate>(record.credentials) ||
           !record.headers.empty() || !record.queries.empty() || !record.cert_file.empty();
}

const secret& query_of(const agent& record) noexcept
{
    static const secret none;
    const auto& all = rules_of(record).upstreams;
    const auto at = static_cast<std::size_t>(std::ranges::find(all, record.url) - all.begin());
    const auto place = all.empty() ? 0 : at;
    return place < record.queries.size() ? record.queries[place] : none;
}

extended_card_access extended_card_of(const agent& record, bool authenticates) noexcept
{
    using enum extended_card_access;
    if (record.extended_card == managed) {
        return authenticates ? managed : off;
    }
    if (record.extended_card == off || record.speaks == protocol::mcp) {
        return off;
    }
    return record.extended_card == proxy || authenticates || !has_credentials(record) ? proxy : off;
}

std::string_view name(signature_policy value) noexcept
{
    return chosen_name(value);
}

}  // namespace core
