#include "gateway/traffic/push_mediation.hpp"

#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/url.hpp"
#include "net/upstream/own_listeners.hpp"

#include <algorithm>
#include <utility>

namespace gateway::traffic {
namespace {

std::string text_of(std::string_view raw)
{
    return raw.size() < 2 ? std::string{} : core::unescape_json(raw.substr(1, raw.size() - 2));
}

// Visible ASCII and, in the middle, spaces (RFC 9110 section 5.5).
bool can_be_sent(std::string_view value) noexcept
{
    return core::trim(value) == value && std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

a2a::refusal refused(std::string member, std::string_view why)
{
    return {a2a::rpc_code::invalid_params, std::move(member), why};
}

// Whether everybody sees that the URL is at an address that is not allowed. Names are looked up when something is sent.
bool is_forbidden(const core::http_url& url, const core::address_rule& allowed)
{
    auto name = core::in_lower_case(url.host);
    name.erase(name.find_last_not_of('.') + 1);
    const bool loopback = name == "localhost" || name.ends_with(".localhost");
    const auto address = core::parse_ip(loopback ? std::string_view{"127.0.0.1"} : std::string_view{name});
    // Resolvers take it for an address (WHATWG URL, "ends in a number checker").
    const auto last = name.substr(name.find_last_of('.') + 1);
    if (!address && (last.starts_with("0x") || last.find_first_not_of("0123456789") == std::string::npos)) {
        return true;
    }
    return address && (!allowed.allows(*address) || net::is_own_listener(*address, url.port));
}

bool has_user(std::string_view url)
{
    const auto begin = url.find("//");
    return begin != std::string_view::npos &&
           url.substr(begin + 2, url.find_first_of("/?#", begin + 2) - begin - 2).find('@') != std::string_view::npos;
}

}  // namespace

bool mediates_push(const model::agent_entry& agent, const config::settings& settings) noexcept
{
    return agent.record.push.value_or(settings.push) == core::push_mode::mediate;
}

bool names_push(std::string_view method)
{
    auto plain = core::folded(method);
    std::erase(plain, '_');
    return plain.find("pushnotification") != std::string::npos;
}

std::optional<std::string_view> objection_to_push_url(const std::string& url, const config::settings& settings)
{
    const auto parsed = core::http_url::parse(url);
    if (!parsed || has_user(url) || !can_be_sent(url)) {
        return "must be an http or https URL without a user";
    }
    if (is_forbidden(*parsed, core::address_rule{settings.push_allow})) {
        return "is at an address that is not public, or at this gateway";
    }
    return std::nullopt;
}

std::optional<a2a::refusal> push_mediation::objection(const a2a::placed_push_config& at) const
{
    if (const auto why = objection_to_push_url(text_of(at.url), settings)) {
        return refused("url", *why);
    }
    if (!can_be_sent(text_of(at.token))) {
        return refused("token", "must be visible ASCII");
    }
    if (!can_be_sent(a2a::push_authorization(at.authentication))) {
        return refused("authentication", "must be visible ASCII");
    }
    if (at.url.size() + at.token.size() + at.authentication.size() > settings.limits.push_config) {
        return refused({}, "is a push notification configuration over the limit of its size");
    }
    return std::nullopt;
}

std::string push_mediation::mediated(
    std::string_view body,
    const std::string& agent,
    const std::vector<a2a::placed_push_config>& found
) const
{
    const auto& addresses = *known.push_addresses();
    std::vector<a2a::push_replacement> with;
    for (const auto& each : found) {
        model::push_receiver receiver;
        receiver.url = text_of(each.url);
        receiver.token = each.token;
        receiver.authentication = each.authentication;
        receiver.version = caller.version;
        receiver.proof = addresses.new_proof();
        receiver.owner = owner;
        auto& by = with.emplace_back();
        by.at = each;
        by.url = '"' + model::public_address(known.public_base(), agent);
        by.url.append(model::push_path).append(addresses.seal(agent, receiver)).append("\"");
        by.token = '"' + receiver.proof + '"';
        by.authentication = a2a::bearer_push_authentication(caller.version, receiver.proof);
    }
    return a2a::with_push_configs(body, with);
}

}  // namespace gateway::traffic
