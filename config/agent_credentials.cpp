#include "config/agent_credentials.hpp"

#include "config/access_providers.hpp"
#include "config/access_table.hpp"
#include "config/access_values.hpp"
#include "config/agent_parts.hpp"
#include "config/schema.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace config {
namespace {

using core::json;
using core::secret;

constexpr std::string_view expected_kinds = "one of bearer, bearer_file, basic, api_key and oauth2";
constexpr std::string_view expected_callers = "drop, passthrough, or a list of header names such as [Authorization]";

bool is_cookie_value(std::string_view text)
{
    // RFC 6265 section 4.1.1.
    return std::ranges::all_of(text, [](char c) {
        return c > 0x20 && c < 0x7F && c != '"' && c != ',' && c != ';' && c != '\\';
    });
}

std::string lower(std::string_view text)
{
    return core::in_lower_case(text);
}

class credentials_reader {
public:
    explicit credentials_reader(const reading& with)
        : with_{with},
          problems_{with.problems}
    {
    }

    core::agent_credentials read(const field& f)
    {
        const auto* map = read_given_map(f, expected_kinds, problems_);
        if (map == nullptr) {
            return {};
        }
        const access_members given{f, *map, access_map::credentials, with_};
        if (map->keys.size() != 1) {
            const auto* const predicate = map->keys.empty() ? "is empty" : "has several kinds of credentials";
            problems_.add(f, std::string{predicate} + "; expected " + std::string{expected_kinds});
            return {};
        }
        if (given.find("bearer") != nullptr || given.find("bearer_file") != nullptr) {
            const auto text = read_secret(given, "bearer", "a token");
            return text ? core::agent_credentials{bearer_of(text->from, text->value, problems_)}
                        : core::agent_credentials{};
        }
        if (const auto* basic = given.find("basic")) {
            return read_basic(*basic);
        }
        if (const auto* key = given.find("api_key")) {
            return read_key(*key);
        }
        const auto* oauth = given.find("oauth2");
        return oauth == nullptr ? core::agent_credentials{} : read_oauth(*oauth);
    }

private:
    struct secret_text {
        field from;
        std::string value;
    };

    // The value of the key, or the content of the file that `<name>_file` names.
    std::optional<secret_text>
    read_secret(const access_members& given, const std::string& name, std::string_view expected)
    {
        const auto file_name = name + "_file";
        if (!given.require_one(name, file_name, expected)) {
            return {};
        }
        const auto* file = given.find(file_name);
        auto f = file != nullptr ? *file : *given.find(name);
        std::optional<std::string> text;
        if (file != nullptr) {
            text = read_named_file(f, "the path of a file with " + std::string{expected}, with_.secrets, problems_);
        } else if (const auto* own = read_text(f, expected, problems_)) {
            text = *own;
        }
        f.secret = true;
        if (!text) {
            return {};
        }
        if (const auto wrong = wrong_header_value(*text); !wrong.empty()) {
            problems_.add(f, std::string{wrong} + "; expected " + std::string{expected});
            return {};
        }
        return secret_text{std::move(f), std::move(*text)};
    }

    core::agent_credentials read_basic(const field& f)
    {
        constexpr std::string_view expected = "a map with username and password";
        const auto* map = read_given_map(f, expected, problems_);
        if (map == nullptr) {
            return {};
        }
        const access_members given{f, *map, access_map::basic, with_};
        core::basic_credentials basic;
        given.read(basic);
        if (auto password = read_secret(given, "password", "a password")) {
            basic.password = secret{std::move(password->value)};
        }
        return basic;
    }

    core::agent_credentials read_key(const field& f)
    {
        constexpr std::string_view expected = "a map with header, query or cookie, and value";
        const auto* map = read_given_map(f, expected, problems_);
        if (map == nullptr) {
            return {};
        }
        const access_members given{f, *map, access_map::agent_key, with_};
        core::key_credential key;
        const auto value = read_secret(given, "value", "a key");
        const auto* place = read_place(given, f, key);
        if (value && place != nullptr && key.place == core::credential_place::cookie &&
            !is_cookie_value(value->value)) {
            problems_.add(value->from, "has a character that no cookie has; expected a key");
        } else if (value) {
            key.value = secret{value->value};
        }
        return key;
    }

    // Null: it is not given once, which is reported.
    const field* read_place(const access_members& given, const field& f, core::key_credential& key)
    {
        using enum core::credential_place;
        constexpr std::string_view expected = "the name of a header field, of a query parameter or of a cookie";
        const std::pair<const char*, core::credential_place> places[] = {
            {"header", header},
            {"query", query},
            {"cookie", cookie}
        };
        const field* found = nullptr;
        for (const auto& [name, place] : places) {
            const auto* each = given.find(name);
            if (each != nullptr && found != nullptr) {
                problems_.add(*each, "stands beside " + found->path + "; expected one of the two");
                return nullptr;
            }
            if (each != nullptr) {
                found = each;
                key.place = place;
            }
        }
        if (found == nullptr) {
            problems_.add(f, "does not say where the key stands; expected header, query or cookie");
            return nullptr;
        }
        key.name = read_short_text(*found, expected, problems_).value_or("");
        if (key.name.empty()) {
            return nullptr;
        }
        if (key.place != query && !core::is_token(key.name)) {
            refuse(*found, "is not a name", expected, problems_);
        } else if (key.place == header &&
                   (is_reserved(key.name, header_use::calls) || is_reserved(key.name, header_use::mcp))) {
            refuse(*found, "is set by the gateway itself", "another header field", problems_);
        }
        return found;
    }

    core::agent_credentials read_oauth(const field& f)
    {
        const auto* map = read_given_map(f, "a map with token_url, client_id and client_secret", problems_);
        if (map == nullptr) {
            return {};
        }
        const access_members given{f, *map, access_map::oauth2, with_};
        core::oauth_client client;
        given.read(client);
        if (auto text = read_secret(given, "client_secret", "a client's secret")) {
            client.client_secret = secret{std::move(text->value)};
        }
        return client;
    }

    const reading& with_;
    problem_list& problems_;
};

bool passes(const core::caller_credentials& passed, std::string_view name)
{
    return passed.all || std::ranges::any_of(passed.names, [&](const std::string& each) {
               return core::equal_ignoring_case(each, name);
           });
}

// An MCP server gets callers' own logins only with messages that are relayed one by one.
void check_logins(const core::agent& agent, const std::string& path, place at, problem_list& problems)
{
    const auto& passed = agent.of_callers;
    if (!agent.mcp || passed == core::caller_credentials{}) {
        return;
    }
    const auto& server = *agent.mcp;
    if (passed.all || passed.names.size() != 1 || !passes(passed, "authorization")) {
        problems.add(at, path + ".caller_credentials", "is of an MCP server; expected [Authorization], or `drop`");
    } else if (server.transport != core::mcp_transport::streamable_http ||
               server.sessions == core::mcp_sessions::shared || server.sessionless == core::mcp_sessionless::shared) {
        constexpr auto why =
            "stands beside a program, the type sse or shared sessions, which get no header fields of callers; "
            "expected a url of streamable HTTP with a session for each caller";
        problems.add(at, path + ".caller_credentials", why);
    }
}

}  // namespace

core::agent_credentials read_credentials(const field& f, const reading& with)
{
    return credentials_reader{with}.read(f);
}

json shown_credentials(const core::agent_credentials& credentials)
{
    return std::visit(
        overloaded{
            [](const std::monostate&) { return json{}; },
            [](const secret&) { return json{{"bearer", core::masked}}; },
            [](const core::basic_credentials& basic) {
                return json{{"basic", {{"username", basic.username}, {"password", core::masked}}}};
            },
            [](const core::key_credential& key) {
                return json{{"api_key", {{core::name(key.place), key.name}, {"value", core::masked}}}};
            },
            [](const core::boxed<core::oauth_client>& client) {
                json shown{{"oauth2", json::object()}};
                show_members(access_map::oauth2, *client, shown["oauth2"]);
                return shown;
            },
        },
        credentials
    );
}

core::caller_credentials read_caller_credentials(const field& f, problem_list& problems)
{
    core::caller_credentials passed;
    if (f.value->is == node::kind::scalar) {
        passed.all = f.value->text == word_passthrough;
        if (!passed.all && f.value->text != word_drop) {
            refuse(f, f.value->text.empty() ? "is empty" : "is not known", expected_callers, problems);
        }
        return passed;
    }
    for (const auto& element : read_elements(f, expected_callers, emptiness::allowed, problems)) {
        auto name = read_short_text(element, "the name of a header field", problems);
        if (!name) {
            continue;
        }
        if (!core::is_token(*name) || is_reserved(*name, header_use::calls)) {
            refuse(element, "is not a header field with a credential", "a name such as Authorization", problems);
        } else {
            passed.names.push_back(std::move(*name));
        }
    }
    return passed;
}

json shown_caller_credentials(const core::caller_credentials& passed)
{
    if (!passed.names.empty()) {
        return passed.names;
    }
    return passed.all ? word_passthrough : word_drop;
}

std::string credential_field(const core::agent& agent)
{
    if (!agent.bearer.empty()) {
        return "authorization";
    }
    return std::visit(
        overloaded{
            [](const std::monostate&) { return std::string{}; },
            [](const core::key_credential& key) {
                return key.place == core::credential_place::header   ? lower(key.name)
                       : key.place == core::credential_place::cookie ? "cookie"
                                                                     : std::string{};
            },
            [](const auto& /*bearer, basic, oauth*/) { return std::string{"authorization"}; },
        },
        agent.credentials
    );
}

void check_credentials(const core::agent& agent, const std::string& path, place at, problem_list& problems)
{
    const auto own = credential_field(agent);
    const auto is_own = [&](const auto& each) { return core::equal_ignoring_case(each.first, own); };
    const bool set = !std::holds_alternative<std::monostate>(agent.credentials);
    const auto where = set ? "credentials" : "bearer";
    // An MCP server may be shown another Authorization than the agent's bearer.
    if (!own.empty() && (set || !agent.mcp) && std::ranges::any_of(agent.headers, is_own)) {
        problems.add(at, path + ".headers", "has the header field of " + path + '.' + where + "; expected it once");
    }
    std::vector<std::string> fields{own};
    for (const auto& [name, value] : agent.headers) {
        fields.push_back(lower(name));
    }
    const auto& passed = agent.of_callers;
    const auto contradiction = std::ranges::find_if(fields, [&](const std::string& each) {
        const bool held_back = each == "authorization" || each == "cookie";
        return !each.empty() && passes(passed, each) && (!passed.all || held_back);
    });
    if (contradiction != fields.end()) {
        problems.add(
            at,
            path + ".caller_credentials",
            "passes the caller's `" + *contradiction +
                "` on, which the agent gets from the gateway; expected one of "
                "the two"
        );
    }
    check_logins(agent, path, at, problems);
    const auto* const client = std::get_if<core::boxed<core::oauth_client>>(&agent.credentials);
    if (agent.mcp && client != nullptr && agent.url.empty()) {
        constexpr auto why = "is sent over HTTP, and this MCP server is a program; expected a server with a url";
        problems.add(at, path + ".credentials.oauth2", why);
    } else if (agent.mcp && client != nullptr && (*client)->grant == core::oauth_grant::token_exchange) {
        constexpr auto why = "is for A2A agents; expected client_credentials, because the session is the gateway's own";
        problems.add(at, path + ".credentials.oauth2.grant", why);
    }
}

}  // namespace config
