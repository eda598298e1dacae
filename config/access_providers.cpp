#include "config/access_providers.hpp"

#include "config/access_api_keys.hpp"
#include "config/access_checks.hpp"
#include "config/access_conflicts.hpp"
#include "config/access_members.hpp"
#include "config/access_table.hpp"
#include "config/access_tokens.hpp"
#include "config/access_values.hpp"
#include "config/agent_parts.hpp"
#include "config/schema.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_provider = "a map with type and name";
constexpr std::string_view expected_name = "1 to 64 letters, digits, '.', '_' and '-'";

core::error invalid(std::string predicate)
{
    return core::gateway_error(core::errc::config_invalid, std::move(predicate));
}

std::string expected_types()
{
    std::string text;
    for (std::size_t i = 0; i < provider_types.size(); ++i) {
        text += i == 0 ? "" : i + 1 == provider_types.size() ? " or " : ", ";
        text += provider_types[i].name;
    }
    return text;
}

core::result<std::string> parse_name(std::string_view text)
{
    constexpr std::size_t longest = 64;
    const auto fits = [](char c) {
        return core::is_letter(c) || core::is_digit(c) || c == '.' || c == '_' || c == '-';
    };
    if (text.empty() || text.size() > longest || !std::ranges::all_of(text, fits)) {
        return invalid(text.empty() ? "is empty" : "is not the name of a provider");
    }
    return std::string{text};
}

core::result<const provider_type*> parse_type(std::string_view text)
{
    const auto* const found = std::ranges::find(provider_types, text, &provider_type::name);
    if (found != provider_types.end()) {
        return &*found;
    }
    return invalid(text.empty() ? "is empty" : "is not a type of providers");
}

class provider_list_reader {
public:
    provider_list_reader(const secret_reader& secrets, const tls_checks& tls, problem_list& problems)
        : secrets_{secrets},
          tls_{tls},
          problems_{problems}
    {
    }

    std::optional<core::access_provider> read(const field& f)
    {
        const auto* map = read_given_map(f, expected_provider, problems_);
        const auto* type = map == nullptr ? nullptr : read_type(*map, f);
        if (type == nullptr) {
            return {};
        }
        const access_members given{f, *map, type->map, problems_};
        core::access_provider provider;
        provider.name = read_name(given);
        provider.type = read_settings(type->map, given, provider.name);
        return provider;
    }

private:
    // The other keys depend on it.
    const provider_type* read_type(const node& map, const field& f)
    {
        const auto found = std::ranges::find(map.keys, "type", &node::name::text);
        if (found == map.keys.end()) {
            problems_.add(f.at, join(f.path, "type"), "is missing; expected " + expected_types());
            return nullptr;
        }
        const auto type = member(map, static_cast<std::size_t>(found - map.keys.begin()), f.path);
        return read_parsed(type, expected_types(), parse_type, problems_).value_or(nullptr);
    }

    std::string read_name(const access_members& given)
    {
        const auto* f = given.require("name", expected_name);
        auto name = f == nullptr ? std::nullopt : read_parsed(*f, expected_name, parse_name, problems_);
        if (name == core::registration_owner) {
            refuse(*f, "is the name that `register.token` has", "a name of its own", problems_);
        } else if (name && !names_.insert(*name).second) {
            refuse(*f, "is the name of another provider", "a name of its own", problems_);
        }
        return name.value_or("");
    }

    core::provider_settings read_settings(access_map type, const access_members& given, const std::string& name)
    {
        switch (type) {
            case access_map::api_key:
                return read_api_keys(given, name, hashes_);
            case access_map::jwt:
                return read_jwt(given, tls_);
            case access_map::oidc:
                return read_oidc(given);
            case access_map::azure_ad:
                return read_azure_ad(given, tls_);
            case access_map::gcp_iap:
                return read_gcp_iap(given, tls_);
            case access_map::mtls:
                return read_mtls(given, tls_);
            case access_map::aws_sigv4:
                return read_aws_sigv4(given);
            case access_map::http_verifier:
                return read_http_verifier(given);
            default:
                return read_static_token(given, name);
        }
    }

    core::static_token_provider read_static_token(const access_members& given, const std::string& name)
    {
        auto id = name;
        if (const auto* f = given.find("principal")) {
            id = read_short_text(*f, "the id of a principal", problems_).value_or("");
        }
        core::static_token_provider provider{{}, given.principal(std::move(id), name)};
        if (!given.require_one("token", "token_file", expected_token)) {
            return provider;
        }
        if (const auto* file = given.find("token_file")) {
            if (const auto text = read_named_file(*file, expected_token_file, secrets_, problems_)) {
                provider.token = read_token(*file, *text);
            }
        } else if (const auto* text = read_text(*given.find("token"), expected_token, problems_)) {
            provider.token = read_token(*given.find("token"), *text);
        }
        return provider;
    }

    core::secret read_token(const field& f, const std::string& text)
    {
        auto token = checked_token(f, text, problems_);
        if (!token.empty() && !tokens_.insert(text).second) {
            problems_.add(f.at, f.path, "is the token of another provider; expected a token of its own");
        }
        return token;
    }

    const secret_reader& secrets_;
    const tls_checks& tls_;
    problem_list& problems_;
    std::set<std::string> names_;
    std::set<std::string> tokens_;
    std::set<std::string> hashes_;
};

void show_static_token(const core::static_token_provider& provider, json& shown)
{
    shown["principal"] = provider.bearer.id;
    shown["token"] = core::masked;
    show_principal(provider.bearer, shown);
}

access_map map_of(const core::provider_settings& type)
{
    return std::visit(
        overloaded{
            [](const core::static_token_provider&) { return access_map::static_token; },
            [](const core::api_key_provider&) { return access_map::api_key; },
            [](const core::jwt_provider&) { return access_map::jwt; },
            [](const core::oidc_provider&) { return access_map::oidc; },
            [](const core::azure_ad_provider&) { return access_map::azure_ad; },
            [](const core::gcp_iap_provider&) { return access_map::gcp_iap; },
            [](const core::http_verifier_provider&) { return access_map::http_verifier; },
            [](const core::aws_sigv4_provider&) { return access_map::aws_sigv4; },
            [](const core::mtls_provider&) { return access_map::mtls; }
        },
        type
    );
}

}  // namespace

core::secret checked_token(const field& f, const std::string& text, problem_list& problems)
{
    if (text.size() < shortest_static_token) {
        problems.add(f.at, f.path, "is shorter than 16 characters; expected " + std::string{expected_token});
        return {};
    }
    if (text.size() > longest_static_token) {
        problems.add(f.at, f.path, "is longer than 8KiB, which no request may have; expected a shorter token");
        return {};
    }
    return bearer_of(f, text, problems);
}

std::vector<core::access_provider>
read_providers(const field& f, const secret_reader& secrets, const tls_checks& tls, problem_list& problems)
{
    std::vector<core::access_provider> providers;
    const auto list = read_list(f, "a list of providers", problems);
    if (list.size() > most_providers) {
        problems.add(f.at, f.path, "has more than " + std::to_string(most_providers) + " providers");
        return providers;
    }
    provider_list_reader reader{secrets, tls, problems};
    for (const auto& each : list) {
        auto provider = reader.read(each);
        if (!provider) {
            continue;
        }
        if (const auto problem = conflict(*provider, providers); !problem.empty()) {
            problems.add(each.at, each.path, problem);
        }
        providers.push_back(std::move(*provider));
    }
    return providers;
}

json shown_provider(const core::access_provider& provider)
{
    const auto* const row = std::ranges::find(provider_types, map_of(provider.type), &provider_type::map);
    json shown{{"type", row->name}, {"name", provider.name}};
    std::visit(
        overloaded{
            [&](const core::static_token_provider& type) { show_static_token(type, shown); },
            [&](const core::api_key_provider& type) { show_api_keys(type, shown); },
            [&](const core::http_verifier_provider& type) { show_check(type, shown); },
            [&](const core::aws_sigv4_provider& type) { show_check(type, shown); },
            [&](const core::mtls_provider& type) { show_check(type, shown); },
            [&](const auto& type) { show_tokens(type, shown); }
        },
        provider.type
    );
    return shown;
}

}  // namespace config
