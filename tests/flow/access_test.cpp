#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/access");

namespace {

using namespace flow;

std::set<std::string> listed(const http_response& page)
{
    std::set<std::string> ids;
    const auto document = parsed(page.body);
    for (const auto& each : document["agents"]) {
        ids.insert(each["id"].get<std::string>());
    }
    return ids;
}

}  // namespace

TEST_CASE("the keys that cards are verified with are for anyone")
{
    guarded_gateway with;
    for (const auto& headers : {nobody, unknown, mallory}) {
        // This gateway signs nothing.
        CHECK(request(with.gateway.port(), "GET", "/.well-known/jwks.json", headers).status == 404);
    }
}

TEST_CASE("a caller without a credential is told of every provider, and one with a bad token that it is bad")
{
    guarded_gateway with;
    const auto none = call(with.gateway.port(), "seen", nobody);
    CHECK(none.status == 401);
    CHECK(none.count("WWW-Authenticate") == 4);
    CHECK(none.header("WWW-Authenticate") == "Bearer realm=\"operator\"");
    CHECK(none.header("Cardea-Error") == "unauthenticated");
    CHECK(none.header("Cache-Control") == "no-store");
    CHECK(
        call(with.gateway.port(), "seen", unknown).header("WWW-Authenticate") ==
        "Bearer realm=\"operator\", error=\"invalid_token\""
    );
    const auto stranger = call(with.gateway.port(), "seen", mallory);
    CHECK(stranger.status == 403);
    CHECK(stranger.header("Cardea-Error") == "forbidden");
    CHECK(stranger.count("WWW-Authenticate") == 0);
}

TEST_CASE("a rule for methods lets these calls through and no others")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    CHECK(call(port, "sends", ci, "message/send").status == 200);
    for (const auto* method :
         {"message/stream", "tasks/get", "Message/send", "message/send ", "message\\/send2", "other"}) {
        CAPTURE(method);
        const auto refused = call(port, "sends", ci, method);
        CHECK(refused.status == 403);
        CHECK(parsed(refused.body)["error"]["data"]["code"] == "forbidden");
        CHECK(parsed(refused.body)["id"] == 1);
    }
    // The same text, written in another way: it is the same method.
    CHECK(call(port, "sends", ci, "message\\/send").status == 200);
    CHECK(call(port, "sends", ci, "\\u006dessage/send").status == 200);
}

TEST_CASE("a call whose method stands twice is not a call, so that no rule is passed by")
{
    guarded_gateway with;
    auto headers = ci;
    headers.emplace_back("Content-Type", "application/json");
    const auto twice = request(
        with.gateway.port(),
        "POST",
        "/agents/sends",
        headers,
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{},"method":"tasks/cancel"})"
    );
    CHECK(parsed(twice.body)["error"]["data"]["code"] == "invalid_request");
    CHECK(with.agent.requests().empty());
}

TEST_CASE("no credential that the gateway reads reaches an agent")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    CHECK(call(port, "open", ci).status == 200);
    CHECK(call(port, "open", operators).status == 200);
    CHECK(request(port, "GET", "/agents/open/files/a?x=1", ci).status == 200);
    for (const auto& each : with.agent.requests()) {
        CHECK(each.count("Authorization") == 0);
        CHECK(each.count("X-API-Key") == 0);
        CHECK(each.count("Cookie") == 0);
    }
}

TEST_CASE("lists show the agents that the caller may know of, and no shared cache may keep them")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    const auto of_ci = request(port, "GET", "/agents", ci);
    CHECK(listed(of_ci) == std::set<std::string>{"open", "secret", "seen", "sends"});
    CHECK(of_ci.header("Cache-Control") == "private, no-cache");
    // Cards that come meanwhile change the list.
    CHECK(becomes_true([&] {
        auto again = ci;
        again.emplace_back("If-None-Match", request(port, "GET", "/agents", ci).header("ETag"));
        return request(port, "GET", "/agents", again).status == 304;
    }));
    auto other = mallory;
    other.emplace_back("If-None-Match", of_ci.header("ETag"));
    CHECK(request(port, "GET", "/agents", other).status == 200);
    CHECK(listed(request(port, "GET", "/agents", mallory)) == std::set<std::string>{"open", "seen"});
    for (const auto* catalog : {"/.well-known/api-catalog", "/.well-known/ai-catalog.json"}) {
        CAPTURE(catalog);
        CHECK(request(port, "GET", catalog, mallory).body.find("secret") == std::string::npos);
        CHECK(request(port, "GET", catalog, ci).body.find("/agents/secret") != std::string::npos);
    }
}

TEST_CASE("shared caches may keep the cards of agents that anyone may know of, and no others")
{
    guarded_gateway with;
    const auto cache_control = [&](std::string_view id, const field_list& headers) {
        return request(with.gateway.port(), "GET", card_target(id), headers).header("Cache-Control");
    };
    CHECK(cache_control("open", nobody).starts_with("public, max-age="));
    CHECK(cache_control("open", ci).starts_with("public, max-age="));
    CHECK(cache_control("seen", ci).starts_with("private, max-age="));
}

TEST_CASE("the management API is for those whose scopes say so")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    const auto get = R"({"id":"open"})";
    const auto code = [](const http_response& got) { return parsed(got.body)["error"]["data"]["code"]; };
    CHECK(rpc(port, nobody, "agents/list", "{}").status == 401);
    CHECK(rpc(port, mallory, "agents/list", "{}").status == 200);
    const auto shown = rpc(port, reader, "agents/get", get);
    CHECK(shown.status == 200);
    CHECK(shown.body.find(with.agent.url("/rpc")) != std::string::npos);
    const auto upsert = R"({"id":"new","agent":{"url":"http://127.0.0.1:9/"}})";
    CHECK(code(rpc(port, reader, "agents/upsert", upsert)) == "admin_only");
    CHECK(code(rpc(port, mallory, "agents/upsert", upsert)) == "admin_only");
    CHECK(code(rpc(port, mallory, "agents/changes", "{}")) == "admin_only");
    CHECK(code(rpc(port, mallory, "agents/refreshCard", get)) == "forbidden");
    CHECK(with.gateway.metric(R"(cardea_denied_total{reason="forbidden"})") == 4);
    CHECK(parsed(rpc(port, operators, "agents/upsert", upsert).body).contains("result"));
    CHECK(parsed(rpc(port, reader, "agents/get", R"({"id":"new"})").body).contains("result"));
}

TEST_CASE(
    "without cardea:read the management API shows the agents that the caller may discover, and nothing of where they "
    "are"
)
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    const auto result = [&](const field_list& who, std::string_view method, std::string_view params) {
        return parsed(rpc(port, who, method, params).body)["result"];
    };
    const auto ids = [&](const field_list& who, std::string_view method) {
        std::set<std::string> found;
        const auto all = result(who, method, "{}");
        for (const auto& each : all["agents"]) {
            found.insert(each["id"].get<std::string>());
        }
        return found;
    };
    for (const auto* method : {"agents/list", "agents/health"}) {
        CAPTURE(method);
        CHECK(ids(mallory, method) == std::set<std::string>{"open", "seen"});
        CHECK(ids(ci, method) == std::set<std::string>{"open", "secret", "seen", "sends"});
        CHECK(ids(reader, method) == std::set<std::string>{"denied", "open", "secret", "seen", "sends"});
        const auto of_mallory = result(mallory, method, "{}");
        for (const auto& each : of_mallory["agents"]) {
            for (const auto* key :
                 {"url", "reason", "session", "metadata", "discover", "call", "relay_paths", "failure"}) {
                CHECK_FALSE(each.contains(key));
            }
        }
    }
    std::uint64_t counted = 0;
    const auto health = result(mallory, "agents/health", "{}");
    for (const auto& [status, count] : health["summary"].items()) {
        counted += count.get<std::uint64_t>();
    }
    CHECK(counted == 2);
    const auto shown = rpc(port, mallory, "agents/get", R"({"id":"seen"})");
    CHECK(shown.body.find(std::to_string(with.agent.port())) == std::string::npos);
    CHECK(parsed(shown.body)["result"]["id"] == "seen");
    auto hidden = rpc(port, mallory, "agents/get", R"({"id":"secret"})").body;
    hidden.replace(hidden.find("secret"), 6, "nobody");
    CHECK(hidden == rpc(port, mallory, "agents/get", R"({"id":"nobody"})").body);
    CHECK(parsed(rpc(port, mallory, "agents/health", R"({"id":"secret"})").body).contains("error"));
}

TEST_CASE("the admin listener stays as it is")
{
    guarded_gateway with;
    CHECK(request(with.gateway.admin_port(), "GET", "/metrics").status == 200);
    CHECK(request(with.gateway.admin_port(), "GET", "/healthz").status == 200);
    CHECK(rpc(with.gateway.admin_port(), nobody, "agents/list", "{}").status == 200);
}

TEST_CASE("the access line says whose request it was and never with what credential")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    CHECK(call(port, "seen", ci).status == 200);
    CHECK(call(port, "seen", unknown).status == 401);
    const auto accepted = with.gateway.log().wait_for([](std::string_view line) {
        return line.find("\"principal\":\"ci\",\"provider\":\"keys\"") != line.npos;
    });
    CHECK(accepted.has_value());
    const auto refused = with.gateway.log().wait_for([](std::string_view line) {
        return line.find("\"code\":\"unauthenticated\"") != line.npos;
    });
    REQUIRE(refused.has_value());
    CHECK(refused->find("principal") == std::string::npos);
    for (const auto& line : with.gateway.log().all()) {
        CHECK(line.find("key-of-ci") == std::string::npos);
        CHECK(line.find("unknown-token") == std::string::npos);
    }
}

TEST_CASE("what becomes of credentials is counted by provider")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    CHECK(call(port, "seen", ci).status == 200);
    CHECK(call(port, "seen", ci).status == 200);
    CHECK(call(port, "seen", mallory).status == 403);
    CHECK(call(port, "seen", unknown).status == 401);
    CHECK(call(port, "open", nobody).status == 200);
    CHECK(with.gateway.metric(R"(cardea_access_total{provider="keys",outcome="accepted"})") == 2);
    CHECK(with.gateway.metric(R"(cardea_access_total{provider="mallory",outcome="accepted"})") == 1);
    CHECK(with.gateway.metric(R"(cardea_access_total{provider="none",outcome="refused"})") == 1);
    CHECK(with.gateway.metric(R"(cardea_access_total{provider="none",outcome="anonymous"})") == 1);
}

TEST_CASE("when a key was used last is known, and that another was not")
{
    guarded_gateway with;
    const auto before = std::chrono::system_clock::now();
    CHECK(call(with.gateway.port(), "seen", ci).status == 200);
    const auto used = with.gateway.metric(R"(cardea_access_key_last_used_timestamp_seconds{provider="keys",key="ci"})");
    REQUIRE(used);
    CHECK(*used >= std::chrono::duration<double>{before.time_since_epoch()}.count() - 0.001);
    CHECK_FALSE(with.gateway.metric(R"(cardea_access_key_last_used_timestamp_seconds{provider="keys",key="old"})"));
}

TEST_CASE("without providers every caller is answered, whatever credential it sends")
{
    test_support::scripted_agent upstream{answer_of_agent};
    auto settings = quick_settings();
    settings.agents = {a2a_agent("a", upstream.url("/rpc"))};
    settings.agents[0].card = words_card;
    running_gateway gateway{settings};
    CHECK(call(gateway.port(), "a", nobody).status == 200);
    CHECK(call(gateway.port(), "a", unknown).status == 200);
    CHECK(request(gateway.port(), "GET", card_target("a")).header("Cache-Control").starts_with("public"));
}

TEST_SUITE_END();
