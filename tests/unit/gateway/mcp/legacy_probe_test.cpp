#include "gateway/mcp/eras/legacy_clients.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/legacy_probe");

using namespace mcp_path_test;
using gateway::mcp::eras::legacy_probe;
using nlohmann::json;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::script;

namespace {

// Asks one server, which answers as the test says.
class probe_rig : public rig {
public:
    explicit probe_rig(test_support::handler says)
        : server_over_http{std::move(says)}
    {
    }
    ~probe_rig()
    {
        probe.stop();
        poll();
    }

    std::shared_ptr<std::optional<bool>> ask()
    {
        auto said = std::make_shared<std::optional<bool>>();
        boost::asio::co_spawn(
            loop.get_executor(),
            probe.refuses(new_entry()),
            [said](const std::exception_ptr&, bool refuses) { *said = refuses; }
        );
        poll();
        return said;
    }

    bool refuses()
    {
        const auto said = ask();
        REQUIRE(wait_until([&] { return said->has_value(); }));
        return **said;
    }

    std::size_t openings() const
    {
        const auto all = server_over_http.requests();
        return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& each) {
            return each.body.find("initialize\"") != std::string::npos;
        }));
    }

    test_support::scripted_agent server_over_http;
    gateway::mcp::table::local_session_services services{
        .loop = loop,
        .turns = turns,
        .reach = [this](const gateway::model::agent_entry& agent) { return reach(agent); },
        .speaks_modern = [](const core::agent&) { return true; },
        .clock = [this] { return now; },
        .log = log,
        .over_http =
            [this](const gateway::model::agent_entry& agent) {
                mcp::http_settings settings;
                settings.url = server_over_http.url("/mcp");
                settings.server = *agent.record.mcp;
                return settings;
            },
    };
    legacy_probe probe{services};
};

test_support::handler always(const script& what)
{
    return [what](const recorded_request&) { return what; };
}

// The first message of a connection of its own has the id 1.
std::string error_text(int code)
{
    return R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + std::to_string(code) + R"(,"message":"m"}})";
}

script begins(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    if (request.method == "DELETE") {
        return test_support::answer(200, "");
    }
    if (!body.is_object() || !body.contains("id")) {
        return test_support::answer(202, "");
    }
    constexpr auto result =
        R"({"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}})";
    return answer_json(answer_text(body["id"].dump(), result), {{"Mcp-Session-Id", "s-1"}});
}

}  // namespace

TEST_CASE(
    "A server that refuses initialize with an error of the modern era, 400, 404 or 405 is not asked again for a day"
)
{
    for (const auto& says :
         {answer_json(error_text(-32601)),
          answer_json(error_text(-32022)),
          test_support::answer(400, error_text(-32022)),
          test_support::answer(400, "{}"),
          test_support::answer(404, ""),
          test_support::answer(405, "")}) {
        probe_rig x{always(says)};
        CHECK(x.refuses());
        x.now += legacy_probe::verdict_life - 1ms;
        CHECK(x.refuses());
        CHECK(x.openings() == 1);
        x.now += 1ms;
        CHECK(x.refuses());
        CHECK(x.openings() == 2);
    }
}

TEST_CASE("A server that fails has said nothing of its era, and is asked again")
{
    for (const auto& says :
         {answer_json(error_text(-32603)),
          answer_json(error_text(-32000)),
          test_support::answer(408, ""),
          test_support::answer(429, ""),
          test_support::answer(500, error_text(-32022)),
          test_support::answer(503, "")}) {
        probe_rig x{always(says)};
        CHECK(x.refuses());
        CHECK(x.refuses());
        CHECK(x.openings() == 2);
    }
}

TEST_CASE("A server that begins a session speaks the legacy era, and the session is ended")
{
    probe_rig x{begins};
    CHECK_FALSE(x.refuses());
    CHECK_FALSE(x.refuses());
    CHECK(x.openings() == 1);
    const auto deleted = [&x] {
        const auto all = x.server_over_http.requests();
        return std::ranges::any_of(all, [](const recorded_request& each) {
            return each.method == "DELETE" && each.header("Mcp-Session-Id") == "s-1" &&
                   each.header("MCP-Protocol-Version") == "2025-06-18";
        });
    };
    CHECK(x.wait_until(deleted));
}

TEST_CASE("Who waits for a server that is another one now is told at once, and the next one asks that")
{
    probe_rig x{always(test_support::silence())};
    const auto waits = x.ask();
    REQUIRE(x.wait_until([&] { return x.openings() == 1; }));
    x.probe.forget("b");
    x.poll();
    CHECK_FALSE(waits->has_value());
    x.probe.forget("a");
    x.poll();
    CHECK(waits->value_or(false));
    x.server_over_http.otherwise(begins);
    CHECK_FALSE(x.refuses());
}

TEST_SUITE_END();
