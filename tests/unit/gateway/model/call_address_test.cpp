#include "gateway/model/call_address.hpp"

#include "tests/support/hostile_addresses.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/call_address");

namespace {

core::agent agent_at(std::string url)
{
    core::agent agent;
    agent.id = "a";
    agent.url = std::move(url);
    agent.trust = core::card_trust::same_origin;
    return agent;
}

core::json card_at(const std::string& url)
{
    return core::json{{"name", "n"}, {"url", url}};
}

// Where calls go; what is wrong in parentheses.
std::string route(const core::agent& agent, const core::json& card, const std::string& found_at = {})
{
    const auto to = gateway::model::call_address_of(agent, card, found_at);
    return to.problem ? to.route.url + "(" + to.problem->path + ")" : to.route.url;
}

// "1.0/rest http://h/x t;" for each interface.
std::string interfaces(const core::agent& agent, const core::json& card, const std::string& found_at = {})
{
    std::string text;
    for (const auto& each : gateway::model::call_address_of(agent, card, found_at).route.interfaces) {
        text.append(core::name(each.speaks)).append(1, ' ').append(each.url);
        text += each.tenant.empty() ? ";" : ' ' + each.tenant + ';';
    }
    return text;
}

}  // namespace

TEST_CASE("the path of a card is taken at the scheme, host and port of the agent's url, and that host stays")
{
    struct row {
        const char* registered;
        const char* said;
        const char* called;  // empty: the registered URL
    };
    for (const auto& each : {
             row{"http://h:9000", "http://h:9000/a2a/jsonrpc", "http://h:9000/a2a/jsonrpc"},
             row{"http://h:9000/", "http://H:9000/invoke", "http://h:9000/invoke"},
             row{"http://h/", "http://h:80/invoke", "http://h/invoke"},
             row{"https://h:443/", "https://h/invoke", "https://h:443/invoke"},
             row{"http://127.0.0.1:9/", "http://localhost:9/x", "http://127.0.0.1:9/x"},
             row{"http://localhost:9/", "http://[::1]:9/x", "http://localhost:9/x"},
             row{"http://[::1]:9/", "http://127.255.3.4:9/x", "http://[::1]:9/x"},
             row{"http://h:9000", "http://h:9000/", ""},
             row{"http://h:9000/x", "http://h:9000/x", ""},
             row{"http://127.0.0.1:9", "http://localhost:9", ""},
         }) {
        CAPTURE(each.registered);
        CAPTURE(each.said);
        CHECK(route(agent_at(each.registered), card_at(each.said)) == each.called);
    }
}

TEST_CASE("a card that points elsewhere changes nothing, and is a problem")
{
    const auto agent = agent_at("http://127.0.0.1:9000/");
    for (const auto* said : {
             "http://127.0.0.1:9001/x",         // another port
             "https://127.0.0.1:9000/x",        // another scheme
             "http://128.0.0.1:9000/x",         // another host
             "http://127.evil.example:9000/x",  // no address of loopback
             "http://localhost.evil:9000/x",
             "http://[::2]:9000/x",
             "http://u@127.0.0.1:9000/x",
             "http://127.0.0.1:9000/x?y",
             "http://127.0.0.1:9000/x#y",
             "//127.0.0.1:9000/x",
             "/x",
             "ws://127.0.0.1:9000/x",
             "",
             "http://127.0.0.1:9000/.well-known/agent-card.json",
         }) {
        CAPTURE(said);
        CHECK(route(agent, card_at(said)) == "(url)");
    }
    CHECK(route(agent_at("http://10.0.0.1:9000/"), card_at("http://localhost:9000/x")) == "(url)");
    CHECK(route(agent, *core::parse_json(R"({"name":"n","url":"http://h/","preferredTransport":"GRPC"})")) == "()");
}

TEST_CASE("the first interface for JSON-RPC counts, unless the registered url is another one of them")
{
    const auto card = *core::parse_json(
        R"({"supportedInterfaces":[{"url":"http://h/grpc","protocolBinding":"GRPC"},
        {"url":"http://h/one","protocolBinding":"JSONRPC"},{"url":"http://h/two","protocolBinding":"JSONRPC"}]})"
    );
    CHECK(route(agent_at("http://h"), card) == "http://h/one");
    CHECK(route(agent_at("http://h/two"), card) == "");
    CHECK(route(agent_at("http://i"), card) == "(supportedInterfaces[1].url)");
}

TEST_CASE("a card found at the root of the origin says nothing about an agent with a path, which may be another one")
{
    const auto card = card_at("http://h/other");
    auto agent = agent_at("http://h/mine/");
    const std::string at_root = "http://h/.well-known/agent-card.json";
    CHECK(route(agent, card, "http://h/mine/.well-known/agent-card.json") == "http://h/other");
    CHECK(route(agent, card, at_root) == "(url)");
    agent.card_url = at_root;
    CHECK(route(agent, card, at_root) == "http://h/other");
    CHECK(route(agent_at("http://h"), card, at_root) == "http://h/other");
}

TEST_CASE("no card is followed where trust_card_url is never, and one that says the same is no problem")
{
    auto agent = agent_at("http://h/");
    agent.trust = core::card_trust::never;
    CHECK(route(agent, card_at("http://h/x")) == "(url)");
    CHECK(route(agent, card_at("http://h")) == "");
}

TEST_CASE("a card leads calls to no address but the agent's own")
{
    const auto agent = agent_at("https://agent.example/a2a");
    for (const auto& hostile : test_support::hostile_addresses()) {
        CAPTURE(hostile.substr(0, 80));
        const auto to = gateway::model::call_address_of(agent, card_at(hostile), {});
        CHECK((to.route.url.empty() || to.route.url.starts_with("https://agent.example/")));
        for (const auto& each : to.route.interfaces) {
            CHECK(each.url.starts_with("https://agent.example/"));
        }
    }
}

TEST_CASE("each interface of a card has its own path on the agent's host, and those elsewhere have the agent's url")
{
    const auto card = *core::parse_json(
        R"({"url":"http://h/old","protocolVersion":"0.3.0","additionalInterfaces":[
        {"url":"http://h/old","transport":"JSONRPC"},{"url":"http://h/old/rest","transport":"HTTP+JSON"}],
        "supportedInterfaces":[{"url":"http://h/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
        {"url":"http://other/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"t"},
        {"url":"http://h/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"u"}]})"
    );
    CHECK(
        interfaces(agent_at("http://h/"), card) ==
        "1.0/jsonrpc http://h/rpc;1.0/rest http://h/rest u;0.3/jsonrpc http://h/old;0.3/rest http://h/old/rest;"
    );
    CHECK(
        interfaces(agent_at("http://10.0.0.1:9000"), card) ==
        "1.0/jsonrpc http://10.0.0.1:9000;0.3/jsonrpc http://10.0.0.1:9000;"
    );
    auto closed = agent_at("http://h/");
    closed.trust = core::card_trust::never;
    CHECK(interfaces(closed, card) == "1.0/jsonrpc http://h/;0.3/jsonrpc http://h/;");
}

TEST_CASE("an interface of HTTP+JSON that is elsewhere is at the agent's url if the card has none of JSON-RPC")
{
    const auto card = *core::parse_json(
        R"({"supportedInterfaces":[{"url":"http://0.0.0.0:9/api","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]})"
    );
    CHECK(interfaces(agent_at("http://h/"), card) == "1.0/rest http://h/;");
    CHECK(route(agent_at("http://h/"), card) == "(supportedInterfaces[0].url)");
    CHECK(interfaces(agent_at("http://0.0.0.0:9"), card) == "1.0/rest http://0.0.0.0:9/api;");
    CHECK(route(agent_at("http://0.0.0.0:9"), card) == "");
    auto alone = agent_at("http://0.0.0.0:9");
    alone.bridge = false;
    CHECK(route(alone, card) == "()");
}

TEST_CASE("a card without a version leaves the generation open, and one without an address says nothing")
{
    CHECK(interfaces(agent_at("http://h"), card_at("http://h/x")) == "1.0/jsonrpc http://h/x;0.3/jsonrpc http://h/x;");
    CHECK(interfaces(agent_at("http://h"), *core::parse_json(R"({"name":"n"})")) == "");
}

TEST_CASE("Calls by gRPC go where the operator says, and the card says in which generation and with which tenant")
{
    auto agent = agent_at("http://h/a2a");
    agent.grpc_url = "grpcs://g:9443";
    const auto both = *core::parse_json(
        R"({"supportedInterfaces":[{"url":"http://h/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
        {"url":"elsewhere:1","protocolBinding":"GRPC","protocolVersion":"1.0","tenant":"t"},
        {"url":"elsewhere:2","protocolBinding":"GRPC","protocolVersion":"0.3"}]})"
    );
    CHECK(interfaces(agent, both) == "1.0/jsonrpc http://h/a2a;1.0/grpc https://g:9443 t;0.3/grpc https://g:9443;");
    // A card that does not name gRPC tells by its other interfaces.
    const auto json = *core::parse_json(
        R"({"supportedInterfaces":[{"url":"http://h/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]})"
    );
    CHECK(interfaces(agent, json) == "1.0/jsonrpc http://h/a2a;1.0/grpc https://g:9443;");
    CHECK(
        interfaces(agent, *core::parse_json(R"({"name":"n"})")) ==
        "1.0/jsonrpc http://h/a2a;0.3/jsonrpc http://h/a2a;1.0/grpc https://g:9443;0.3/grpc https://g:9443;"
    );
    CHECK(gateway::model::reaches_grpc(agent, json, {}));
    agent.dialects = {core::a2a_dialect::v1_jsonrpc};
    CHECK_FALSE(gateway::model::reaches_grpc(agent, both, {}));
    agent.dialects = {core::a2a_dialect::v03_grpc, core::a2a_dialect::v1_rest};
    CHECK(interfaces(agent, json) == "0.3/grpc https://g:9443;1.0/rest http://h/a2a;");
}

TEST_CASE("An agent of gRPC alone has no other interfaces, whatever its card names")
{
    const auto agent = agent_at("grpc://h:50051");
    const auto card = *core::parse_json(
        R"({"supportedInterfaces":[{"url":"http://h:50051/x","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
        {"url":"h:50051","protocolBinding":"GRPC","protocolVersion":"1.0","tenant":"t"}]})"
    );
    CHECK(interfaces(agent, card) == "1.0/grpc http://h:50051 t;");
    CHECK(route(agent, card) == "");
    CHECK(
        interfaces(agent, *core::parse_json(R"({"name":"n"})")) == "1.0/grpc http://h:50051;0.3/grpc http://h:50051;"
    );
}

TEST_CASE("A card leads calls by gRPC to the agent's own host and port, and nowhere else")
{
    const auto reaches = [](const core::agent& agent, const std::string& url, const std::string& found_at = {}) {
        const core::json card{
            {"supportedInterfaces", {{{"url", url}, {"protocolBinding", "GRPC"}, {"protocolVersion", "1.0"}}}}
        };
        return gateway::model::reaches_grpc(agent, card, found_at);
    };
    const auto agent = agent_at("http://h:9000/a2a");
    for (const auto* same : {"h:9000", "H:9000", "grpc://h:9000", "http://h:9000", "http://h:9000/"}) {
        CAPTURE(same);
        CHECK(reaches(agent, same));
    }
    for (const auto* other :
         {"h:9001",
          "i:9000",
          "h",
          "https://h:9000",
          "grpcs://h:9000",
          "http://h:9000/grpc",
          "h:9000/x",
          "u@h:9000",
          "h:9000?x",
          "h:9000#x",
          "",
          "dns:///h:9000",
          "//h:9000"}) {
        CAPTURE(other);
        CHECK_FALSE(reaches(agent, other));
    }
    CHECK(reaches(agent_at("https://h/a2a"), "h:443"));
    CHECK(reaches(agent_at("http://127.0.0.1:9"), "localhost:9"));
    // A card at the root of the origin may be another agent's.
    CHECK_FALSE(reaches(agent, "h:9000", "http://h:9000/.well-known/agent-card.json"));
    auto distrusted = agent;
    distrusted.trust = core::card_trust::never;
    CHECK_FALSE(reaches(distrusted, "h:9000"));
    distrusted.dialects = {core::a2a_dialect::v1_grpc};
    CHECK(reaches(distrusted, "h:9001"));
    CHECK(interfaces(distrusted, *core::parse_json(R"({"name":"n"})")) == "1.0/grpc http://h:9000;");
}

TEST_CASE("the operator decides which dialects an agent speaks, and the card where")
{
    using enum core::a2a_dialect;
    auto agent = agent_at("http://h/");
    agent.dialects = {v03_rest, v03_jsonrpc, v1_rest};
    const auto card = *core::parse_json(
        R"({"supportedInterfaces":[{"url":"http://h/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
        {"url":"http://h/api","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"t"}]})"
    );
    CHECK(interfaces(agent, card) == "0.3/rest http://h/api;0.3/jsonrpc http://h/rpc;1.0/rest http://h/api t;");
    CHECK(
        interfaces(agent, *core::parse_json(R"({"name":"n"})")) ==
        "0.3/rest http://h/;0.3/jsonrpc http://h/;1.0/rest http://h/;"
    );
}

TEST_SUITE_END();
