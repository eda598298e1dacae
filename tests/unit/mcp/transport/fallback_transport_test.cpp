#include "mcp/transport/http_transport.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

TEST_SUITE_BEGIN("mcp/transport/fallback_transport");

using namespace mcp_test;
using namespace std::chrono_literals;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::script;
using test_support::scripted_agent;

namespace {

script endpoint_stream(const std::string& endpoint)
{
    auto stream = test_support::event_stream();
    const auto named = "event: endpoint\ndata: " + endpoint + "\n\n";
    constexpr std::string_view digits = "0123456789abcdef";
    const std::string size{digits[named.size() / 16 % 16], digits[named.size() % 16]};
    stream.insert(stream.end() - 1, test_support::bytes{size + "\r\n" + named + "\r\n"});
    return stream;
}

// POST to the URL itself gets `posted`, GET `got`, and what is posted to the endpoint is taken.
test_support::handler server_of(script posted, script got)
{
    return [posted = std::move(posted), got = std::move(got)](const recorded_request& asked) {
        if (asked.target == "/post") {
            return answer(202, "Accepted");
        }
        return asked.method == "GET" ? got : posted;
    };
}

struct fallback_rig {
    explicit fallback_rig(test_support::handler server)
        : agent{std::move(server)},
          x{agent.url("/mcp")}
    {
        x.settings.server.request_timeout = 200ms;
        x.settings.server.initialize_timeout = 5s;
        factory = mcp::fallback_factory(x.loop, x.client, x.settings);
    }

    // On another connection of the same factory, until something is told of it.
    void ask_once(const std::string& method = "initialize")
    {
        x.told.clear();
        x.open(factory);
        REQUIRE(x.wait_for("connected"));
        x.told.clear();
        REQUIRE(x.wire->send(ask(1, method)).has_value());
    }
    std::string outcome(const std::string& method = "initialize")
    {
        ask_once(method);
        REQUIRE(x.wait_until([&] { return !x.told.empty(); }));
        x.run_for(10ms);
        CHECK(x.told.size() == 1);
        return x.told.front();
    }
    std::string methods() const
    {
        std::string all;
        for (const auto& each : agent.requests()) {
            all += (all.empty() ? "" : " ") + each.method;
        }
        return all;
    }
    // Once so many requests have come.
    void answer_over_sse(std::size_t requests)
    {
        REQUIRE(x.wait_until([&] { return agent.request_count() == requests; }));
        agent.send_event(result_of(1));
        REQUIRE(x.wait_for("received " + result_of(1)));
    }

    scripted_agent agent;
    transport_rig x;
    mcp::transport_factory factory;
};

}  // namespace

TEST_CASE("a server that answers initialize with 400, 404 or 405 is spoken to over HTTP+SSE, if it names an endpoint")
{
    for (const unsigned status : {400U, 404U, 405U}) {
        CAPTURE(status);
        fallback_rig it{server_of(answer(status, "Cannot POST /mcp"), endpoint_stream("/post"))};
        it.ask_once();
        it.answer_over_sse(3);
        CHECK(it.x.told == words{"received " + result_of(1)});
        CHECK(it.x.wire->fell_back());
        CHECK(it.agent.request(1).target == "/mcp");
        CHECK(it.agent.request(1).header("accept") == "text/event-stream");
        CHECK(it.agent.request(2).target == "/post");
        CHECK(it.agent.request(2).body == ask(1, "initialize").text);
        it.agent.send_event(notice);
        REQUIRE(it.x.wait_for("received " + notice));
        it.x.wire->settle({});
        REQUIRE(it.x.wire->send(ask(2, "tools/list")).has_value());
        REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 4; }));
        CHECK(it.agent.request(3).target == "/post");
        it.agent.end_streams();
        CHECK(it.x.wait_for("lost upstream_reset"));
        it.x.wire->close(true);
        CHECK(it.x.wait_for("closed"));
    }
}

TEST_CASE("no other answer is taken for that of an older server, nor one to another request")
{
    const auto says = [](script posted, const std::string& method) {
        fallback_rig it{server_of(std::move(posted), endpoint_stream("/post"))};
        auto told = it.outcome(method);
        CHECK(it.methods() == "POST");
        CHECK_FALSE(it.x.wire->fell_back());
        return told;
    };
    for (const unsigned status : {401U, 403U, 406U, 408U, 409U, 410U, 415U, 422U, 429U, 500U, 503U}) {
        CAPTURE(status);
        CHECK(says(answer(status, ""), "initialize")
                  .starts_with(
                      status == 401 || status == 403 ? "failed 1 session_misconfigured" : "failed 1 upstream_status"
                  ));
    }
    CHECK(says(test_support::reset(), "initialize") == "failed 1 upstream_reset");
    CHECK(says(test_support::html(), "initialize").starts_with("failed 1 upstream_protocol"));
    CHECK(says(answer_json(result_of(1)), "initialize") == "received " + result_of(1));
    // It says that it is a newer one.
    const std::string newer = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}})";
    CHECK(says(answer(400, newer), "initialize") == "failed 1 upstream_status modern");
    CHECK(says(answer(404, ""), "server/discover") == "failed 1 upstream_status legacy");
    CHECK(says(answer(405, ""), "tools/list") == "failed 1 upstream_status legacy");
}

TEST_CASE("an older server that does not come up is told as the failure of initialize, once, with both answers")
{
    struct row {
        script got;
        const char* why;
    };
    for (const auto& [got, why] : {
             row{answer(404, ""), "status 404 to GET, and no stream of events"},
             row{answer(405, ""), "status 405 to GET, and no stream of events"},
             row{test_support::html(), "status 200 to GET, and no stream of events"},
             row{test_support::redirect("http://127.0.0.1:1/sse"),
                 "status 302 to GET; Location: http://127.0.0.1:1/sse (only 307 and 308 are followed), and no stream "
                 "of events"},
             row{test_support::event_stream(), "no endpoint was named"},
             row{test_support::silence(), "no endpoint was named"},
             row{events(event(notice)), "no endpoint of the same origin was named first"},
             row{endpoint_stream("http://127.0.0.1:1/post"), "no endpoint of the same origin was named first"},
             row{endpoint_stream("//other/post"), "no endpoint of the same origin was named first"},
             row{endpoint_stream("file:///etc/passwd"), "no endpoint of the same origin was named first"},
         }) {
        CAPTURE(why);
        fallback_rig it{server_of(answer(404, ""), got)};
        CHECK(it.outcome() == "failed 1 upstream_status");
        CHECK(it.x.why_failed == std::string{"status 404 to initialize; over HTTP+SSE: "} + why);
        CHECK(it.methods() == "POST GET");
        CHECK_FALSE(it.x.wire->fell_back());
        CHECK(it.x.wire->send(ask(2, "tools/list")).has_error());
        it.x.wire->close(true);
        CHECK(it.x.wait_for("closed"));
    }
}

TEST_CASE("what a server was found to speak is begun with from then on, until it fails")
{
    fallback_rig it{server_of(answer(404, ""), endpoint_stream("/post"))};
    it.ask_once();
    it.answer_over_sse(3);
    CHECK(it.methods() == "POST GET POST");
    it.ask_once();
    it.answer_over_sse(5);
    CHECK(it.methods() == "POST GET POST GET POST");

    it.agent.otherwise(server_of(answer_json(result_of(1)), answer(405, "")));
    CHECK(it.outcome("server/discover") == "received " + result_of(1));
    CHECK(it.methods().ends_with(" GET POST POST"));
    CHECK(it.outcome() == "failed 1 upstream_status");
    CHECK(it.x.why_failed == "over HTTP+SSE: status 405 to GET, and no stream of events");
    CHECK(it.methods().ends_with(" POST POST GET"));
    CHECK(it.outcome() == "received " + result_of(1));
    CHECK(it.methods().ends_with(" GET POST"));
}

TEST_CASE("a server that does not take initialize over HTTP+SSE either is asked over streamable HTTP again")
{
    const auto serve = [](const recorded_request& asked) {
        return asked.method == "GET" ? endpoint_stream("/post") : answer(404, "");
    };
    fallback_rig it{serve};
    CHECK(it.outcome() == "failed 1 upstream_status legacy");
    CHECK(it.methods() == "POST GET POST");
    CHECK(it.outcome() == "failed 1 upstream_status legacy");
    CHECK(it.methods() == "POST GET POST POST GET POST");
}

TEST_CASE("while the older server is connected to, nothing is sent, and it may be closed or go")
{
    fallback_rig it{server_of(answer(404, ""), test_support::event_stream())};
    it.ask_once();
    REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 2; }));
    CHECK(it.x.wire->send(ask(2, "ping")).has_error());
    SUBCASE("closed")
    {
        it.x.wire->close(true);
        REQUIRE(it.x.wait_for("closed"));
    }
    SUBCASE("gone")
    {
        it.x.wire.reset();
    }
    it.x.run_for(300ms);
    CHECK(it.x.told.size() <= 1);
}

TEST_SUITE_END();
