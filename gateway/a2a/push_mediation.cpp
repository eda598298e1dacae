#include "gateway/a2a/push_mediation.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <utility>

namespace gateway::a2a {
namespace {

std::string text_of(std::string_view raw)
{
    return raw.size() < 2 ? std::string{} : core::unescape_json(raw.substr(1, raw.size() - 2));
}

::a2a::refusal refused(std::string member, std::string_view why)
{
    return {::a2a::rpc_code::invalid_params, std::move(member), why};
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

std::optional<::a2a::refusal> push_mediation::objection(const ::a2a::placed_push_config& at) const
{
    if (const auto why = model::objection_to_push_url(text_of(at.url), settings)) {
        return refused("url", *why);
    }
    if (!model::is_field_value(text_of(at.token))) {
        return refused("token", "must be visible ASCII");
    }
    if (!model::is_field_value(::a2a::push_authorization(at.authentication))) {
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
    const std::vector<::a2a::placed_push_config>& found
) const
{
    const auto& addresses = *known.push_addresses();
    std::vector<::a2a::push_replacement> with;
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
        by.authentication = ::a2a::bearer_push_authentication(caller.version, receiver.proof);
    }
    return ::a2a::with_push_configs(body, with);
}

}  // namespace gateway::a2a
