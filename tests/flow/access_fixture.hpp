// A gateway whose agents have different policies, and the credentials of its callers.
#pragma once

#include "jose/digest.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow {

using test_support::field_list;
using test_support::http_response;
using test_support::request;

inline constexpr std::string_view words_card =
    R"({"name":"Words","description":"d","version":"1","url":"http://127.0.0.1:9/",)"
    R"("protocolVersion":"0.3.0","supportsAuthenticatedExtendedCard":true,"capabilities":{},"defaultInputModes":["text"],)"
    R"("defaultOutputModes":["text"],"skills":[]})";

inline core::principal
known_as(const std::string& id, const std::string& provider, std::vector<std::string> scopes = {})
{
    return {.id = id, .provider = provider, .tenant = {}, .scopes = std::move(scopes), .groups = {}, .claims = {}};
}

inline core::access_provider token(const std::string& id, const std::string& text, std::vector<std::string> scopes)
{
    return {id, core::static_token_provider{core::secret{text}, known_as(id, id, std::move(scopes))}};
}

inline core::access_policy only(core::access_rule rule)
{
    return {.anyone = false, .any_of = {std::move(rule)}};
}

inline const core::access_policy anyone{.anyone = true, .any_of = {}};
inline const core::access_policy everybody_known = only({});

inline core::agent
agent(const std::string& id, const std::string& url, core::access_policy discover, core::access_policy call)
{
    auto out = a2a_agent(id, url);
    out.card = words_card;
    out.discover = std::move(discover);
    out.call = std::move(call);
    return out;
}

// `open` is for anyone, `seen` is known to all and called by ci, `sends` takes one method from ci, `secret` is ci's alone.
inline config::settings guarded(const std::string& url)
{
    auto settings = quick_settings();
    settings.limits.failed_credentials = 100'000;
    settings.access.providers = {
        token("operator", "operator-token-0123456789", {core::scope_read, core::scope_write}),
        token("reader", "reader-token-0123456789", {core::scope_read}),
        token("mallory", "mallory-token-0123456789", {}),
        {"keys",
         core::api_key_provider{
             .keys =
                 {{.sha256 = jose::sha256_hex("key-of-ci"),
                   .expires = {},
                   .disabled = false,
                   .owner = known_as("ci", "keys")},
                  {.sha256 = jose::sha256_hex("key-of-old"),
                   .expires = core::wall_time{},
                   .disabled = false,
                   .owner = known_as("old", "keys")}}
         }},
    };
    const auto ci = only({.principals = {"ci"}});
    settings.agents = {
        agent("open", url, anyone, anyone),
        agent("seen", url, everybody_known, ci),
        agent("sends", url, ci, only({.principals = {"ci"}, .methods = {"message/send"}})),
        agent("secret", url, ci, ci),
    };
    for (auto& each : settings.agents) {
        each.relay_paths = {"/files/*"};
    }
    settings.agents.push_back(a2a_agent("denied", url));
    return settings;
}

inline test_support::script answer_of_agent(const test_support::recorded_request& asked)
{
    if (asked.method != "POST") {
        return test_support::answer_json(std::string{words_card});
    }
    const bool card = asked.body.find("xtendedCard") != std::string::npos;
    return test_support::answer_json(
        R"({"jsonrpc":"2.0","id":1,"result":)" + (card ? std::string{words_card} : "{}") + "}"
    );
}

struct guarded_gateway {
    test_support::scripted_agent agent{answer_of_agent};
    running_gateway gateway{guarded(agent.url("/rpc"))};
};

inline field_list bearer(std::string_view text)
{
    return {{"Authorization", "Bearer " + std::string{text}}};
}

inline const field_list nobody{};
inline const field_list ci{{"X-API-Key", "key-of-ci"}};
inline const field_list expired{{"X-API-Key", "key-of-old"}};
inline const field_list mallory = bearer("mallory-token-0123456789");
inline const field_list reader = bearer("reader-token-0123456789");
inline const field_list operators = bearer("operator-token-0123456789");
inline const field_list unknown = bearer("unknown-token-0123456789");

inline http_response
call(std::uint16_t port, std::string_view id, field_list headers, std::string_view method = "message/send")
{
    headers.emplace_back("Content-Type", "application/json");
    return request(
        port,
        "POST",
        "/agents/" + std::string{id},
        headers,
        R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":{}})"
    );
}

inline http_response rpc(std::uint16_t port, field_list headers, std::string_view method, std::string_view params)
{
    headers.emplace_back("Content-Type", "application/json");
    return request(
        port,
        "POST",
        "/rpc",
        headers,
        R"({"jsonrpc":"2.0","id":1,"method":")" + std::string{method} + R"(","params":)" + std::string{params} + "}"
    );
}

}  // namespace flow
