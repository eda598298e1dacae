#include "config/access_api_keys.hpp"

#include "config/access_values.hpp"
#include "config/agent_parts.hpp"
#include "core/ascii.hpp"
#include "core/scrypt_hash.hpp"
#include "core/secret.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace config {
namespace {

using core::credential_place;
using core::json;

constexpr std::string_view expected_header = "the name of a header field of its own, such as X-API-Key";
constexpr std::string_view expected_cookie = "the name of a cookie";
constexpr std::string_view expected_parameter = "letters, digits, '.', '_', '-' and '~'";
constexpr std::string_view expected_id = "the id of the key's principal";
constexpr std::string_view expected_hash = "64 hexadecimal digits, the SHA-256 of the key";
constexpr std::string_view expected_scrypt =
    "$scrypt$ln=15,r=8,p=1$SALT$HASH in base64 without padding, with 16MiB to 64MiB of memory (128 N r)";
constexpr auto most_scrypt_count = static_cast<std::ptrdiff_t>(most_scrypt_keys);
constexpr std::string_view expected_time = "a date such as 2027-01-01, or a time in UTC such as 2027-01-01T12:00:00Z";

core::error invalid(std::string predicate)
{
    return core::gateway_error(core::errc::config_invalid, std::move(predicate));
}

// In lower case: header fields that clients and proxies send for other reasons.
constexpr auto taken_headers = std::to_array<std::string_view>(
    {"a2a-extensions",
     "a2a-version",
     "accept",
     "accept-charset",
     "accept-encoding",
     "accept-language",
     "authorization",
     "cache-control",
     "content-encoding",
     "content-language",
     "content-location",
     "content-type",
     "cookie",
     "date",
     "expect",
     "forwarded",
     "from",
     "if-match",
     "if-modified-since",
     "if-none-match",
     "if-range",
     "if-unmodified-since",
     "last-event-id",
     "max-forwards",
     "mcp-protocol-version",
     "mcp-session-id",
     "origin",
     "pragma",
     "proxy-authenticate",
     "proxy-authorization",
     "range",
     "referer",
     "set-cookie",
     "traceparent",
     "tracestate",
     "user-agent",
     "via",
     "www-authenticate",
     "x-forwarded-for",
     "x-forwarded-host",
     "x-forwarded-proto",
     "x-goog-iap-jwt-assertion"}
);

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

core::result<std::string> parse_hash(std::string_view text)
{
    constexpr std::size_t digits = 64;
    auto hash = core::in_lower_case(text);
    if (hash.size() != digits || hash.find_first_not_of(core::hex_digits) != std::string::npos) {
        return invalid(text.empty() ? "is empty" : "is not a SHA-256");
    }
    return hash;
}

core::result<std::string> parse_scrypt(std::string_view text)
{
    if (!core::parse_scrypt_hash(text)) {
        return invalid(text.empty() ? "is empty" : "is not a scrypt hash that can be checked");
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
    key_list_reader(const std::string& provider, std::set<std::string>& hashes, problem_list& problems)
        : provider_{provider},
          hashes_{hashes},
          problems_{problems}
    {
    }

    std::vector<core::api_key> read(const field& list)
    {
        std::vector<core::api_key> keys;
        const auto fields = read_list(list, "a list of keys", problems_);
        if (fields.size() > most_keys) {
            problems_.add(list.at, list.path, "has more than " + std::to_string(most_keys) + " keys");
            return keys;
        }
        for (const auto& each : fields) {
            if (const auto* map = read_given_map(each, "a map with name and sha256", problems_)) {
                keys.push_back(read_key({each, *map, access_map::key, problems_}));
            }
        }
        return keys;
    }

private:
    core::api_key read_key(const access_members& given)
    {
        core::api_key key;
        const auto* name = given.require("name", expected_id);
        auto id = name == nullptr ? std::nullopt : read_short_text(*name, expected_id, problems_);
        if (id && !names_.insert(*id).second) {
            refuse(*name, "is the name of another key", "a name of its own", problems_);
        }
        key.owner = given.principal(id.value_or(""), provider_);
        if (given.require_one("sha256", "scrypt", expected_hash)) {
            if (const auto* hash = given.find("sha256")) {
                key.sha256 = read_hash(*hash, expected_hash, parse_hash);
            } else {
                key.scrypt = read_hash(*given.find("scrypt"), expected_scrypt, parse_scrypt);
            }
        }
        if (const auto* expires = given.find("expires")) {
            key.expires = read_parsed(*expires, expected_time, parse_time, problems_);
        }
        if (const auto* disabled = given.find("disabled")) {
            key.disabled = read_switch(*disabled, problems_).value_or(false);
        }
        return key;
    }

    std::string read_hash(field f, std::string_view expected, core::result<std::string> (*parse)(std::string_view))
    {
        f.secret = true;  // it may be the key itself
        auto hash = read_parsed(f, expected, parse, problems_);
        if (hash && !hashes_.insert(*hash).second) {
            problems_.add(f.at, f.path, "is the hash of another key; expected a key of its own");
        }
        const auto is_scrypt = [](const std::string& each) { return each.starts_with('$'); };
        if (hash && is_scrypt(*hash) && std::ranges::count_if(hashes_, is_scrypt) > most_scrypt_count) {
            problems_.add(f.at, f.path, "is one key with scrypt too many; expected at most 16");
        }
        return hash.value_or("");
    }

    const std::string& provider_;
    std::set<std::string>& hashes_;
    problem_list& problems_;
    std::set<std::string> names_;
};

// The one of `header`, `cookie` and `in` that is given. Null: none is, or two are, which is reported.
const field* find_place(const access_members& given)
{
    const field* found = nullptr;
    for (const auto* key : {"header", "cookie", "in"}) {
        const auto* f = given.find(key);
        if (f != nullptr && found != nullptr) {
            given.problems().add(f->at, f->path, "stands beside " + found->path + "; expected one of the two");
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
        problems.add(parameter->at, parameter->path, "stands without `in: query`; expected both");
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

json shown_api_key(const core::api_key& key)
{
    json shown{{"name", key.owner.id}, {key.scrypt.empty() ? "sha256" : "scrypt", core::masked}};
    show_principal(key.owner, shown);
    if (key.expires) {
        shown["expires"] = time_text(*key.expires);
    }
    if (key.disabled) {
        shown["disabled"] = true;
    }
    return shown;
}

}  // namespace

core::api_key_provider
read_api_keys(const access_members& given, const std::string& provider, std::set<std::string>& hashes)
{
    core::api_key_provider read;
    read_place(given, read);
    if (const auto* list = given.require("keys", "a list of keys")) {
        read.keys = key_list_reader{provider, hashes, given.problems()}.read(*list);
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
        keys.push_back(shown_api_key(each));
    }
    shown["keys"] = std::move(keys);
}

}  // namespace config
