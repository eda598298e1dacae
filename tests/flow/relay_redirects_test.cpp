// Agents that redirect calls: within their origin 307 and 308 are followed, anything else is an answer that cannot be used.
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/test_ca.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

using flow::call_body;
using flow::relayed;
using test_support::answer;
using test_support::answer_json;
using test_support::field_list;
using test_support::http_client;
using test_support::recorded_request;
using test_support::redirect;
using test_support::script;

TEST_SUITE_BEGIN("flow/relay");

namespace {

// Redirects what comes at `/rpc`, and answers elsewhere.
test_support::handler moved_to(const std::string& location, unsigned status)
{
    return [location, status](const recorded_request& request) {
        const auto path = request.target.substr(0, request.target.find('?'));
        return path == "/rpc" ? redirect(location, status) : answer_json("{}");
    };
}

// Redirects `/rpc` so often, each time elsewhere.
test_support::handler moved_often(int times, unsigned status)
{
    return [times, status](const recorded_request& request) {
        const int at = request.target == "/rpc" ? 0 : std::stoi(request.target.substr(1));
        return at < times ? redirect("/" + std::to_string(at + 1), status) : answer_json("{}");
    };
}

void check_line(const relayed& x, const std::string& detail)
{
    CAPTURE(detail);
    CHECK(x.gateway.log().wait_for([&](std::string_view line) {
        return line.find(R"("code":"upstream_status")") != line.npos &&
               line.find(R"("detail":")" + detail + '"') != line.npos;
    }));
}

void use_key(config::settings& settings)
{
    settings.agents[0].credentials =
        core::key_credential{core::credential_place::query, "k", core::secret{std::string{"planted-key"}}};
    settings.agents[0].headers = {{"X-Tenant", core::secret{std::string{"planted-tenant"}}}};
}

}  // namespace

TEST_CASE("A call follows 307 and 308 within the agent's origin with its method, body and credentials")
{
    for (const unsigned status : {307U, 308U}) {
        CAPTURE(status);
        relayed x{answer_json("{}"), use_key};
        for (const auto& location : {std::string{"/rpc/"}, x.agent.url("/rpc/"), std::string{"rpc/?k=theirs"}}) {
            CAPTURE(location);
            x.agent.otherwise(moved_to(location, status));
            const auto before = x.agent.request_count();
            http_client caller{x.port()};
            caller.send(flow::call_text(call_body("7"), {{"X-Of-Caller", "1"}}));
            const auto got = caller.read_response();
            CHECK(got.status == 200);
            CHECK(got.body == "{}");
            const auto last = x.agent.requests().back();
            CHECK(last.method == "POST");
            CHECK(last.target == "/rpc/?k=planted-key");
            CHECK(last.body == call_body("7"));
            CHECK(last.header("X-Tenant") == "planted-tenant");
            CHECK(last.header("X-Of-Caller") == "1");
            CHECK(x.agent.request_count() <= before + 2);
        }
        CHECK(x.agent.accepted_connections() == 1);  // a redirect without a body does not cost a connection
    }
}

TEST_CASE("A call follows five redirects and no sixth")
{
    for (const int times : {4, 5, 6}) {
        CAPTURE(times);
        relayed x{moved_often(times, 307)};
        const auto got = flow::call(x.port(), call_body());
        CHECK(x.agent.request_count() == static_cast<std::size_t>(std::min(times, 5)) + 1);
        if (times <= 5) {
            CHECK(got.status == 200);
        } else {
            flow::check_jsonrpc_error(got, flow::bad_status, "1");
            check_line(x, "status 307 (followed only within the origin, at most 5 times); Location: /6");
        }
    }
}

TEST_CASE("Calls go at once to where a 308 led, until the agent does not know that path")
{
    relayed x{moved_to("/rpc/", 308)};
    for (int i = 0; i < 3; ++i) {
        CHECK(flow::call(x.port(), call_body()).status == 200);
    }
    REQUIRE(x.agent.request_count() == 4);
    CHECK(x.agent.request(2).target == "/rpc/");
    for (const unsigned status : {404U, 405U}) {
        CAPTURE(status);
        x.agent.otherwise([status](const recorded_request& request) {
            return request.target == "/rpc/" ? answer(status, "") : answer_json("{}");
        });
        CHECK(flow::call(x.port(), call_body()).status == status);
        CHECK(flow::call(x.port(), call_body()).status == 200);
        CHECK(x.agent.requests().back().target == "/rpc");
        x.agent.otherwise(moved_to("/rpc/", 308));
        CHECK(flow::call(x.port(), call_body()).status == 200);
    }
}

TEST_CASE("A 308 to an address with a query counts for its own call, whose caller the query may be about")
{
    relayed x{moved_to("/other?session=1", 308)};
    for (int i = 0; i < 2; ++i) {
        CHECK(flow::call(x.port(), call_body()).status == 200);
        CHECK(x.agent.requests().back().target == "/other?session=1");
    }
    CHECK(x.agent.request_count() == 4);
}

TEST_CASE("A 308 counts until the agent's card changes, a 307 and what follows it for one call")
{
    for (const unsigned status : {307U, 308U}) {
        CAPTURE(status);
        std::atomic<int> version{1};
        relayed x{answer_json("{}")};
        const auto usual = moved_to("/rpc/", status);
        x.agent.otherwise([&](const recorded_request& request) -> script {
            return request.method == "GET"
                       ? answer_json(flow::card_text("A" + std::to_string(version), x.agent.url("/rpc")))
                       : usual(request);
        });
        const auto calls_at = [&](std::string_view target) {
            std::size_t count = 0;
            for (const auto& each : x.agent.requests()) {
                count += each.method == "POST" && each.target == target ? 1 : 0;
            }
            return count;
        };
        flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(flow::call(x.port(), call_body()).status == 200);
        CHECK(flow::call(x.port(), call_body()).status == 200);
        CHECK(calls_at("/rpc") == (status == 308 ? 1 : 2));
        flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(flow::call(x.port(), call_body()).status == 200);
        CHECK(calls_at("/rpc") == (status == 308 ? 1 : 3));
        ++version;
        flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
        CHECK(flow::call(x.port(), call_body()).status == 200);
        CHECK(calls_at("/rpc") == (status == 308 ? 2 : 4));
        CHECK(calls_at("/rpc/") == 4);
    }
}

TEST_CASE(
    "Other redirects, and those to another origin, are 502, and the log names their Location without what may be secret"
)
{
    struct row {
        unsigned status;
        std::string location;
        std::string detail;
    };
    const std::string bound = " (followed only within the origin, at most 5 times); Location: ";
    const std::string other = " (only 307 and 308 are followed); Location: ";
    const std::string long_path(300, 'x');
    for (const auto& [status, location, detail] : {
             row{301, "/rpc/", "status 301" + other + "/rpc/"},
             row{302, "/login?next=/rpc&token=s3cret", "status 302" + other + "/login?********"},
             row{303, "/rpc/#s3cret", "status 303" + other + "/rpc/"},
             row{307, "http://127.0.0.1:1/rpc", "status 307" + bound + "http://127.0.0.1:1/rpc"},
             row{308, "http://u:s3cret@a.example/x", "status 308" + bound + "http://a.example/x"},
             row{308, "//a.example/x", "status 308" + bound + "//a.example/x"},
             row{302, "/planted-tenant", "status 302" + other + "/********"},
             row{302, "/" + long_path, ("status 302" + other + "/" + long_path).substr(0, 200)},
         }) {
        CAPTURE(location);
        relayed x{redirect(location, status), use_key};
        const auto got = flow::call(x.port(), call_body());
        flow::check_jsonrpc_error(got, flow::bad_status, "1");
        CHECK(got.count("Location") == 0);
        CHECK(got.body.find("Location") == std::string::npos);
        CHECK(x.agent.request_count() == 1);
        check_line(x, detail);
    }
}

TEST_CASE("A redirect without a Location is 502")
{
    relayed x{answer(307, "")};
    flow::check_jsonrpc_error(flow::call(x.port(), call_body()), flow::bad_status, "1");
    check_line(x, "status 307 (followed only within the origin, at most 5 times)");
}

TEST_CASE("A redirect from https to http is not followed")
{
    test_support::test_ca ca;
    const auto issued = ca.issue({"127.0.0.1"});
    relayed x{
        answer_json("{}"),
        [&](config::settings& s) { s.agents[0].ca_file = ca.ca_file(); },
        {.cert_file = issued.cert_file, .key_file = issued.key_file}
    };
    const auto plain = "http://127.0.0.1:" + std::to_string(x.agent.port()) + "/rpc/";
    x.agent.otherwise(moved_to(plain, 307));
    flow::check_jsonrpc_error(flow::call(x.port(), call_body()), flow::bad_status, "1");
    CHECK(x.agent.request_count() == 1);
    x.agent.otherwise(moved_to(x.agent.url("/rpc/"), 307));
    CHECK(flow::call(x.port(), call_body()).status == 200);
}

TEST_CASE("A stream follows a redirect that comes before it")
{
    relayed x{answer_json("{}")};
    x.agent.otherwise([](const recorded_request& request) {
        return request.target == "/rpc" ? redirect("/rpc/", 307) : test_support::event_stream();
    });
    http_client caller{x.port()};
    caller.send(flow::call_text(call_body("1", "message/stream")));
    const auto head = caller.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event("{}");
    x.agent.end_streams();
    CHECK(x.agent.requests().back().target == "/rpc/");
}

TEST_CASE("A request below relay_paths does not follow a redirect, which may lead beyond them")
{
    relayed x{redirect("/rpc/", 307), [](config::settings& s) { s.agents[0].relay_paths = {"/files/*"}; }};
    http_client caller{x.port()};
    caller.send(test_support::request_text("GET", "/agents/a/files/x", {}, ""));
    CHECK(caller.read_response().status == 502);
    CHECK(x.agent.request_count() == 1);
    check_line(x, "status 307; Location: /rpc/");
}

TEST_CASE("Calls of HTTP+JSON and translated ones follow redirects, and so does what Cardea asks beside them")
{
    using core::a2a_dialect;
    for (const auto of_agent : flow::dialects) {
        const auto usual = flow::speaking(of_agent);
        const flow::bridged with{of_agent, {}, [usual](recorded_request request) {
                                     const std::string base = "/base";
                                     if (request.target.starts_with(base)) {
                                         return redirect("/moved" + request.target.substr(base.size()), 307);
                                     }
                                     request.target = base + request.target.substr(std::string_view{"/moved"}.size());
                                     return usual(request);
                                 }};
        for (const auto of_caller : flow::dialects) {
            for (const auto what : {flow::asked::send, flow::asked::get, flow::asked::cancel}) {
                CAPTURE(core::name(of_agent));
                CAPTURE(core::name(of_caller));
                const auto got = with.ask(of_caller, what);
                CHECK(got.status == 200);
                CHECK(flow::plain_json::parse(got.body) == flow::plain_json::parse(flow::answer_in(of_caller, what)));
            }
            const auto streamed = with.ask(of_caller, flow::asked::subscribe);
            CAPTURE(streamed.body);
            CHECK(streamed.status == 200);
            CHECK(flow::data_of(streamed.body).size() >= 2);
        }
    }
}

TEST_SUITE_END();
