// Servers with sessions behind a balancer that pins a session to its node by a cookie.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_cookies");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

// Every request without the cookie of a node goes to a new node, and only one node knows a session. What the test asks for is in
// its fields.
class balancer {
public:
    std::size_t cookie_size = 0;  // 0: as long as it is
    std::string attributes = "; Path=/; HttpOnly; SameSite=Lax";
    bool rotates = false;    // sets another cookie of the same node with each answer
    std::string moves_to{};  // where 307 sends an initialize without a cookie; empty: nowhere

    handler as_handler()
    {
        return [this](const recorded_request& request) { return serve(request); };
    }

    // The nodes that are in use lose their sessions.
    void forget()
    {
        const std::lock_guard lock{mutex_};
        forgotten_ = nodes_;
    }

private:
    script serve(const recorded_request& request)
    {
        const std::lock_guard lock{mutex_};
        const auto node = node_of(request.header("Cookie"));
        if (!moves_to.empty() && node == 0) {
            return answer(307, "", {{"Location", moves_to}, {"Set-Cookie", cookie_of(++nodes_)}});
        }
        const auto at = node != 0 ? node : ++nodes_;
        auto fields = field_list{};
        if (node == 0 || rotates) {
            fields.emplace_back("Set-Cookie", "lang=en; Path=/elsewhere");
            fields.emplace_back("Set-Cookie", cookie_of(at));
        }
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        const auto method = body.is_object() ? body.value("method", "") : std::string{};
        const auto session = "s-" + std::to_string(at);
        const auto result = [&](const json& what) {
            return answer_json(json{{"jsonrpc", "2.0"}, {"id", body["id"]}, {"result", what}}.dump(), fields);
        };
        if (method == "initialize") {
            fields.emplace_back("Mcp-Session-Id", session);
            return result(json::parse(
                R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"
            ));
        }
        if (request.header("Mcp-Session-Id") != session || at <= forgotten_) {
            const auto* const lost =
                R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}})";
            return answer(404, lost, fields);
        }
        if (request.method != "POST") {
            return answer(request.method == "DELETE" ? 200 : 405, "", fields);
        }
        if (!body.contains("id")) {
            return answer(202, "", fields);
        }
        if (method == "tools/list") {
            return result(json::parse(R"({"tools":[{"name":"echo","inputSchema":{}}]})"));
        }
        return result({{"content", json::array()}, {"of", session}});
    }

    std::string cookie_of(int node)
    {
        auto value = std::to_string(node) + (rotates ? "." + std::to_string(++rotations_) : std::string{}) + ".pin";
        value.insert(value.end(), std::max(cookie_size, value.size()) - value.size(), 'x');
        return "NODE=" + value + attributes;
    }

    static int node_of(const std::string& cookies)
    {
        const auto at = cookies.find("NODE=");
        return at == cookies.npos ? 0 : std::stoi(cookies.substr(at + 5));
    }

    std::mutex mutex_;
    int nodes_ = 0;
    int forgotten_ = 0;
    int rotations_ = 0;
};

struct balanced {
    explicit balanced(const relayed::adjustment& adjust = {})
        : x{server.as_handler(), [adjust](config::settings& settings) {
                make_mcp(settings);
                settings.log_level = core::log_level::debug;
                if (adjust) {
                    adjust(settings);
                }
            }}
    {
    }

    field_list begin() { return {{"Mcp-Session-Id", flow::mcp_calls::begin(x)}}; }

    std::string node_of(const field_list& session, const field_list& further = {})
    {
        const auto got = post(x, call_of("1"), with(session, further));
        CHECK(got.status == 200);
        CHECK(got.count("Set-Cookie") == 0);
        return json::parse(got.body)["result"].value("of", "");
    }

    std::string last_cookie() const { return x.agent.requests().back().header("Cookie"); }

    balancer server;
    relayed x;
};

}  // namespace

TEST_CASE("A session behind a balancer stays on its node, whatever the length of the cookie that pins it")
{
    for (const std::size_t size : {0U, 200U, 1000U, 4000U}) {
        CAPTURE(size);
        balanced r;
        r.server.cookie_size = size;
        const auto got = post(r.x, initialize_body);
        REQUIRE(got.status == 200);
        CHECK(got.count("Set-Cookie") == 0);
        CHECK(got.header("Mcp-Session-Id").size() <= 512);
        const field_list session{{"Mcp-Session-Id", got.header("Mcp-Session-Id")}};
        for (int i = 0; i < 10; ++i) {
            CHECK(r.node_of(session) == "s-1");
        }
        CHECK(send(r.x, "DELETE", with(usual_fields(), session)).status == 200);
        CHECK(passed_on(r.x).back().header("Cookie").starts_with("NODE=1"));
        const auto lines = r.x.gateway.log().all();
        CHECK(std::ranges::none_of(lines, [](const auto& each) { return each.find(".pin") != each.npos; }));
    }
}

TEST_CASE("A caller's cookies and those of its session stay apart, and so do two sessions")
{
    balanced r;
    const auto first = r.begin();
    const auto second = r.begin();
    const field_list own{{"Cookie", "NODE=2.pin; mine=1"}};
    for (int i = 0; i < 3; ++i) {
        CHECK(r.node_of(first, own) == "s-1");
        CHECK(r.last_cookie() == "NODE=1.pin");
        CHECK(r.node_of(second) == "s-2");
        CHECK(r.last_cookie() == "NODE=2.pin");
    }
    post(r.x, initialize_body, own);
    CHECK(r.x.agent.requests().back().count("Cookie") == 0);
}

TEST_CASE("A session that begins again begins without cookies, and gets those of its new node")
{
    balanced r;
    const auto session = r.begin();
    CHECK(r.node_of(session) == "s-1");
    r.server.forget();
    const auto before = r.x.agent.request_count();
    CHECK(r.node_of(session) == "s-2");
    CHECK(r.x.agent.request(before).header("Cookie") == "NODE=1.pin");
    CHECK(r.x.agent.request(before + 1).count("Cookie") == 0);  // initialize
    CHECK(r.x.agent.request(before + 2).header("Cookie") == "NODE=2.pin");
    CHECK(r.node_of(session) == "s-2");
}

TEST_CASE("A session sends the newest of its cookies, and none that has ended")
{
    balanced r;
    r.server.rotates = true;
    r.server.attributes = "; Path=/; Max-Age=3600";
    const auto session = r.begin();
    const auto by = std::chrono::steady_clock::now() + patience;
    const auto rotation = [&] { return std::stoi(r.last_cookie().substr(std::string_view{"NODE=1."}.size())); };
    CHECK(r.node_of(session) == "s-1");
    while (rotation() < 3 && std::chrono::steady_clock::now() < by) {
        CHECK(r.node_of(session) == "s-1");
        std::this_thread::sleep_for(2ms);
    }
    CHECK(rotation() >= 3);
    r.server.attributes = "; Path=/; Max-Age=0";
    while (!r.last_cookie().empty() && std::chrono::steady_clock::now() < by) {
        post(r.x, call_of("1"), session);
        std::this_thread::sleep_for(2ms);
    }
    CHECK(r.last_cookie().empty());
}

TEST_CASE(
    "A session keeps its cookie at another gateway with the same keys, and begins again there if the cookie is long"
)
{
    for (const std::size_t size : {0U, 1000U}) {
        CAPTURE(size);
        config::settings same;
        balanced r{[&same](config::settings& settings) {
            settings.mcp.session_keys = {core::secret{std::string(64, 'a')}};
            same = settings;
        }};
        r.server.cookie_size = size;
        const auto session = r.begin();
        CHECK(r.node_of(session) == "s-1");
        const running_gateway other{same};
        const auto got = send_to(other.port(), "POST", with(usual_fields(), session), call_of("1"));
        CHECK(got.status == 200);
        CHECK(json::parse(got.body)["result"].value("of", "") == (size == 0 ? "s-1" : "s-3"));
    }
}

TEST_CASE("A redirect may set the cookie that its target asks for")
{
    balanced r;
    r.server.moves_to = "/moved/mcp";
    r.server.attributes = "; Path=/moved";
    const auto session = r.begin();
    CHECK(r.node_of(session) == "s-1");
    CHECK(r.last_cookie() == "NODE=1.pin");
}

TEST_CASE("A request has one Cookie field, with the agent's own cookie first")
{
    balanced r{[](config::settings& settings) {
        settings.agents[0].credentials =
            core::key_credential{core::credential_place::cookie, "sid", core::secret{"own"}};
    }};
    const auto session = r.begin();
    CHECK(r.last_cookie() == "sid=own");
    CHECK(r.node_of(session) == "s-1");
    CHECK(r.x.agent.requests().back().count("Cookie") == 1);
    CHECK(r.last_cookie() == "sid=own; NODE=1.pin");
}

TEST_CASE("The control session and translated calls stay on their nodes")
{
    balanced r{[](config::settings& settings) {
        settings.agents[0].mcp->start = core::mcp_start::eager;
        settings.agents[0].mcp->era = core::mcp_era::legacy;
    }};
    CHECK(r.x.gateway.wait_for_metric(R"(cardea_mcp_session_state{agent="a",state="ready"})", 1));
    const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},)"
                             R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},)"
                             R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
    for (int i = 0; i < 3; ++i) {
        const field_list fields{
            {"MCP-Protocol-Version", "2026-07-28"},
            {"Mcp-Method", "tools/call"},
            {"Mcp-Name", "echo"}
        };
        const auto got = post(r.x, call, fields);
        CHECK(got.status == 200);
        CHECK(json::parse(got.body)["result"].value("of", "").starts_with("s-"));
        CHECK(got.count("Set-Cookie") == 0);
    }
}

TEST_SUITE_END();
