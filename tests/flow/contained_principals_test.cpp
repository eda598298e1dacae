// Principals that are contained: nothing that they have a credential for is theirs, until the release.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/contained_principals");

namespace {

using namespace flow;
using namespace std::chrono_literals;
using core::json;
using test_support::http_client;
using test_support::request_text;

constexpr std::string_view code = "principal_contained";

const field_list registrant = bearer("register-token-0123456789");

std::string card_of(std::string_view id)
{
    return "/agents/" + std::string{id} + "/.well-known/agent-card.json";
}

http_client calling(const running_gateway& gateway, std::string_view id, field_list headers, std::string_view body)
{
    headers.emplace_back("Content-Type", "application/json");
    http_client caller{gateway.port()};
    caller.send(request_text("POST", "/agents/" + std::string{id}, headers, body));
    return caller;
}

}  // namespace

TEST_CASE("a contained principal is refused wherever its credential is read, at once and without a reload")
{
    guarded_gateway x;
    const auto port = x.gateway.port();
    REQUIRE(call(port, "seen", ci).status == 200);  // from here on its key is known to the worker
    const auto asked = x.agent.request_count();
    contain_principal(x.gateway, "keys", "ci");

    check_contained(call(port, "seen", ci), contained_rpc("1", code, "seen"));
    check_contained(call(port, "open", ci), contained_rpc("1", code, "open"));
    // Not even whether there is an agent.
    check_contained(call(port, "nobody", ci), contained_rpc("1", code, ""));
    check_contained(request(port, "GET", card_of("secret"), ci), contained_plain(code, ""));
    check_contained(request(port, "GET", "/agents", ci), contained_plain(code, ""));
    check_contained(request(port, "GET", "/agents/seen/files/x", ci), contained_plain(code, ""));
    check_contained(rpc(port, ci, "agents/list", "{}"), contained_plain(code, ""));
    CHECK(request(port, "POST", "/agents/seen/rest/message:send", ci, "{}").status == 403);
    CHECK(x.agent.request_count() == asked);
    CHECK(x.gateway.wait_for_metric(R"(cardea_denied_total{reason="contained"})", 8));

    // Others, and callers without a credential, are none of it.
    CHECK(call(port, "open", nobody).status == 200);
    CHECK(call(port, "open", mallory).status == 200);
    CHECK(request(port, "GET", card_of("secret"), mallory).status == 404);

    release_principal(x.gateway, "keys", "ci");
    CHECK(call(port, "seen", ci).status == 200);
}

TEST_CASE("a contained agent that a caller may not know of is hidden as before")
{
    guarded_gateway x;
    const auto port = x.gateway.port();
    const auto before = call(port, "secret", mallory);
    const auto card_before = request(port, "GET", card_of("secret"), mallory);
    const auto anonymous_before = call(port, "secret", nobody);
    contain(x.gateway, "secret");
    contain(x.gateway, "seen");
    CHECK(call(port, "secret", mallory).body == before.body);
    CHECK(request(port, "GET", card_of("secret"), mallory).body == card_before.body);
    CHECK(call(port, "secret", nobody).body == anonymous_before.body);
    check_contained(call(port, "secret", ci), contained_rpc("1", "agent_contained", "secret"));
    // That it may not call the agent comes after that the agent is stopped.
    check_contained(call(port, "seen", mallory), contained_rpc("1", "agent_contained", "seen"));
}

TEST_CASE("calls and streams of a contained principal end, to whatever agent; those of others go on")
{
    guarded_gateway x;
    constexpr std::string_view stream = R"({"jsonrpc":"2.0","id":7,"method":"message/stream","params":{}})";
    x.agent.next(test_support::event_stream());
    auto mine = calling(x.gateway, "seen", ci, stream);
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.next(test_support::event_stream());
    auto other = calling(x.gateway, "open", mallory, stream);
    REQUIRE(x.agent.wait_for_streams(2));
    x.agent.send_event("1");
    mine.read_until("data: 1\n\n");
    other.read_until("data: 1\n\n");
    x.agent.next(test_support::silence());
    auto waiting = calling(x.gateway, "open", ci, R"({"jsonrpc":"2.0","id":8,"method":"message/send","params":{}})");
    REQUIRE(x.agent.wait_for([](const auto& all) { return all.back().body.find("\"id\":8") != std::string::npos; }));

    const auto cut = contain_principal(x.gateway, "keys", "ci", {{"notice", "Ask us."}})["cut"];
    CHECK(cut == json{{"calls", 1}, {"streams", 1}, {"sessions", 0}});
    const auto rest = mine.read_until("\r\n0\r\n\r\n");
    CHECK(
        rest.find(R"(data: {"jsonrpc":"2.0","id":7,"error":{"code":-31403,"message":"Ask us.")") != std::string::npos
    );
    const auto got = waiting.read_response();
    CHECK(got.status == 403);
    CHECK(parsed(got.body)["error"]["data"]["code"] == code);
    x.agent.send_event("2");
    other.read_until("data: 2\n\n");
}

TEST_CASE("a contained principal neither registers agents nor uses the admin listener")
{
    const auto with_scopes = [](const std::string& url) {
        auto settings = guarded(url);
        settings.admin_access = core::admin_access::scopes;
        settings.registration.token = core::secret{"register-token-0123456789"};
        settings.access.providers.push_back(
            token("second", "second-token-0123456789", {core::scope_read, core::scope_write})
        );
        return settings;
    };
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{with_scopes(agent.url("/rpc"))};
    const auto admin = gateway.admin_port();
    REQUIRE(rpc(admin, reader, "agents/list", "{}").status == 200);
    const auto done =
        rpc(admin,
            operators,
            "principals/contain",
            R"({"provider":"reader","principal":"reader","reason":"r","notice":"No."})");
    REQUIRE(parsed(done.body).contains("result"));
    const auto denied = rpc(admin, reader, "agents/list", "{}");
    CHECK(denied.status == 403);
    CHECK(denied.header("Cardea-Error") == code);
    CHECK(parsed(denied.body)["error"]["message"] == "No.");
    CHECK(request(admin, "GET", "/metrics", reader).status == 403);
    CHECK(request(admin, "GET", "/readyz", reader).status == 200);
    CHECK(
        request(admin, "GET", "/metrics", operators).body.find(R"(cardea_denied_total{reason="contained"} 2)") !=
        std::string::npos
    );

    const json body{{"agent_url", agent.url("/x")}, {"name", "mine"}, {"version", "1"}};
    auto fields = bearer("second-token-0123456789");
    fields.emplace_back("Content-Type", "application/json");
    rpc(admin, operators, "principals/contain", R"({"provider":"second","principal":"second","reason":"r"})");
    check_contained(
        request(gateway.port(), "POST", "/agent/register", fields, core::to_text(body)),
        contained_plain(code, "")
    );
    rpc(admin, operators, "principals/release", R"({"provider":"reader","principal":"reader"})");
    CHECK(rpc(admin, reader, "agents/list", "{}").status == 200);
}

TEST_CASE("what a contained principal has open on the admin listener ends at once, and counts")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = guarded(agent.url("/rpc"));
    settings.admin_access = core::admin_access::scopes;
    settings.timeouts.upstream_head = 1h;
    settings.access.providers.push_back(
        token("leaked", "leaked-token-0123456789", {core::scope_read, core::scope_write})
    );
    const running_gateway gateway{std::move(settings)};
    const auto admin = gateway.admin_port();
    const auto leaked = bearer("leaked-token-0123456789");
    const auto viewer_with = [&](const field_list& fields) {
        http_client viewer{admin};
        viewer.send(request_text("GET", "/events", fields));
        viewer.read_until(": live\n\n");
        return viewer;
    };
    const auto attempt = [&](const field_list& of, std::string_view body) {
        auto fields = of;
        fields.emplace_back("Content-Type", "application/json");
        http_client caller{admin};
        caller.send(request_text("POST", "/try/agents/open", fields, body));
        return caller;
    };
    auto theirs = viewer_with(leaked);
    auto other = viewer_with(operators);
    agent.next(test_support::event_stream());
    auto streaming = attempt(leaked, R"({"jsonrpc":"2.0","id":7,"method":"message/stream","params":{}})");
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event("1");
    streaming.read_until("data: 1\n\n");
    agent.next(test_support::silence());
    auto waiting = attempt(leaked, R"({"jsonrpc":"2.0","id":8,"method":"message/send","params":{}})");
    REQUIRE(agent.wait_for([](const auto& all) { return all.back().body.find("\"id\":8") != std::string::npos; }));

    json params{{"provider", "leaked"}, {"principal", "leaked"}, {"reason", "r"}, {"notice", "No."}, {"dryRun", true}};
    const json counts{{"calls", 1}, {"streams", 2}, {"sessions", 0}};
    const auto said = [&] {
        return parsed(rpc(admin, operators, "principals/contain", core::to_text(params)).body)["result"]["cut"];
    };
    CHECK(said() == counts);
    params["dryRun"] = false;
    CHECK(said() == counts);
    const auto cut = std::chrono::steady_clock::now();
    CHECK_FALSE(theirs.read_until_closed().ends_with("\r\n0\r\n\r\n"));
    CHECK_FALSE(streaming.read_until_closed().ends_with("\r\n0\r\n\r\n"));
    CHECK(std::chrono::steady_clock::now() - cut < 1s);
    const auto answered = waiting.read_response();
    CHECK(answered.status == 403);
    CHECK(parsed(answered.body)["error"]["message"] == "No.");
    CHECK(agent.wait_until_peer_closed(test_support::patience, 2));
    CHECK(rpc(admin, leaked, "agents/list", "{}").status == 403);
    other.read_until("caller_gone");  // it sees how the tries end
    CHECK(said() == json{{"calls", 0}, {"streams", 0}, {"sessions", 0}});
}

TEST_CASE("notifications that a contained principal has asked for wait until the release; those of others go out")
{
    test_support::scripted_agent agent{answer_of_agent};
    test_support::scripted_agent receiver{[](const auto&) { return test_support::answer(204, ""); }};
    auto settings = guarded(agent.url("/rpc"));
    for (auto& each : settings.agents) {
        each.push = core::push_mode::mediate;
        each.dialects = {core::a2a_dialect::v1_jsonrpc};  // without a card it would be guessed, and the call translated
    }
    settings.push_allow = {"127.0.0.0/8"};
    const running_gateway gateway{std::move(settings)};
    // The configuration that the agent is told for a receiver of this caller.
    const auto registered = [&](const field_list& caller, const std::string& path) {
        auto fields = caller;
        fields.emplace_back("Content-Type", "application/json");
        fields.emplace_back("A2A-Version", "1.0");
        const json body{
            {"jsonrpc", "2.0"},
            {"id", 7},
            {"method", "CreateTaskPushNotificationConfig"},
            {"params", {{"taskId", "1"}, {"url", receiver.url(path)}}}
        };
        REQUIRE(request(gateway.port(), "POST", "/agents/open", fields, core::to_text(body)).status == 200);
        json told;  // what may come after it is a search for a card
        for (const auto& each : agent.requests()) {
            if (each.method == "POST") {
                told = parsed(each.body)["params"];
            }
        }
        return told;
    };
    const auto notify = [&](const json& config) {
        const auto url = config["url"].get<std::string>();
        return request(
                   gateway.port(),
                   "POST",
                   url.substr(url.find("/agents/")),
                   {{"Content-Type", "application/json"},
                    {"X-A2A-Notification-Token", config["token"].get<std::string>()}},
                   R"({"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"}}})"
        )
            .status;
    };
    const auto theirs = registered(ci, "/theirs");
    const auto other = registered(mallory, "/other");
    const auto anonymous = registered(nobody, "/anonymous");
    contain_principal(gateway, "keys", "ci");
    CHECK(notify(theirs) == 202);
    CHECK(notify(other) == 202);
    CHECK(notify(anonymous) == 202);
    REQUIRE(receiver.wait_for_requests(2));
    CHECK(gateway.wait_for_metric("cardea_push_queue", 1));
    CHECK_FALSE(receiver.wait_for_requests(3, 2500ms));
    for (const auto& each : receiver.requests()) {
        CHECK(each.target != "/theirs");
    }
    release_principal(gateway, "keys", "ci");
    REQUIRE(receiver.wait_for_requests(3));
    CHECK(receiver.request(2).target == "/theirs");
}

TEST_CASE("with an agent its own credentials stop, and those that it was registered with")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = guarded(agent.url("/rpc"));
    settings.agents[0].acts_as = {{"keys", "ci"}};
    settings.registration.token = core::secret{"register-token-0123456789"};
    settings.registration.allow = {"127.0.0.0/8"};
    settings.access.providers.push_back(token("scoped", "scoped-token-0123456789", {core::scope_register}));
    const running_gateway gateway{std::move(settings)};
    const auto port = gateway.port();
    const auto enroll = [&](field_list fields, std::string_view name) {
        fields.emplace_back("Content-Type", "application/json");
        const json body{{"agent_url", agent.url("/x")}, {"name", name}, {"version", "1"}};
        return request(port, "POST", "/agent/register", fields, core::to_text(body));
    };
    contain(gateway, "open");
    check_contained(call(port, "seen", ci), contained_rpc("1", code, "seen"));
    release(gateway, "open");
    CHECK(call(port, "seen", ci).status == 200);

    const auto scoped = bearer("scoped-token-0123456789");
    REQUIRE(enroll(scoped, "hers").status < 300);
    contain(gateway, "hers");
    check_contained(enroll(scoped, "more"), contained_plain(code, ""));
    CHECK(enroll(registrant, "mine").status < 300);
    contain(gateway, "mine");
    check_contained(enroll(registrant, "more"), contained_plain(code, ""));
    release(gateway, "mine");
    CHECK(enroll(registrant, "mine").status < 300);
    check_contained(enroll(scoped, "more"), contained_plain(code, ""));
}

TEST_CASE("each worker refuses and cuts")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = guarded(agent.url("/rpc"));
    settings.workers = 3;
    const running_gateway gateway{std::move(settings)};
    agent.otherwise([](const auto&) { return test_support::event_stream(); });
    constexpr std::string_view stream = R"({"jsonrpc":"2.0","id":7,"method":"message/stream","params":{}})";
    std::vector<http_client> open;
    for (int i = 0; i < 30; ++i) {
        open.push_back(calling(gateway, "open", i % 2 == 0 ? ci : mallory, stream));
    }
    REQUIRE(agent.wait_for_streams(30));
    agent.send_event("1");
    for (auto& each : open) {
        each.read_until("data: 1\n\n");
    }
    CHECK(contain_principal(gateway, "keys", "ci")["cut"]["streams"] == 15);
    CHECK(contain(gateway, "open")["cut"]["streams"] == 15);
    for (auto& each : open) {
        CHECK(each.read_until("\r\n0\r\n\r\n").find("_contained") != std::string::npos);
    }
    CHECK(agent.wait_until_peer_closed(test_support::patience, 30));
}

TEST_SUITE_END();
