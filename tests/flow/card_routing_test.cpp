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

// Its card names `endpoint`, of this port if it begins with a slash.
struct agent_with_card {
    explicit agent_with_card(core::card_trust trust)
        : x{[this](const recorded_request& asked) { return answer(asked); },
            [&](config::settings& s) {
                s.agents[0].trust = trust;
                s.agents[0].url += "/registered";
                s.agents[0].bearer = core::secret{"token"};
            }}
    {
    }

    test_support::script answer(const recorded_request& asked) const
    {
        if (asked.method == "GET") {
            const auto url = endpoint.starts_with('/') ? x.agent.url(endpoint) : endpoint;
            return answer_json(flow::card_text("A", url));
        }
        return answer_json(R"({"jsonrpc":"2.0","id":1,"result":")" + asked.target + "\"}");
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

    std::string endpoint = "/";
    relayed x;
};

}  // namespace

TEST_CASE("without trust in the card calls go to the registered address")
{
    agent_with_card agent{core::card_trust::never};
    agent.fetch_card("/a2a/jsonrpc");
    CHECK(agent.called() == "/rpc/registered");
}

TEST_CASE("with trust calls go where the card says, at the same origin and nowhere else, with the agent's credentials")
{
    agent_with_card agent{core::card_trust::same_origin};
    CHECK(agent.called() == "/rpc/registered");
    agent.fetch_card("/a2a/jsonrpc");
    CHECK(agent.called() == "/a2a/jsonrpc");
    CHECK(agent.x.agent.requests().back().header("Authorization") == "Bearer token");
    const auto known = manage(agent.x.gateway, "agents/get", {{"id", "a"}});
    CHECK(known["call_url"] == agent.x.agent.url("/a2a/jsonrpc"));
    CHECK(known["trust_card_url"] == "same-origin");
    agent.fetch_card("/moved");
    CHECK(agent.called() == "/moved");
    for (const std::string& elsewhere : {
             std::string{"http://127.0.0.1:9/other"},
             "https://127.0.0.1:" + std::to_string(agent.x.agent.port()) + "/tls",
             "http://u:p@127.0.0.1:" + std::to_string(agent.x.agent.port()) + "/user",
             std::string{"file:///etc/passwd"},
             agent.x.agent.url("/with?query"),
         }) {
        CAPTURE(elsewhere);
        agent.fetch_card("/back");
        CHECK(agent.called() == "/back");
        agent.fetch_card(elsewhere);
        CHECK(agent.called() == "/rpc/registered");
    }
}

TEST_SUITE_END();
