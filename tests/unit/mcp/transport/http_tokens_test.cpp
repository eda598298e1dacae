// Servers that want a token of an OAuth server with each request.
#include "mcp/transport/http_transport.hpp"
#include "net/loop/signal.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/transport/http_tokens");

using namespace mcp_test;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

namespace {

// Has the tokens token-1, token-2 and so on up to the last one, and goes on when one is refused.
class token_desk {
public:
    mcp::token_supply supply()
    {
        return [this](core::secret not_this) { return give(std::move(not_this)); };
    }

    void open()
    {
        closed = false;
        for (auto* const each : std::exchange(waiting_, {})) {
            each->set();
        }
    }

    std::string current() const { return "token-" + std::to_string(number); }

    words refused;  // with each question; empty: any token will do
    int number = 1;
    int last = 9;
    bool closed = false;

private:
    net::task<core::result<core::secret>> give(core::secret not_this)
    {
        refused.push_back(not_this.reveal());
        if (closed) {
            net::task_signal opened;
            waiting_.push_back(&opened);
            co_await opened.wait();
        }
        if (not_this.reveal() == current()) {
            ++number;
        }
        if (number > last) {
            co_return core::upstream_error(core::errc::upstream_credentials, "the desk has no token");
        }
        co_return core::secret{current()};
    }

    std::vector<net::task_signal*> waiting_;
};

struct token_rig : transport_rig {
    explicit token_rig(const scripted_agent& agent)
        : transport_rig{agent.url("/mcp")}
    {
        settings.tokens = desk.supply();
    }
    ~token_rig() { desk.open(); }  // a task that waits has to end before its loop

    token_desk desk;
};

bool shows(const recorded_request& asked, const std::string& token)
{
    return asked.count("authorization") == 1 && asked.header("authorization") == "Bearer " + token;
}

// Answers those that show it, and nobody else.
test_support::handler only_for(const std::string& token, test_support::handler rest)
{
    return [token, rest = std::move(rest)](const recorded_request& asked) {
        return shows(asked, token) ? rest(asked) : answer(401, "who?", {{"WWW-Authenticate", "Bearer"}});
    };
}

test_support::script in_turn(const recorded_request& asked)
{
    if (asked.method != "POST") {
        return answer(asked.method == "GET" ? 405 : 200, "");
    }
    return answer_json(result_of(asked.body.find("\"id\":1") != std::string::npos ? 1 : 2));
}

}  // namespace

TEST_CASE("Nothing is sent before the first token, and every request has the token of its time")
{
    scripted_agent agent{in_session(in_turn)};
    token_rig x{agent};
    x.desk.closed = true;
    x.open();
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_until([&] { return x.desk.refused.size() == 1; }));
    CHECK(agent.accepted_connections() == 0);
    x.desk.open();
    REQUIRE(x.wait_for("received " + result_of(1)));
    x.wire->settle({});
    x.desk.number = 2;
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("received " + result_of(2)));
    x.wire->open_stream({});
    REQUIRE(x.wait_for("no stream"));
    x.desk.number = 3;
    x.wire->close(true);
    REQUIRE(x.wait_for("closed"));
    const auto all = agent.requests();
    REQUIRE(all.size() == 4);
    CHECK(shows(all[0], "token-1"));
    CHECK(shows(all[1], "token-2"));
    CHECK(shows(all[2], "token-2"));
    // The end of a session waits for no token.
    CHECK(all[3].method == "DELETE");
    CHECK(shows(all[3], "token-2"));
    CHECK(x.desk.refused == words{"", "", ""});
}

TEST_CASE("A request that is answered 401 is sent once more with another token, and a second 401 is its answer")
{
    scripted_agent agent{only_for("token-2", in_turn)};
    token_rig x{agent};
    x.begin();
    REQUIRE(agent.request_count() == 2);
    CHECK(shows(agent.request(0), "token-1"));
    CHECK(shows(agent.request(1), "token-2"));
    CHECK(agent.request(0).body == agent.request(1).body);
    CHECK(x.desk.refused == words{"", "token-1"});

    agent.otherwise(only_for("another", in_turn));
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("failed 2 session_misconfigured"));
    CHECK(x.why_failed == "status 401 to tools/list; WWW-Authenticate: Bearer; who?");
    CHECK(agent.request_count() == 4);
    CHECK(x.desk.refused == words{"", "token-1", "", "token-2"});
    CHECK(x.told.size() == 1);
}

TEST_CASE("A 401 is the answer if there is no other token, and without any token nothing is sent")
{
    scripted_agent agent{only_for("another", in_turn)};
    token_rig x{agent};
    x.desk.last = 1;
    x.open();
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_for("failed 1 session_misconfigured"));
    CHECK(x.why_failed == "status 401 to initialize; WWW-Authenticate: Bearer");
    CHECK(agent.request_count() == 1);
    REQUIRE(x.wire->send(ask(2, "initialize")).has_value());
    REQUIRE(x.wait_for("failed 2 upstream_credentials"));
    CHECK(x.why_failed == "the desk has no token");
    CHECK(agent.request_count() == 1);
    CHECK(x.told.size() == 3);
}

TEST_CASE("Several requests that are answered 401 at once are each sent once more, with the same new token")
{
    scripted_agent agent{in_session(in_turn)};
    token_rig x{agent};
    x.begin();
    agent.otherwise(only_for("token-2", [](const recorded_request& asked) {
        return answer_json(result_of(asked.body.find("\"id\":2") != std::string::npos ? 2 : 3));
    }));
    x.desk.closed = true;
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wire->send(ask(3, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return x.desk.refused.size() == 3; }));
    x.desk.open();
    REQUIRE(x.wait_for("received " + result_of(2)));
    REQUIRE(x.wait_for("received " + result_of(3)));
    CHECK(agent.request_count() == 5);
    CHECK(x.desk.number == 2);
}

TEST_CASE("A 401 to the request to listen is about the moment: it may be opened with the next token")
{
    scripted_agent agent{only_for("another", in_turn)};
    token_rig x{agent};
    x.desk.last = 1;
    x.open();
    x.wire->settle(modern);
    x.wire->open_stream(ask(2, "subscriptions/listen"));
    REQUIRE(x.wait_for("stream down"));
    CHECK_FALSE(x.has("no stream"));
}

TEST_CASE("A token stays at the server's origin when a redirect leads elsewhere")
{
    scripted_agent other;
    scripted_agent agent{always(answer(307, "", {{"Location", other.url("/mcp")}}))};
    token_rig x{agent};
    x.open();
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_for("failed 1 upstream_status"));
    CHECK(shows(agent.request(0), "token-1"));
    CHECK(other.accepted_connections() == 0);
}

TEST_CASE("A transport that ends while it waits for a token sends nothing when the token comes")
{
    scripted_agent agent{in_session(in_turn)};
    token_rig x{agent};
    x.desk.closed = true;
    x.open();
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_until([&] { return x.desk.refused.size() == 1; }));
    x.wire->close(true);
    REQUIRE(x.wait_for("closed"));
    x.desk.open();
    x.run_for(std::chrono::milliseconds{20});
    CHECK(agent.accepted_connections() == 0);
    CHECK(x.told == words{"connected", "closed"});
}

TEST_CASE("Over HTTP+SSE the stream and the messages have the token, and each is sent once more after a 401")
{
    scripted_agent agent{only_for("token-2", [](const recorded_request& asked) {
        return asked.method == "GET" ? test_support::event_stream() : answer(202, "");
    })};
    token_rig x{agent};
    x.open(true);
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_stream("event: endpoint\ndata: /message\n\n");
    REQUIRE(x.wait_for("connected"));
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 3; }));
    CHECK(agent.request(2).target == "/message");
    CHECK(shows(agent.request(2), "token-2"));
    agent.otherwise(only_for("token-3", always(answer(202, ""))));
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 5; }));
    CHECK(shows(agent.request(4), "token-3"));
    CHECK(x.desk.refused == words{"", "token-1", "", "", "token-2"});
    CHECK(x.told == words{"connected"});
}

TEST_CASE("A server that knows only HTTP+SSE gets a token with both ways of asking it")
{
    scripted_agent agent{[](const recorded_request& asked) {
        return asked.method == "GET" ? test_support::event_stream() : answer(asked.target == "/mcp" ? 405 : 202, "");
    }};
    token_rig x{agent};
    x.open(mcp::fallback_factory(x.loop, x.client, x.settings));
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_stream("event: endpoint\ndata: /message\n\n");
    REQUIRE(x.wait_until([&] { return agent.request_count() == 3; }));
    for (const auto& each : agent.requests()) {
        CHECK(shows(each, "token-1"));
    }
}

TEST_SUITE_END();
