// Any text as a policy, and any JSON behind a line `---` as its caller: what the evaluator says is what one says that reads the
// policy as it is shown again; and what is shown is the same policy when it is read.
#include "config/access.hpp"
#include "config/document.hpp"
#include "core/json/json.hpp"
#include "gateway/access/policy.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using core::json;
using tests::require;

std::optional<core::access_policy> read(std::string_view text)
{
    config::problem_list problems{"policy"};
    const auto root = config::parse_document(text, problems);
    if (!root) {
        return {};
    }
    auto policy = config::read_policy({"call", &*root, root->at, false}, config::decision::call, problems);
    return problems.empty() ? policy : std::nullopt;
}

struct caller {
    core::principal who;
    std::string method;
};

std::vector<std::string> texts(const json& members, const char* name)
{
    std::vector<std::string> list;
    const auto* found = core::member(members, name);
    for (const auto& each : found == nullptr ? json::array() : *found) {
        list.push_back(each.is_string() ? each.get<std::string>() : core::to_text(each));
    }
    return list;
}

caller read_caller(std::string_view text)
{
    const auto parsed = core::parse_json(text);
    const auto members = parsed ? *parsed : json::object();
    caller by{
        {.id = core::text_member(members, "id"),
         .provider = core::text_member(members, "provider"),
         .tenant = core::text_member(members, "tenant"),
         .scopes = texts(members, "scopes"),
         .groups = texts(members, "groups"),
         .claims = {}},
        core::text_member(members, "method")
    };
    if (const auto* claims = core::member(members, "claims"); claims != nullptr && claims->is_object()) {
        for (const auto& [name, value] : claims->items()) {
            by.who.claims.emplace_back(name, value.is_string() ? value.get<std::string>() : core::to_text(value));
        }
    }
    return by;
}

bool has(const std::vector<std::string>& values, const json& wanted)
{
    return std::ranges::any_of(wanted, [&](const json& each) {
        return std::ranges::find(values, each.get<std::string>()) != values.end();
    });
}

// Of one map of conditions, as it is shown.
bool holds(const json& rule, const caller& by, bool with_method)
{
    for (const auto& [key, wanted] : rule.items()) {
        bool met = false;
        if (key == "claims") {
            for (const auto& [name, value] : by.who.claims) {
                met = met || (wanted.contains(name) && has({value}, wanted[name]));
            }
        } else if (key == "scopes" || key == "groups") {
            met = has(key == "scopes" ? by.who.scopes : by.who.groups, wanted);
        } else if (key == "methods") {
            met = !with_method || has({by.method}, wanted);
        } else {
            met = has({key == "principals" ? by.who.id : key == "providers" ? by.who.provider : by.who.tenant}, wanted);
        }
        if (!met) {
            return false;
        }
    }
    return true;
}

bool lets(const json& shown, const caller* by, bool with_method)
{
    if (shown == "anyone") {
        return true;
    }
    if (by == nullptr || shown == "nobody") {
        return false;
    }
    if (shown == "authenticated") {
        return true;
    }
    const auto rules = shown.is_array() ? shown : json::array({shown});
    return std::ranges::any_of(rules, [&](const json& rule) { return holds(rule, *by, with_method); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::string_view border = "\n---\n";
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    const auto text = input.substr(0, input.find(border));
    const auto policy = read(text);
    if (!policy) {
        return 0;
    }
    const auto by = read_caller(input.substr(std::min(input.size(), text.size() + border.size())));
    const auto shown = config::shown_policy(*policy);
    const auto as_text = core::to_text(shown);
    require(read(as_text) == policy, "what is shown is the policy", text, as_text);
    using namespace gateway::access;
    require(allows(*policy, &by.who, by.method) == lets(shown, &by, true), "who is allowed", input, as_text);
    require(allows(*policy, nullptr, by.method) == lets(shown, nullptr, true), "nobody is allowed", input, as_text);
    require(allows_some_method(*policy, &by.who) == lets(shown, &by, false), "who may call somehow", input, as_text);
    require(allows_some_method(*policy, nullptr) == lets(shown, nullptr, false), "nobody may call", input, as_text);
    return 0;
}
