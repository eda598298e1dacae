// What becomes of callers' sessions when MCP servers lose them, end them, or name them at length; over 400 lines: one server and
// each way to lose a session.
#include "tests/flow/mcp_session_server.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_sessions");

using namespace flow;
using namespace flow::mcp_calls;

TEST_CASE(
    "A session that the server has lost begins again behind the caller's id, and the refused call goes up once more"
)
{
    for (const unsigned lost : {404U, 400U}) {
        CAPTURE(lost);
        session_rig r;
        r.server->lost_status = lost;
        r.begin_session();
        CHECK(json::parse(r.call().body)["result"]["of"] == "s-1");
        r.server->forget();
        const auto before = r.x->agent.request_count();

        const auto got = r.call("2");

        CHECK(got.status == 200);
        CHECK(json::parse(got.body)["id"] == 2);
        CHECK(json::parse(got.body)["result"]["of"] == "s-2");
        CHECK(r.methods_from(before) == names{"tools/call", "initialize", "notifications/initialized", "tools/call"});
        const auto again = r.x->agent.request(before + 1);
        CHECK(again.count("Mcp-Session-Id") == 0);
        const auto params = json::parse(again.body)["params"];
        CHECK(params["protocolVersion"] == "2025-06-18");
        CHECK(params["capabilities"] == json::parse(R"({"sampling":{},"roots":{"listChanged":true}})"));
        CHECK(r.x->agent.request(before + 2).header("Mcp-Session-Id") == "s-2");
        CHECK(r.x->agent.request(before + 3).body == call_of("2"));

        // From now on the server's new id is known.
        CHECK(json::parse(r.call("3").body)["result"]["of"] == "s-2");
        CHECK(r.x->agent.request_count() == before + 5);
        CHECK(r.x->gateway.log().wait_for([](std::string_view each) {
            return each.find(R"("event":"mcp_recovered")") != std::string_view::npos;
        }));
        CHECK(r.x->gateway.wait_for_metric("cardea_mcp_recoveries_total", 1));
    }
}

TEST_CASE("A 400 that speaks of the session is read up to 4096 bytes")
{
    for (const std::size_t size : {4095U, 4096U, 4097U}) {
        CAPTURE(size);
        session_rig r;
        r.server->lost_status = 400;
        r.server->lost_size = size;
        r.begin_session();
        r.server->forget();
        const auto got = r.call();
        CHECK(got.status == (size > 4096 ? 400 : 200));
        CHECK(r.x->agent.request_count() == (size > 4096 ? 2 : 5));
    }
}

TEST_CASE("A 400 that speaks of something else is the caller's answer")
{
    session_rig r;
    r.begin_session();
    const std::string refusal = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such session tool"}})";
    r.server->calls = [&](const auto&) { return answer(400, refusal, {{"Content-Type", "application/json"}}); };
    const auto got = r.call();
    CHECK(got.status == 400);
    CHECK(got.body == refusal);
    CHECK(r.x->agent.request_count() == 2);
}

TEST_CASE("A session that begins again has the log level and the subscriptions of the one before")
{
    session_rig r;
    r.begin_session();
    const auto tell = [&](std::string_view method, std::string_view params) {
        const auto body = R"({"jsonrpc":"2.0","id":9,"method":")" + std::string{method} + R"(","params":)" +
                          std::string{params} + '}';
        CHECK(post(*r.x, body, r.session).status == 200);
    };
    tell("logging/setLevel", R"({"level":"debug"})");
    tell("logging/setLevel", R"({"level":"error"})");
    tell("resources/subscribe", R"({"uri":"file:///a"})");
    tell("resources/subscribe", R"({"uri":"file:///b"})");
    tell("resources/unsubscribe", R"({"uri":"file:///a"})");
    r.server->forget();
    const auto before = r.x->agent.request_count();
    CHECK(r.call().status == 200);
    CHECK(
        r.methods_from(before) ==
        names{
            "tools/call",
            "initialize",
            "notifications/initialized",
            "logging/setLevel",
            "resources/subscribe",
            "tools/call"
        }
    );
    CHECK(json::parse(r.x->agent.request(before + 3).body)["params"] == json::parse(R"({"level":"error"})"));
    CHECK(json::parse(r.x->agent.request(before + 4).body)["params"] == json::parse(R"({"uri":"file:///b"})"));
}

TEST_CASE("Many losses of a session at once make one new one")
{
    session_rig r{[](config::settings& settings) { settings.workers = 2; }};
    r.begin_session();
    r.server->forget();
    constexpr std::size_t callers = 16;
    std::vector<http_client> clients;
    for (std::size_t i = 0; i < callers; ++i) {
        clients.emplace_back(r.x->port());
        const auto fields = with(with(usual_fields(), r.session), {{"Content-Type", "application/json"}});
        clients.back().send(request_text("POST", "/agents/a/mcp", fields, call_of(std::to_string(i))));
    }
    for (std::size_t i = 0; i < callers; ++i) {
        const auto got = json::parse(clients[i].read_response().body);
        CHECK(got["id"] == i);
        CHECK(got["result"]["of"] == "s-2");
    }
    const auto sent = r.methods_from(0);
    CHECK(std::count(sent.begin(), sent.end(), "initialize") == 2);
}

TEST_CASE("A call that the server refuses again is not sent a third time")
{
    session_rig r;
    r.begin_session();
    r.server->calls = [&](const auto&) { return answer(404, ""); };
    const auto before = r.x->agent.request_count();
    check_error(r.call(), 404, -32001, "session_not_found");
    CHECK(r.methods_from(before) == names{"tools/call", "initialize", "notifications/initialized", "tools/call"});
}

TEST_CASE("A server that forgets its session after each call serves every call")
{
    session_rig r;
    r.begin_session();
    r.server->forgets_each = true;
    for (const auto* id : {"1", "2", "3"}) {
        CHECK(r.call(id).status == 200);
    }
}

TEST_CASE("A stream that begins finds a new session too")
{
    session_rig r;
    r.begin_session();
    r.server->forget();
    const auto before = r.x->agent.request_count();
    CHECK(send(*r.x, "GET", with(usual_fields(), r.session)).status == 200);
    CHECK(r.methods_from(before) == names{"GET", "initialize", "notifications/initialized", "GET"});
    CHECK(r.x->agent.request(before + 3).header("Mcp-Session-Id") == "s-2");
}

TEST_CASE("With on_lost: tell a lost session is 404, and the server hears no more of it")
{
    session_rig r{[](config::settings& settings) { settings.agents[0].mcp->on_lost = core::mcp_loss::tell; }};
    r.begin_session();
    r.server->forget();
    for (int i = 0; i < 2; ++i) {
        check_error(r.call(), 404, -32001, "session_not_found");
    }
    CHECK(r.methods_from(0) == names{"initialize", "tools/call"});
    CHECK(r.x->gateway.wait_for_metric(R"(cardea_mcp_client_sessions_ended_total{reason="lost"})", 1));
}

TEST_CASE("While a lost session cannot begin again its calls fail as the server does, and go on once it can")
{
    session_rig r;
    r.begin_session();
    r.server->forget();
    r.server->initialize_status = 500;
    check_error(r.call(), 200, -32603, "upstream_status");
    r.server->initialize_status = 200;
    CHECK(r.call().status == 200);
}

TEST_CASE("A session does not begin again in another version than the client speaks")
{
    session_rig r;
    r.begin_session();
    r.server->forget();
    r.server->version = "2025-03-26";
    check_error(r.call(), 404, -32001, "session_not_found");
    check_error(r.call(), 404, -32001, "session_not_found");
    CHECK(r.methods_from(1) == names{"tools/call", "initialize"});
}

TEST_CASE("DELETE is answered 200 whether the server ends sessions or not, and later uses are 404 without it")
{
    for (const unsigned status : {200U, 204U, 202U, 405U, 404U}) {
        CAPTURE(status);
        session_rig r;
        r.begin_session();
        r.server->delete_status = status;
        const auto ended = r.end();
        CHECK(ended.status == 200);
        CHECK(ended.body.empty());
        check_error(r.call(), 404, -32001, "session_not_found");
        CHECK(r.end().status == 404);
        CHECK(r.methods_from(0) == names{"initialize", "DELETE"});
        CHECK(r.x->gateway.wait_for_metric(R"(cardea_mcp_client_sessions_ended_total{reason="deleted"})", 1));
        const auto again = post(*r.x, initialize_body, r.session);
        CHECK(again.status == 200);
        CHECK_FALSE(again.header("Mcp-Session-Id").empty());
    }
}

TEST_CASE("A session stays when the server fails to end it")
{
    session_rig r;
    r.begin_session();
    r.server->delete_status = 500;
    CHECK(r.end().status == 500);
    CHECK(r.call().status == 200);
}

TEST_CASE("A session whose server's id has up to 1024 characters can be used, however long the id is")
{
    for (const std::size_t size : {199U, 200U, 201U, 1023U, 1024U}) {
        CAPTURE(size);
        session_rig r{[](config::settings& settings) { settings.workers = 2; }, size};
        r.begin_session();
        CHECK(r.session[0].second.size() <= 512);
        for (int i = 0; i < 4; ++i) {
            CHECK(r.call().status == 200);
            CHECK(r.x->agent.requests().back().header("Mcp-Session-Id").size() == size);
        }
        r.server->forget();
        CHECK(json::parse(r.call().body)["result"]["of"] == "s-2x");
        CHECK(r.end().status == 200);
        check_error(r.call(), 404, -32001, "session_not_found");
    }
    const session_rig r{{}, 1025};
    check_error(post(*r.x, initialize_body), 502, -32603, "upstream_protocol");
}

TEST_CASE("A session outlives a restart of a gateway that has a store and no keys")
{
    const test_support::scratch_directory scratch;
    session_server server;
    scripted_agent agent{server.as_handler()};
    const auto start = [&] {
        auto settings = quick_settings();
        settings.agents.push_back(a2a_agent("a", agent.url("/rpc")));
        make_mcp(settings);
        settings.store = "sqlite:" + scratch.file("s.db");
        return std::make_unique<running_gateway>(std::move(settings));
    };
    auto gateway = start();
    const auto begun = send_to(gateway->port(), "POST", usual_fields(), initialize_body);
    const field_list session{{"Mcp-Session-Id", begun.header("Mcp-Session-Id")}};
    gateway.reset();
    gateway = start();
    CHECK(send_to(gateway->port(), "POST", with(usual_fields(), session), call_of("1")).status == 200);
}

TEST_CASE("A server that sends calls to another path of its own gets them there, also those that follow")
{
    session_rig r;
    r.begin_session();
    const auto usual = r.server->as_handler();
    r.x->agent.otherwise([usual](const recorded_request& request) {
        return request.target == "/rpc" ? redirect("/rpc/", 307) : usual(request);
    });
    const auto before = r.x->agent.request_count();
    CHECK(r.call("1").status == 200);
    CHECK(r.call("2").status == 200);
    CHECK(r.end().status == 200);
    const auto all = r.x->agent.requests();
    REQUIRE(all.size() == before + 4);
    CHECK(all[before].target == "/rpc");
    for (std::size_t i = before + 1; i < all.size(); ++i) {
        CHECK(all[i].target == "/rpc/");
        CHECK(all[i].header("Mcp-Session-Id") == "s-1");
    }
    CHECK(all[before + 1].body == call_of("1"));
}

TEST_CASE("A redirect to the bare origin leads to its root, and a query stays one")
{
    session_rig r;
    r.begin_session();
    const auto usual = r.server->as_handler();
    struct row {
        std::string location;
        std::string_view target;
    };
    for (const auto& [location, target] :
         {row{r.x->agent.url(), "/"},
          row{r.x->agent.url() + "?x=/y", "/?x=/y"},
          row{"?x=/y", "/rpc?x=/y"},
          row{"//127.0.0.1:" + std::to_string(r.x->agent.port()), "/"}}) {
        CAPTURE(location);
        r.x->agent.otherwise([&](const recorded_request& request) {
            return request.target == "/rpc" ? redirect(location, 307) : usual(request);
        });
        CHECK(r.call().status == 200);
        CHECK(r.x->agent.requests().back().target == target);
        // The path is forgotten, for the next row.
        r.x->agent.otherwise([](const auto&) { return answer(405, ""); });
        CHECK(r.call().status == 405);
    }
}

TEST_CASE("The key in the query of an agent goes along to where a redirect leads, and replaces one of its name")
{
    session_rig r{[](config::settings& settings) {
        settings.agents[0].credentials =
            core::key_credential{core::credential_place::query, "k", core::secret{std::string{"s3cret"}}};
    }};
    r.begin_session();
    const auto usual = r.server->as_handler();
    for (const std::string location : {"/other", "/other?a=b", "/other?k=theirs"}) {
        CAPTURE(location);
        r.x->agent.otherwise([&](const recorded_request& request) {
            return request.target.starts_with("/rpc") ? redirect(location, 307) : usual(request);
        });
        for (int i = 0; i < 2; ++i) {
            CHECK(r.call().status == 200);
            CHECK(
                r.x->agent.requests().back().target ==
                (location == "/other?a=b" ? "/other?a=b&k=s3cret" : "/other?k=s3cret")
            );
        }
        r.x->agent.otherwise([](const auto&) { return answer(405, ""); });
        CHECK(r.call().status == 405);
    }
}

TEST_CASE("A redirect to another origin, without end or of another kind is not followed")
{
    session_rig r;
    r.begin_session();
    struct row {
        const char* location;
        unsigned status;
        std::size_t requests;
    };
    for (const auto& [location, status, requests] :
         {row{"http://127.0.0.1:1/rpc", 307, 1}, row{"/other", 302, 1}, row{"/rpc", 308, 4}}) {
        CAPTURE(location);
        r.x->agent.otherwise([&](const auto&) { return redirect(location, status); });
        const auto before = r.x->agent.request_count();
        check_error(r.call(), 200, -32603, "upstream_status");
        CHECK(r.x->agent.request_count() == before + requests);
    }
}

TEST_CASE("A message follows three redirects and no fourth")
{
    for (const int redirects : {2, 3, 4}) {
        CAPTURE(redirects);
        session_rig r;
        r.begin_session();
        const auto usual = r.server->as_handler();
        r.x->agent.otherwise([usual, redirects](const recorded_request& request) {
            const int at = request.target == "/rpc" ? 0 : std::stoi(request.target.substr(1));
            return at < redirects ? redirect("/" + std::to_string(at + 1), 308) : usual(request);
        });
        if (redirects > 3) {
            check_error(r.call(), 200, -32603, "upstream_status");
        } else {
            CHECK(r.call().status == 200);
        }
    }
}

TEST_CASE("64 calls of a session are in flight over all workers, the next one is 503, and one that has ended makes room"
)
{
    session_rig r{[](config::settings& settings) { settings.workers = 2; }};
    r.begin_session();
    gate answers;
    r.server->calls = [&](const auto& request) {
        auto said =
            answer_json(R"({"jsonrpc":"2.0","id":)" + json::parse(request.body)["id"].dump() + R"(,"result":{}})");
        said.insert(said.begin(), pass_gate{answers.shared()});
        return said;
    };
    const auto before = r.x->agent.request_count();
    const auto fields = with(with(usual_fields(), r.session), {{"Content-Type", "application/json"}});
    std::vector<http_client> callers;
    for (int each = 1; each <= 64; ++each) {
        callers.emplace_back(r.x->port());
        callers.back().send(request_text("POST", "/agents/a/mcp", fields, call_of(std::to_string(each))));
    }
    REQUIRE(r.x->agent.wait_for_requests(before + 64));

    const auto got = r.call("65");

    check_error(got, 503, -31503, "overloaded");
    CHECK_FALSE(got.header("Retry-After").empty());
    CHECK(r.x->agent.request_count() == before + 64);
    r.begin_session();
    CHECK(post(*r.x, R"({"jsonrpc":"2.0","id":1,"method":"ping"})", r.session).status == 200);
    answers.release(65);
    for (auto& each : callers) {
        CHECK(each.read_response().status == 200);
    }
    // On a connection whose call is over.
    callers.front().send(request_text("POST", "/agents/a/mcp", fields, call_of("66")));
    CHECK(callers.front().read_response().status == 200);
}

TEST_SUITE_END();
