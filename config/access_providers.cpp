#include "config/access_providers.hpp"

#include "config/access_api_keys.hpp"
#include "config/access_members.hpp"
#include "config/access_table.hpp"
#include "config/access_values.hpp"
#include "config/agent_parts.hpp"
#include "config/schema.hpp"
#include "config/signatures.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"

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
constexpr std::string_view expected_token = "a token of at least 16 characters";
constexpr std::string_view expected_token_file = "the path of a file with a token";
constexpr std::string_view expected_issuer = "the `iss` of its tokens";
constexpr std::string_view expected_key_set_url = "an https URL, or an http URL of a loopback host";

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

std::string expected_algorithms()
{
    std::string text;
    for (const auto each : token_algorithms) {
        text += (text.empty() ? "" : ", ") + std::string{each};
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
    const bool later = std::ranges::find(later_provider_types, text) != later_provider_types.end();
    return invalid(text.empty() ? "is empty" : later ? "is not available yet" : "is not a type of providers");
}

core::result<std::string> parse_algorithm(std::string_view text)
{
    if (std::ranges::find(token_algorithms, text) == token_algorithms.end()) {
        return invalid(text.empty() ? "is empty" : "is not an algorithm with a public key");
    }
    return std::string{text};
}

core::jwt_provider read_jwt(const access_members& given, const tls_checks& tls)
{
    auto& problems = given.problems();
    core::jwt_provider provider;
    if (const auto* f = given.require("issuer", expected_issuer)) {
        provider.issuer = read_short_text(*f, expected_issuer, problems).value_or("");
    }
    if (const auto* f = given.require("audience", "the `aud` of its tokens")) {
        provider.audiences = read_texts(*f, emptiness::refused, problems);
    }
    provider.algorithms = {"RS256", "ES256"};
    if (const auto* f = given.find("algorithms")) {
        const auto expected = expected_algorithms();
        provider.algorithms.clear();
        for (const auto& element : read_elements(*f, expected, emptiness::refused, problems)) {
            if (auto name = read_parsed(element, expected, parse_algorithm, problems)) {
                provider.algorithms.push_back(std::move(*name));
            }
        }
    }
    if (const auto* f = given.find("leeway")) {
        provider.leeway = read_duration(*f, 0s, 5min, problems).value_or(provider.leeway);
    }
    if (!given.require_one("jwks_url", "jwks_file", expected_key_set_url)) {
        return provider;
    }
    if (const auto* file = given.find("jwks_file")) {
        provider.key_set_file = read_checked_file(*file, file_kind::key_set, tls, problems);
    } else {
        auto url = *given.find("jwks_url");
        url.secret = true;  // its query may be one
        provider.key_set_url = read_parsed(url, expected_key_set_url, parse_key_set_url, problems).value_or("");
    }
    return provider;
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
        if (type->map == access_map::static_token) {
            provider.type = read_static_token(given, provider.name);
        } else if (type->map == access_map::api_key) {
            provider.type = read_api_keys(given, provider.name, hashes_);
        } else {
            provider.type = read_jwt(given, tls_);
        }
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
        if (name && !names_.insert(*name).second) {
            refuse(*f, "is the name of another provider", "a name of its own", problems_);
        }
        return name.value_or("");
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
        if (text.size() < shortest_static_token) {
            problems_.add(f.at, f.path, "is shorter than 16 characters; expected " + std::string{expected_token});
            return {};
        }
        auto token = bearer_of(f, text, problems_);
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

json shown_type(const core::static_token_provider& provider, json shown)
{
    shown["principal"] = provider.bearer.id;
    shown["token"] = core::masked;
    show_principal(provider.bearer, shown);
    return shown;
}

json shown_type(const core::api_key_provider& provider, json shown)
{
    show_api_keys(provider, shown);
    return shown;
}

json shown_type(const core::jwt_provider& provider, json shown)
{
    shown["issuer"] = provider.issuer;
    shown["audience"] = provider.audiences;
    shown["algorithms"] = provider.algorithms;
    if (provider.key_set_url.empty()) {
        shown["jwks_file"] = provider.key_set_file;
    } else {
        shown["jwks_url"] = shown_url(provider.key_set_url);
    }
    shown["leeway"] = to_text(provider.leeway);
    return shown;
}

}  // namespace

core::result<std::string> parse_key_set_url(std::string_view text)
{
    auto url = parse_http_url(text, query::allowed);
    const auto parts = url ? core::http_url::parse(*url) : std::nullopt;
    if (parts && !parts->secure && !is_loopback({parts->host, 0})) {
        return invalid("is not safe from changes on its way");
    }
    return url;
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
        if (auto provider = reader.read(each)) {
            providers.push_back(std::move(*provider));
        }
    }
    return providers;
}

json shown_provider(const core::access_provider& provider)
{
    const auto type = std::visit(
        overloaded{
            [](const core::static_token_provider&) { return access_map::static_token; },
            [](const core::api_key_provider&) { return access_map::api_key; },
            [](const core::jwt_provider&) { return access_map::jwt; }
        },
        provider.type
    );
    const auto* const row = std::ranges::find(provider_types, type, &provider_type::map);
    return std::visit(
        [&](const auto& each) { return shown_type(each, json{{"type", row->name}, {"name", provider.name}}); },
        provider.type
    );
}

}  // namespace config
