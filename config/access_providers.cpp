#include "config/access_providers.hpp"

#include "config/access_kinds.hpp"
#include "config/access_table.hpp"
#include "config/access_tokens.hpp"
#include "config/access_values.hpp"
#include "config/agent_parts.hpp"
#include "config/problem.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
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

template <class Type>
bool is(const core::access_provider& provider)
{
    return std::holds_alternative<Type>(provider.type);
}

bool reads_bearers(const core::access_provider& provider)
{
    return !is<core::api_key_provider>(provider) && !is<core::gcp_iap_provider>(provider) &&
           !is<core::mtls_provider>(provider);
}

bool share_element(const std::vector<std::string>& some, const std::vector<std::string>& others)
{
    return std::ranges::any_of(some, [&](const auto& each) { return std::ranges::find(others, each) != others.end(); });
}

bool accept_the_same(const core::access_provider& one, const core::access_provider& other)
{
    return share_element(issuers_of(one), issuers_of(other)) &&
           (share_element(audiences_of(one), audiences_of(other)) || share_element(clients_of(one), clients_of(other)));
}

// Why `provider` cannot stand after the ones before it: one of them would never be asked. Empty: it can.
std::string conflict(const core::access_provider& provider, std::span<const core::access_provider> before)
{
    for (const auto& each : before) {
        if (is<core::http_verifier_provider>(each) && reads_bearers(provider)) {
            return "is behind \"" + each.name + "\", which decides on every bearer token; expected it in front of that";
        }
        const bool second = (is<core::mtls_provider>(each) && is<core::mtls_provider>(provider)) ||
                            (is<core::aws_sigv4_provider>(each) && is<core::aws_sigv4_provider>(provider));
        if (second) {
            return "is of the same type as \"" + each.name + "\"; expected one provider of this type";
        }
        if (accept_the_same(each, provider)) {
            return "accepts tokens of the same issuer for the same audience or client as \"" + each.name +
                   "\"; expected one provider for these";
        }
    }
    return {};
}

template <std::size_t... Types>
core::provider_settings empty_settings(std::size_t type, std::index_sequence<Types...> /*all*/)
{
    core::provider_settings made;
    ((Types == type ? static_cast<void>(made.emplace<Types>()) : void()), ...);
    return made;
}

// Tokens name their audience in `aud`, or, with some issuers, only the client that got them. Any other token of the issuer would
// be accepted without either.
template <class Provider>
void finish_tokens(const access_members& given, Provider& provider)
{
    if (given.find("algorithms") == nullptr) {
        provider.algorithms = {"RS256", "ES256"};
    }
    if (given.find("audience") == nullptr && given.find("client_id") == nullptr) {
        given.require("audience", "the `aud` of its tokens, or `client_id` for tokens that have none");
    }
}

class provider_list_reader {
public:
    explicit provider_list_reader(const reading& with)
        : with_{with}
    {
    }

    std::optional<core::access_provider> read(const field& f)
    {
        const auto* map = read_given_map(f, expected_provider, with_.problems);
        const auto* type = map == nullptr ? nullptr : read_type(*map, f);
        if (type == nullptr) {
            return {};
        }
        const access_members given{f, *map, type->map, with_};
        core::access_provider provider;
        provider.name = read_name(given);
        const auto index = static_cast<std::size_t>(type - provider_types.data());
        provider.type = empty_settings(index, std::make_index_sequence<provider_types.size()>{});
        std::visit(
            [&](auto& settings) {
                given.read(settings);
                finish(given, provider.name, settings);
            },
            provider.type
        );
        return provider;
    }

private:
    // The type decides which other keys there are.
    const provider_type* read_type(const node& map, const field& f)
    {
        const auto found = std::ranges::find(map.keys, "type", &node::name::text);
        if (found == map.keys.end()) {
            with_.problems.add(f.at, join(f.path, "type"), "is missing; expected " + expected_types());
            return nullptr;
        }
        const auto type = member(map, static_cast<std::size_t>(found - map.keys.begin()), f.path);
        return read_parsed(type, expected_types(), parse_type, with_.problems).value_or(nullptr);
    }

    std::string read_name(const access_members& given)
    {
        const auto* f = given.require("name", expected_name);
        auto name = f == nullptr ? std::nullopt : read_parsed(*f, expected_name, parse_name, with_.problems);
        if (name == core::registration_owner) {
            refuse(*f, "is the name that `register.token` has", "a name of its own", with_.problems);
        } else if (name && !names_.insert(*name).second) {
            refuse(*f, "is the name of another provider", "a name of its own", with_.problems);
        }
        return name.value_or("");
    }

    // Most types have nothing beside the table.
    static void finish(const access_members& /*given*/, const std::string& /*name*/, auto& /*provider*/) {}

    void finish(const access_members& given, const std::string& name, core::api_key_provider& provider)
    {
        provider = read_api_keys(given, name, hashes_);
    }

    static void finish(const access_members& given, const std::string& /*name*/, core::oidc_provider& provider)
    {
        finish_tokens(given, provider);
    }

    static void finish(const access_members& given, const std::string& /*name*/, core::jwt_provider& provider)
    {
        finish_tokens(given, provider);
        given.require_one("jwks_url", "jwks_file", expected_secure_url);
    }

    void finish(const access_members& given, const std::string& name, core::static_token_provider& provider)
    {
        provider.bearer.provider = name;
        if (given.find("principal") == nullptr) {
            provider.bearer.id = name;
        }
        if (!given.require_one("token", "token_file", expected_token)) {
            return;
        }
        if (const auto* file = given.find("token_file")) {
            if (const auto text = read_named_file(*file, expected_token_file, with_.secrets, with_.problems)) {
                provider.token = read_token(*file, *text);
            }
        } else if (const auto* text = read_text(*given.find("token"), expected_token, with_.problems)) {
            provider.token = read_token(*given.find("token"), *text);
        }
    }

    core::secret read_token(const field& f, const std::string& text)
    {
        auto token = checked_token(f, text, with_.problems);
        if (!token.empty() && !tokens_.insert(text).second) {
            with_.problems.add(f, "is the token of another provider; expected a token of its own");
        }
        return token;
    }

    const reading& with_;
    std::set<std::string> names_;
    std::set<std::string> tokens_;
    std::set<std::string> hashes_;
};

using core::credential_place;
using core::json;

constexpr std::string_view expected_header = "the name of a header field of its own, such as X-API-Key";
constexpr std::string_view expected_cookie = "the name of a cookie";
constexpr std::string_view expected_parameter = "letters, digits, '.', '_', '-' and '~'";

// Header fields that clients and proxies send for other reasons, in lower case.
// clang-format off
constexpr auto taken_headers = std::to_array<std::string_view>({
    "a2a-extensions", "a2a-version", "accept", "accept-charset", "accept-encoding", "accept-language",
    "authorization", "cache-control", "content-encoding", "content-language", "content-location", "content-type",
    "cookie", "date", "expect", "forwarded", "from", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "last-event-id", "max-forwards", "mcp-protocol-version", "mcp-session-id", "origin",
    "pragma", "proxy-authenticate", "proxy-authorization", "range", "referer", "set-cookie", "traceparent",
    "tracestate", "user-agent", "via", "www-authenticate", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-proto", "x-goog-iap-jwt-assertion"
});
// clang-format on

core::result<std::string> parse_header(std::string_view text)
{
    if (!core::is_token(text)) {
        return invalid(text.empty() ? "is empty" : "is not the name of a header field");
    }
    if (routes_message(text) || std::ranges::find(taken_headers, core::in_lower_case(text)) != taken_headers.end()) {
        return invalid("is a header field with another meaning");
    }
    return std::string{text};
}

core::result<std::string> parse_cookie(std::string_view text)
{
    if (!core::is_token(text)) {
        return invalid(text.empty() ? "is empty" : "is not the name of a cookie");
    }
    return std::string{text};
}

// Only bytes that every client writes in the same way (RFC 3986 section 2.3).
core::result<std::string> parse_parameter(std::string_view text)
{
    const auto is_unreserved = [](char c) {
        return core::is_letter(c) || core::is_digit(c) || c == '.' || c == '_' || c == '-' || c == '~';
    };
    if (text.empty() || !std::ranges::all_of(text, is_unreserved)) {
        return invalid(text.empty() ? "is empty" : "is not the name of a parameter");
    }
    return std::string{text};
}

core::result<std::string> parse_query_word(std::string_view text)
{
    if (text != "query") {
        return invalid(text.empty() ? "is empty" : "is not a place for keys");
    }
    return std::string{text};
}

class key_list_reader {
public:
    key_list_reader(const std::string& provider, std::set<std::string>& hashes, const reading& with)
        : provider_{provider},
          hashes_{hashes},
          with_{with}
    {
    }

    std::vector<core::api_key> read(const field& list)
    {
        std::vector<core::api_key> keys;
        const auto fields = read_list(list, "a list of keys", with_.problems);
        if (fields.size() > most_keys) {
            with_.problems.add(list, "has more than " + std::to_string(most_keys) + " keys");
            return keys;
        }
        for (const auto& each : fields) {
            const auto* map = read_given_map(each, "a map with name and sha256", with_.problems);
            if (map != nullptr && !names_scrypt(each, *map)) {
                keys.push_back(read_key({each, *map, access_map::key, with_}));
            }
        }
        return keys;
    }

private:
    core::api_key read_key(const access_members& given)
    {
        core::api_key key;
        key.owner.provider = provider_;
        given.read(key);
        if (!key.owner.id.empty() && !names_.insert(key.owner.id).second) {
            refuse(*given.find("name"), "is the name of another key", "a name of its own", with_.problems);
        }
        if (const auto* hash = given.find("sha256")) {
            check_hash(*hash, key.sha256);
        }
        return key;
    }

    // Earlier versions had keys that could be guessed.
    bool names_scrypt(const field& each, const node& map) const
    {
        const auto found = std::ranges::find_if(map.keys, [](const auto& key) { return key.text == "scrypt"; });
        if (found != map.keys.end()) {
            constexpr auto* advice = "is not a known key; `cardea key new` makes a key that needs only `sha256`";
            with_.problems.add(found->at, each.path + ".scrypt", advice);
        }
        return found != map.keys.end();
    }

    void check_hash(const field& f, const std::string& hash)
    {
        if (!hash.empty() && !hashes_.insert(hash).second) {
            with_.problems.add(f, "is the hash of another key; expected a key of its own");
        }
    }

    const std::string& provider_;
    std::set<std::string>& hashes_;
    const reading& with_;
    std::set<std::string> names_;
};

// Finds `header`, `cookie` or `in`. Null: none is given, or two are, which is reported.
const field* find_place(const access_members& given)
{
    const field* found = nullptr;
    for (const auto* key : {"header", "cookie", "in"}) {
        const auto* f = given.find(key);
        if (f != nullptr && found != nullptr) {
            given.problems().add(*f, "stands beside " + found->path + "; expected one of the two");
            return nullptr;
        }
        found = f != nullptr ? f : found;
    }
    return found;
}

void read_place(const access_members& given, core::api_key_provider& into)
{
    auto& problems = given.problems();
    const auto* place = find_place(given);
    const auto* parameter = given.find("parameter");
    if (parameter != nullptr && given.find("in") == nullptr) {
        problems.add(*parameter, "stands without `in: query`; expected both");
    }
    if (place == nullptr) {
        return;
    }
    if (place == given.find("header")) {
        into.field = read_parsed(*place, expected_header, parse_header, problems).value_or("");
    } else if (place == given.find("cookie")) {
        into.place = credential_place::cookie;
        into.field = read_parsed(*place, expected_cookie, parse_cookie, problems).value_or("");
    } else if (read_parsed(*place, "query, or the key `header` or `cookie`", parse_query_word, problems)) {
        into.place = credential_place::query;
        parameter = given.require("parameter", "the name of a query parameter");
        into.field = parameter == nullptr
                         ? std::string{}
                         : read_parsed(*parameter, expected_parameter, parse_parameter, problems).value_or("");
    }
}

}  // namespace

core::secret checked_token(const field& f, const std::string& text, problem_list& problems)
{
    if (text.size() < shortest_static_token) {
        problems.add(f, "is shorter than 16 characters; expected " + std::string{expected_token});
        return {};
    }
    if (text.size() > longest_static_token) {
        problems.add(f, "is longer than 8KiB, which no request may have; expected a shorter token");
        return {};
    }
    return bearer_of(f, text, problems);
}

std::vector<core::access_provider> read_providers(const field& f, const reading& with)
{
    auto& problems = with.problems;
    std::vector<core::access_provider> providers;
    const auto list = read_list(f, "a list of providers", problems);
    if (list.size() > most_providers) {
        problems.add(f, "has more than " + std::to_string(most_providers) + " providers");
        return providers;
    }
    provider_list_reader reader{with};
    for (const auto& each : list) {
        auto provider = reader.read(each);
        if (!provider) {
            continue;
        }
        if (const auto problem = conflict(*provider, providers); !problem.empty()) {
            problems.add(each, problem);
        }
        providers.push_back(std::move(*provider));
    }
    return providers;
}

json shown_provider(const core::access_provider& provider)
{
    const auto& type = provider_types[provider.type.index()];
    json shown{{"type", type.name}, {"name", provider.name}};
    if (const auto* keys = std::get_if<core::api_key_provider>(&provider.type)) {
        show_api_keys(*keys, shown);
    } else {
        std::visit([&](const auto& settings) { show_members(type.map, settings, shown); }, provider.type);
    }
    return shown;
}

core::api_key_provider
read_api_keys(const access_members& given, const std::string& provider, std::set<std::string>& hashes)
{
    core::api_key_provider read;
    read_place(given, read);
    if (const auto* list = given.require("keys", "a list of keys")) {
        read.keys = key_list_reader{provider, hashes, given.with()}.read(*list);
    }
    return read;
}

void show_api_keys(const core::api_key_provider& provider, json& shown)
{
    if (provider.place == credential_place::query) {
        shown["in"] = "query";
        shown["parameter"] = provider.field;
    } else {
        shown[provider.place == credential_place::header ? "header" : "cookie"] = provider.field;
    }
    auto keys = json::array();
    for (const auto& each : provider.keys) {
        show_members(access_map::key, each, keys.emplace_back(json::object()));
    }
    shown["keys"] = std::move(keys);
}

}  // namespace config
