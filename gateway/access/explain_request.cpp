#include "gateway/access/explain_request.hpp"

#include "gateway/access/principal_claims.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gateway::access {
namespace {

using core::errc;
using core::json;

constexpr std::size_t longest_text = 8192;  // bytes
constexpr std::size_t most_values = 256;    // of one list

core::error wrong(std::string_view path, std::string_view what)
{
    return core::caller_error(errc::invalid_params, std::string{path} + ": " + std::string{what});
}

// Reads members of a map; the first problem stays.
class member_reader {
public:
    // Members that are not among `known` are a problem, and so is what is no object.
    member_reader(const json& map, std::string prefix, std::initializer_list<std::string_view> known)
        : map_{map},
          prefix_{std::move(prefix)}
    {
        if (!map.is_object()) {
            complain("", "is not an object");
            return;
        }
        for (const auto& each : map.items()) {
            if (std::ranges::find(known, each.key()) == known.end()) {
                complain(each.key(), "is not a parameter of access/explain");
            }
        }
    }

    // Empty: it is not given.
    std::string text(const char* key, bool required = false)
    {
        const auto* const value = core::member(map_, key);
        if (value == nullptr) {
            return required ? complain(key, "is missing; expected text") : std::string{};
        }
        const auto* const text = value->get_ptr<const std::string*>();
        const bool usable = text != nullptr && !text->empty() && text->size() <= longest_text;
        return usable ? *text : complain(key, "is not text; expected 1 to 8192 bytes");
    }

    // `said`: it is given.
    std::vector<std::string> texts(const char* key, bool& said)
    {
        std::vector<std::string> all;
        const auto* const list = core::member(map_, key);
        said = list != nullptr;
        if (said && (!list->is_array() || list->size() > most_values)) {
            complain(key, "is not a list of at most 256 texts");
            return all;
        }
        for (std::size_t i = 0; said && i < list->size(); ++i) {
            if (const auto* const text = (*list)[i].get_ptr<const std::string*>()) {
                all.push_back(*text);
            } else {
                complain(key, "has an element that is not text");
            }
        }
        return all;
    }

    // Values as providers write them: text as it is, numbers and truth values as JSON.
    std::vector<core::claim> claims(const char* key, bool& said)
    {
        std::vector<core::claim> all;
        const auto* const map = core::member(map_, key);
        said = map != nullptr;
        if (said && (!map->is_object() || map->size() > most_values)) {
            complain(key, "is not a map of at most 256 claims");
            return all;
        }
        for (auto each = said ? map->begin() : json::const_iterator{}; said && each != map->end(); ++each) {
            const auto add = [&](const json& value) {
                all.emplace_back(each.key(), value.is_string() ? value.get<std::string>() : core::to_text(value));
            };
            if (each->is_array()) {
                std::ranges::for_each(*each, add);
            } else {
                add(*each);
            }
        }
        return all;
    }

    std::string complain(std::string_view key, std::string_view what)
    {
        if (!problem) {
            problem = wrong(prefix_ + std::string{key}, what);
        }
        return {};
    }

    std::optional<core::error> problem{};

private:
    const json& map_;
    std::string prefix_;
};

core::result<> read_principal(const json& map, explain_request& into)
{
    member_reader members{map, "principal.", {"provider", "id", "scopes", "groups", "tenant", "claims"}};
    core::principal who;
    who.provider = members.text("provider", /*required=*/true);
    who.id = members.text("id", /*required=*/true);
    who.tenant = members.text("tenant");
    who.scopes = members.texts("scopes", into.says_scopes);
    who.groups = members.texts("groups", into.says_groups);
    who.claims = members.claims("claims", into.says_claims);
    if (!members.problem && !is_principal_id(who.id)) {
        members.complain("id", "is not the id of a principal; expected 1 to 256 bytes without control characters");
    }
    if (members.problem) {
        return std::move(*members.problem);
    }
    into.principal = std::move(who);
    return {};
}

// The principal of the configuration, for the parts that the question leaves open.
void complete(core::principal& who, const explain_request& asked, const core::principal& known)
{
    if (!asked.says_scopes) {
        who.scopes = known.scopes;
    }
    if (!asked.says_groups) {
        who.groups = known.groups;
    }
    if (!asked.says_claims) {
        who.claims = known.claims;
    }
    if (who.tenant.empty()) {
        who.tenant = known.tenant;
    }
}

core::error not_accepted(std::string why)
{
    return core::caller_error(errc::unauthenticated, std::move(why));
}

// Completes the principal by its key. Fails with unauthenticated without one that is accepted.
core::result<> complete_by_key(
    core::principal& who,
    const explain_request& asked,
    const core::api_key_provider& keys,
    core::wall_time now
)
{
    auto why = not_accepted("a key with this name: the provider has none");
    for (const auto& key : keys.keys) {
        if (key.owner.id != who.id) {
            continue;
        }
        if (!key.disabled && !(key.expires && now >= *key.expires)) {
            complete(who, asked, key.owner);
            return {};
        }
        why = not_accepted(key.disabled ? "a key that is not disabled" : "a key that has not expired");
    }
    return why;
}

}  // namespace

core::result<explain_request> read_explain_request(const json& params)
{
    explain_request out;
    member_reader members{params, {}, {"principal", "credential", "anonymous", "agent", "method", "tool"}};
    out.asked.agent = members.text("agent", /*required=*/true);
    if (auto method = members.text("method"); !method.empty()) {
        out.asked.method = std::move(method);
    }
    out.asked.tool = members.text("tool");
    if (members.problem) {
        return std::move(*members.problem);
    }
    const auto* const principal = core::member(params, "principal");
    const auto* const credential = core::member(params, "credential");
    const auto* const anonymous = core::member(params, "anonymous");
    out.anonymous = anonymous != nullptr && anonymous->is_boolean() && anonymous->get<bool>();
    if (anonymous != nullptr && !out.anonymous) {
        return wrong("anonymous", "is not true");
    }
    if ((principal != nullptr) + (credential != nullptr) + (anonymous != nullptr) != 1) {
        return wrong("principal", "is one of principal, credential and anonymous; expected exactly one");
    }
    if (!out.asked.tool.empty()) {
        out.asked.method = out.asked.method.value_or("tools/call");
    }
    if (principal != nullptr) {
        if (auto read = read_principal(*principal, out); !read) {
            return std::move(read).error();
        }
    }
    if (credential != nullptr) {
        member_reader shown{*credential, "credential.", {"value", "field"}};
        out.credential = core::secret{shown.text("value", /*required=*/true)};
        out.field = shown.text("field");
        if (shown.problem) {
            return std::move(*shown.problem);
        }
    }
    return out;
}

identified named_owner(const explain_request& asked, const core::access_settings& access, core::wall_time now)
{
    if (!asked.principal) {
        return std::shared_ptr<const core::principal>{};
    }
    auto who = *asked.principal;
    const auto provider = std::ranges::find(access.providers, who.provider, &core::access_provider::name);
    if (provider == access.providers.end()) {
        return wrong("principal.provider", "names no provider of access.providers");
    }
    if (const auto* const keys = std::get_if<core::api_key_provider>(&provider->type)) {
        if (auto done = complete_by_key(who, asked, *keys, now); !done) {
            return std::move(done).error();
        }
    } else if (const auto* const token = std::get_if<core::static_token_provider>(&provider->type)) {
        if (token->bearer.id != who.id) {
            return not_accepted("the name of the token's owner");
        }
        complete(who, asked, token->bearer);
    }
    return std::make_shared<const core::principal>(std::move(who));
}

std::optional<identified> shown_owner(
    const explain_request& asked,
    const access_plan* plan,
    core::wall_time now,
    model::presented_credential& presented
)
{
    if (plan == nullptr) {
        return identified{std::shared_ptr<const core::principal>{}};
    }
    credential found;
    found.written = asked.credential.reveal();
    const auto& fields = plan->reader().fields();
    if (!asked.field.empty()) {
        const auto field = std::ranges::find_if(fields, [&](const key_field& each) {
            return each == key_field{each.place, asked.field};
        });
        if (field == fields.end()) {
            return identified{wrong("credential.field", "names no field that a provider reads")};
        }
        found.field = &*field;
        presented.place = field->place;
        presented.field = field->name;
    }
    auto judged = plan->judge(found, now);
    if (!judged) {
        presented.text = asked.credential.reveal();
        return std::nullopt;
    }
    return *judged ? identified{std::move((*judged)->owner)} : identified{std::move(*judged).error()};
}

}  // namespace gateway::access
