#include "gateway/console/try_head.hpp"

#include "core/access.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/console/try.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace gateway::console {
namespace {

using net::http1::field_name;
using net::http1::method;

constexpr std::string_view for_callers = "Cardea-Caller-";

bool begins(std::string_view name, std::string_view text) noexcept
{
    return core::equal_ignoring_case(name.substr(0, text.size()), text);
}

// Fields that concern the browser and this listener alone, or that head_of_try() writes itself.
bool stays_here(std::string_view name) noexcept
{
    switch (net::http1::lookup_field(name)) {
        case field_name::cookie:
        case field_name::expect:
        case field_name::host:
        case field_name::http2_settings:
        case field_name::origin:
            return true;
        default:
            return begins(name, "Sec-") || net::http1::hop_by_hop(net::http1::lookup_field(name));
    }
}

// Fields by which a browser or an operator's program speaks to the admin listener: credentials, wherever a provider reads them.
bool is_of_operator(const net::http1::field& field, const core::access_settings& access)
{
    const auto reads = [&](const core::access_provider& each) {
        const auto* const keys = std::get_if<core::api_key_provider>(&each.type);
        return keys != nullptr && keys->place == core::credential_place::header &&
               core::equal_ignoring_case(keys->field, field.name);
    };
    return field.id == field_name::authorization || field.id == field_name::api_key ||
           core::equal_ignoring_case(field.name, "Referer") || std::ranges::any_of(access.providers, reads);
}

bool is_query_key(std::string_view parameter, const core::access_settings& access)
{
    const auto name = core::decoded(parameter.substr(0, parameter.find('=')));
    return std::ranges::any_of(access.providers, [&](const core::access_provider& each) {
        const auto* const keys = std::get_if<core::api_key_provider>(&each.type);
        return keys != nullptr && keys->place == core::credential_place::query && keys->field == name;
    });
}

// The target at the traffic listener. A key in the query is the operator's where operators need one.
std::string target_of(std::string_view asked, const config::settings& settings)
{
    asked.remove_prefix(try_path.size());
    const auto mark = std::min(asked.find('?'), asked.size());
    if (settings.admin_access != core::admin_access::scopes || mark == asked.size()) {
        return std::string{asked};
    }
    std::string out{asked.substr(0, mark)};
    char before = '?';
    for (auto rest = asked.substr(mark + 1); !rest.empty();) {
        const auto parameter = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(parameter.size() + 1, rest.size()));
        if (!is_query_key(parameter, settings.access)) {
            out.append(1, std::exchange(before, '&')).append(parameter);
        }
    }
    return out;
}

bool is_obeyed(std::string_view name) noexcept
{
    constexpr auto names = std::to_array<std::string_view>({
        "Content-Security-Policy",
        "Content-Security-Policy-Report-Only",
        "Link",
        "Location",
        "Refresh",
        "SourceMap",
        "WWW-Authenticate",
        "X-Content-Type-Options",
        "X-SourceMap",
    });
    return std::ranges::any_of(names, [&](auto each) { return core::equal_ignoring_case(each, name); });
}

}  // namespace

std::string head_of_try(
    const net::http1::request_head& asked,
    std::size_t length,
    std::string_view public_base,
    const config::settings& settings
)
{
    std::string text;
    net::http1::head_writer out{text};
    out.request_line(asked.verb, target_of(asked.target, settings));
    const auto url = core::http_url::parse(public_base);
    const std::string host = url ? url->authority() : std::string{asked.authority};
    out.field("Host", host);
    out.field("Connection", "close");
    for (const auto& each : asked.fields) {
        const bool renamed = begins(each.name, for_callers);
        const auto name = each.name.substr(renamed ? for_callers.size() : 0);
        if (core::is_token(name) && !stays_here(name) && (renamed || !is_of_operator(each, settings.access)) &&
            !net::http1::named_by_connection(asked.fields, each.name)) {
            out.field(name, each.value);
        }
    }
    if (length > 0 || asked.verb == method::post) {
        out.field("Content-Length", std::uint64_t{length});
    }
    out.end();
    return text;
}

std::string fields_of_try(const net::http1::response_head& answered)
{
    std::string text;
    net::http1::head_writer out{text};
    for (const auto& each : answered.fields) {
        if (each.id == field_name::date || net::http1::hop_by_hop(each.id) ||
            net::http1::named_by_connection(answered.fields, each.name)) {
            continue;
        }
        out.field(
            (is_obeyed(each.name) ? std::string{for_callers} : std::string{}) + std::string{each.name},
            each.value
        );
    }
    // Whatever an agent sends, it is no page of this origin.
    out.field("X-Content-Type-Options", "nosniff");
    out.field("Content-Security-Policy", "default-src 'none'; sandbox");
    return text;
}

}  // namespace gateway::console
