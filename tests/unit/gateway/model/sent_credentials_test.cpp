#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>

TEST_SUITE_BEGIN("gateway/sent_credentials");

namespace {

using namespace std::chrono_literals;
using core::credential_place;
using core::secret;

core::agent agent_with(core::agent_credentials credentials)
{
    core::agent agent;
    agent.id = "words";
    agent.url = "http://agent.test/a2a";
    agent.credentials = std::move(credentials);
    return agent;
}

std::string sent_by(const core::agent& agent, std::string_view token = {})
{
    const auto sent = gateway::model::credentials_of(agent, token);
    std::string text;
    for (const auto& [name, value] : sent.headers) {
        text += name + ": " + value.reveal() + '\n';
    }
    return text + '?' + sent.query.reveal();
}

std::shared_ptr<const gateway::model::agent_entry> entry_of(const core::agent& agent, const std::string& token = {})
{
    net::client_contexts contexts;
    auto made = gateway::model::make_entry(agent, {30s}, contexts, {}, secret{token});
    REQUIRE(made.has_value());
    return *made;
}

const core::oauth_client client{"https://as.test/token", "me", secret{"s3cret"}, {}, {}, {}};

}  // namespace

TEST_CASE("each kind of credentials is sent where it belongs")
{
    CHECK(sent_by(agent_with({})) == "?");
    CHECK(sent_by(agent_with(secret{"t"})) == "Authorization: Bearer t\n?");
    // RFC 7617 section 2.
    CHECK(
        sent_by(agent_with(core::basic_credentials{"Aladdin", secret{"open sesame"}})) ==
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n?"
    );
    CHECK(sent_by(agent_with(core::key_credential{credential_place::header, "X-Key", secret{"k"}})) == "X-Key: k\n?");
    CHECK(
        sent_by(agent_with(core::key_credential{credential_place::cookie, "sid", secret{"k"}})) == "Cookie: sid=k\n?"
    );
    CHECK(
        sent_by(agent_with(core::key_credential{credential_place::query, "a b", secret{"k&/=\xC3\xA9~"}})) ==
        "?a%20b=k%26%2F%3D%C3%A9~"
    );
    CHECK(sent_by(agent_with(client)) == "?");
    CHECK(sent_by(agent_with(client), "token") == "Authorization: Bearer token\n?");
}

TEST_CASE("an agent's own header fields are sent too, and an Authorization among them instead of the bearer")
{
    auto agent = agent_with({});
    agent.bearer = secret{"t"};
    agent.headers = {{"X-Team", secret{"words"}}};
    CHECK(sent_by(agent) == "Authorization: Bearer t\nX-Team: words\n?");
    agent.headers = {{"authorization", secret{"Other x"}}};
    CHECK(sent_by(agent) == "authorization: Other x\n?");
}

TEST_CASE("a key in the query is in the target of every call, and what is sent is never the caller's")
{
    auto agent = agent_with(core::key_credential{credential_place::query, "key", secret{"k"}});
    agent.headers = {{"X-Team", secret{"words"}}};
    const auto entry = entry_of(agent);
    CHECK(entry->call_head == "POST /a2a?key=k HTTP/1.1\r\nHost: agent.test\r\nX-Team: words\r\n");
    CHECK(entry->fixed_fields == "Host: agent.test\r\nX-Team: words\r\n");
    CHECK(entry->own_fields == std::vector<std::string>{"X-Team"});
    CHECK(gateway::model::with_query("/path?x=1", entry->query_key) == "/path?x=1&key=k");
    CHECK(gateway::model::with_query("/path", {}) == "/path");
    // A parameter of that name gives way, as it does in header fields.
    CHECK(
        gateway::model::with_query("/path?key=theirs&x=1&%6Bey=2&keys=3", entry->query_key) == "/path?x=1&keys=3&key=k"
    );
    CHECK(gateway::model::with_query("/path?key", entry->query_key) == "/path?key=k");
    CHECK(gateway::model::with_query("/path?", entry->query_key) == "/path?key=k");
}

TEST_CASE(
    "The query of an agent's URL is in the target of every call, and a key of the same name replaces its parameter"
)
{
    auto agent = agent_with({});
    agent.queries = {secret{"code=c%3D&v=1"}};
    const auto entry = entry_of(agent);
    CHECK(entry->call_head.starts_with("POST /a2a?code=c%3D&v=1 HTTP/1.1\r\nHost: agent.test\r\n"));
    CHECK(entry->call_url == "http://agent.test/a2a");
    CHECK(gateway::model::with_query("/path?v=2&x=1&code", entry->query_key) == "/path?x=1&code=c%3D&v=1");
    agent.queries = {secret{"code=planted%3Dvalue&v=1"}};
    CHECK(gateway::model::secrets_of(agent).apply("code=planted%3Dvalue&v=1") == core::masked);
    CHECK(
        gateway::model::secrets_of(agent).apply("is planted=value good?") ==
        std::string{"is "} + core::masked + " good?"
    );
    agent.queries = {secret{"code=c%3D&v=1"}};
    agent.credentials = core::key_credential{credential_place::query, "v", secret{"k"}};
    CHECK(sent_by(agent) == "?code=c%3D&v=k");
    agent.credentials = core::key_credential{credential_place::query, "key", secret{"k"}};
    CHECK(sent_by(agent) == "?code=c%3D&v=1&key=k");
}

TEST_CASE("Each of several addresses has its own query, and a call that goes on to another one has that one's")
{
    auto agent = agent_with({});
    agent.rules.emplace().upstreams = {"http://agent.test/a2a", "http://other.test/b", "http://third.test/c"};
    agent.queries = {secret{"code=one"}, secret{"code=two"}, secret{}};
    const auto first = entry_of(agent);
    const auto second = gateway::model::endpoint_of(first, 1);
    const auto third = gateway::model::endpoint_of(first, 2);
    CHECK(first->call_head.starts_with("POST /a2a?code=one HTTP/1.1\r\n"));
    CHECK(second->call_head.starts_with("POST /b?code=two HTTP/1.1\r\n"));
    CHECK(third->call_head.starts_with("POST /c HTTP/1.1\r\n"));
    CHECK(first->record == second->record);
    CHECK(gateway::model::moved_head(first->call_head, *first, *second).starts_with("POST /b?code=two HTTP/1.1\r\n"));
    CHECK(gateway::model::moved_head(second->call_head, *second, *third).starts_with("POST /c HTTP/1.1\r\n"));
    CHECK(gateway::model::moved_path("/a2a/files/x?y=1&code=one", *first, *second) == "/b/files/x?y=1&code=two");
    CHECK(gateway::model::moved_path("/c/files/x?y=1", *third, *first) == "/a2a/files/x?y=1&code=one");
}

TEST_CASE("an agent of an OAuth server cannot be called before there is a token")
{
    CHECK(entry_of(agent_with(client))->awaits_token);
    const auto entry = entry_of(agent_with(client), "token");
    CHECK_FALSE(entry->awaits_token);
    CHECK(entry->call_head.find("\r\nAuthorization: Bearer token\r\n") != std::string::npos);
    CHECK_FALSE(entry_of(agent_with({}))->awaits_token);
}

TEST_CASE("what an agent repeats of its credentials is masked")
{
    const core::agent_credentials all[] = {
        secret{"planted-secret"},
        core::basic_credentials{"me", secret{"planted-secret"}},
        core::key_credential{credential_place::query, "key", secret{"planted-secret"}},
        core::key_credential{credential_place::cookie, "key", secret{"planted-secret"}},
        core::oauth_client{"https://as.test/token", "me", secret{"planted-secret"}, {}, {}, {}},
    };
    for (const auto& each : all) {
        CAPTURE(each.index());
        const auto agent = agent_with(each);
        CHECK(gateway::model::secrets_of(agent).apply("planted-secret") == core::masked);
        for (const auto& [name, value] : gateway::model::credentials_of(agent).headers) {
            CHECK(gateway::model::secrets_of(agent).apply(value.reveal()) == core::masked);
        }
    }
}

TEST_CASE("an agent whose callers have tokens of their own waits for none, and gets no caller's Authorization")
{
    auto exchanging = client;
    exchanging.grant = core::oauth_grant::token_exchange;
    CHECK(gateway::model::exchanges_tokens(agent_with(exchanging)));
    CHECK_FALSE(gateway::model::exchanges_tokens(agent_with(client)));
    CHECK_FALSE(gateway::model::exchanges_tokens(agent_with(secret{"t"})));
    const auto entry = entry_of(agent_with(exchanging));
    CHECK_FALSE(entry->awaits_token);
    CHECK(entry->own_fields == std::vector<std::string>{"Authorization"});
    CHECK(entry->call_head.find("Authorization") == std::string::npos);
    CHECK(entry_of(agent_with(client))->awaits_token);
}

TEST_SUITE_END();
