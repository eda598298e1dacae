// Where calls go when the card of an agent says something else than its registration.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <string>

TEST_SUITE_BEGIN("flow/card routing");

namespace {

using flow::call_body;
using flow::manage;
using flow::relayed;
using test_support::answer_json;
using test_support::recorded_request;

// Its card names `endpoint`, of this port if it begins with a slash or with the port's colon. Empty: it has no card now.
struct agent_with_card {
    explicit agent_with_card(core::card_trust trust, const std::string& url = "/registered")
        : x{[this](const recorded_request& asked) { return answer(asked); },
            [&](config::settings& s) {
                auto& record = s.agents[0];
                record.trust = trust;
                record.url = record.url.substr(0, record.url.rfind('/')) + url;
                record.bearer = core::secret{"token"};
                record.relay_paths = {"/files/*"};
            }}
    {
    }

    test_support::script answer(const recorded_request& asked) const
    {
        if (asked.method == "GET" && asked.target.find("/.well-known/") != std::string::npos) {
            if (endpoint.empty()) {
                return test_support::answer(500, "");
            }
            return answer_json(flow::card_text("A", address(endpoint)));
        }
        return answer_json(R"({"jsonrpc":"2.0","id":1,"result":")" + asked.target + "\"}");
    }

    std::string address(std::string text) const
    {
        const auto port = std::to_string(x.agent.port());
        if (text.starts_with('/')) {
            return "http://127.0.0.1:" + port + text;
        }
        const auto mark = text.find("PORT");
        return mark == std::string::npos ? text : text.replace(mark, 4, port);
    }

    void fetch_card(const std::string& from)
    {
        endpoint = from;
        manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
    }

    // The path that a call arrives at.
    std::string called() const
    {
        const auto answer = flow::call(x.port(), call_body());
        CHECK(answer.status == 200);
        return flow::parsed(answer.body)["result"].get<std::string>();
    }

    // What agents/get says of the address, without where that stands.
    std::string problem() const
    {
        const auto known = manage(x.gateway, "agents/get", {{"id", "a"}});
        for (const auto& each : known["card_status"]["problems"]) {
            if (each["path"] == "url") {
                CHECK(each["severity"] == "warning");
                return each["what"].get<std::string>();
            }
        }
        return {};
    }

    std::string endpoint = "/";
    relayed x;
};

constexpr const char* elsewhere =
    "points to another origin than the agent's url: the gateway sends calls to the agent's url";

}  // namespace

TEST_CASE("calls of an agent that is registered by its base URL go where its card says, from the first one on")
{
    // As the samples of the Python and the Go SDK do.
    for (const std::string said :
         {"/a2a/jsonrpc", "/invoke", "http://localhost:PORT/invoke", "http://[::1]:PORT/invoke"}) {
        CAPTURE(said);
        agent_with_card agent{core::card_trust::same_origin, "/"};
        agent.endpoint = said;
        CHECK(agent.called() == said.substr(said.rfind(said.ends_with("rpc") ? "/a2a" : "/invoke")));
        const auto last = agent.x.agent.requests().back();
        CHECK(last.header("Authorization") == "Bearer token");
        CHECK(last.header("Host") == "127.0.0.1:" + std::to_string(agent.x.agent.port()));
        CHECK(agent.problem() == "");
    }
}

TEST_CASE("calls go to the registered address where trust_card_url is never, and operators are told of the other one")
{
    agent_with_card agent{core::card_trust::never};
    agent.fetch_card("/a2a/jsonrpc");
    CHECK(agent.called() == "/registered");
    CHECK(
        agent.problem() ==
        "is not followed, because trust_card_url is never: the gateway sends calls to the agent's url"
    );
    CHECK(agent.x.gateway.log().wait_for([](std::string_view line) {
        return line.find(R"("event":"card_address_ignored","agent":"a","path":"url","what":"is not followed)") !=
               std::string_view::npos;
    }));
    CHECK(manage(agent.x.gateway, "agents/get", {{"id", "a"}})["trust_card_url"] == "never");
}

TEST_CASE("calls go to another path of the agent's own host and nowhere else, with the agent's credentials")
{
    agent_with_card agent{core::card_trust::same_origin};
    agent.fetch_card("/a2a/jsonrpc");
    CHECK(agent.called() == "/a2a/jsonrpc");
    CHECK(agent.x.agent.requests().back().header("Authorization") == "Bearer token");
    const auto known = manage(agent.x.gateway, "agents/get", {{"id", "a"}});
    CHECK(known["call_url"] == agent.x.agent.url("/a2a/jsonrpc"));
    agent.fetch_card("/moved");
    CHECK(agent.called() == "/moved");
    for (const std::string away :
         {"http://127.0.0.1:9/other", "https://127.0.0.1:PORT/tls", "http://10.0.0.1:PORT/host"}) {
        CAPTURE(away);
        agent.fetch_card("/back");
        CHECK(agent.called() == "/back");
        CHECK(agent.problem() == "");
        agent.fetch_card(away);
        CHECK(agent.called() == "/registered");
        CHECK(agent.problem() == elsewhere);
    }
    for (const std::string no_address : {"http://u:p@127.0.0.1:PORT/user", "file:///etc/passwd", "/with?query"}) {
        CAPTURE(no_address);
        agent.fetch_card("/back");
        agent.fetch_card(no_address);
        CHECK(agent.called() == "/registered");
        CHECK(agent.problem() != "");
    }
}

TEST_CASE("what is relayed opaquely stays below the registered URL when calls go elsewhere")
{
    agent_with_card agent{core::card_trust::same_origin};
    agent.fetch_card("/a2a/jsonrpc");
    const auto got = test_support::request(agent.x.port(), "GET", "/agents/a/files/x");
    CHECK(flow::parsed(got.body)["result"] == "/registered/files/x");
}

TEST_CASE(
    "the first call of an agent without a card goes to its own address, and later ones do not ask for the card again"
)
{
    relayed x{
        [](const recorded_request& asked) {
            return asked.method == "GET" ? test_support::answer(404, "no card") : answer_json(R"({"result":1})");
        },
        [](config::settings& s) { s.agents[0].trust = core::card_trust::same_origin; }
    };
    CHECK(flow::call(x.port(), call_body()).status == 200);
    const auto asked = x.agent.request_count();
    CHECK(asked > 1);
    CHECK(flow::call(x.port(), call_body()).status == 200);
    CHECK(x.agent.request_count() == asked + 1);
}

TEST_CASE("calls go on going where the card said when a later fetch of it fails")
{
    agent_with_card agent{core::card_trust::same_origin};
    agent.fetch_card("/moved");
    CHECK(agent.called() == "/moved");
    agent.endpoint.clear();
    const auto why = flow::error_of(agent.x.gateway, "agents/refreshCard", R"({"id":"a"})");
    CHECK(why["data"]["code"] == "upstream_status");
    CHECK(agent.called() == "/moved");
}

TEST_SUITE_END();
