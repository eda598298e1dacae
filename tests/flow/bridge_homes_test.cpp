// Agents whose interfaces have addresses of their own, and tasks that only one of them knows.
#include "tests/flow/bridge_fixture.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/bridge_homes");

namespace {

using enum core::a2a_dialect;
using flow::asked;
using flow::bridged;
using flow::plain_json;

constexpr std::pair<core::a2a_dialect, std::string_view> homes[] = {
    {v1_jsonrpc, "/new"},
    {v1_rest, "/api"},
    {v03_jsonrpc, "/old"},
};

std::string card_at(const std::string& base)
{
    std::string interfaces;
    for (const auto& [speaks, path] : homes) {
        interfaces += interfaces.empty() ? "" : ",";
        interfaces += R"({"url":")" + base + std::string{path} + R"(","protocolBinding":")" +
                      (flow::is_rest(speaks) ? "HTTP+JSON" : "JSONRPC") + R"(","protocolVersion":")" +
                      (flow::is_1(speaks) ? "1.0" : "0.3") + R"("})";
    }
    return R"({"name":"A","description":"d","version":"1","capabilities":{"streaming":true},"defaultInputModes":["text"],)"
           R"("defaultOutputModes":["text"],"skills":[],"supportedInterfaces":[)" +
           interfaces + "]}";
}

// Each address knows the tasks that began there, and no others: of all tasks there is one, `t`.
test_support::script
agent_with_homes(const std::shared_ptr<std::string>& home, const test_support::recorded_request& seen)
{
    if (seen.target.find("/.well-known/") != std::string::npos) {
        return test_support::answer_json(card_at("http://" + seen.header("Host")));
    }
    const auto end = std::min(seen.target.find('/', 1), seen.target.size());
    const auto path = seen.target.substr(0, end);
    const auto* const found = std::ranges::find(homes, path, &std::pair<core::a2a_dialect, std::string_view>::second);
    if (found == std::end(homes)) {
        return test_support::answer(404, "nothing here");
    }
    const bool sends = seen.body.find("messageId") != std::string::npos;
    if (sends) {
        *home = path;
    } else if (*home != path) {
        const auto speaks = found->first;
        return test_support::answer(
            flow::is_rest(speaks) ? 404 : 200,
            flow::error_in(speaks, flow::id_of(seen)),
            {{"Content-Type", "application/json"}}
        );
    }
    auto at_base = seen;
    at_base.target = "/base" + seen.target.substr(end);
    return flow::speaking(found->first)(at_base);
}

struct homely {
    explicit homely(bool bridge = true)
        : with{
              v1_jsonrpc,
              [bridge](config::settings& s) {
                  s.agents[0].dialects.clear();
                  s.agents[0].trust = core::card_trust::same_origin;
                  s.agents[0].bridge = bridge;
              },
              [home = std::make_shared<std::string>()](const test_support::recorded_request& seen) {
                  return agent_with_homes(home, seen);
              }
          }
    {
    }

    std::string path_of_last() const
    {
        const auto target = with.last().target;
        return target.substr(0, std::min(target.find('/', 1), target.size()));
    }

    bridged with;
};

}  // namespace

TEST_CASE("a call for a task goes to the interface where the task lives, in whatever dialect its caller asks")
{
    for (const auto& [creator, path] : homes) {
        CAPTURE(core::name(creator));
        const homely x;
        CHECK(
            plain_json::parse(x.with.ask(creator, asked::send).body) ==
            plain_json::parse(flow::answer_in(creator, asked::send))
        );
        CHECK(x.path_of_last() == path);
        for (const auto caller : flow::dialects) {
            for (const auto what : {asked::get, asked::cancel}) {
                CAPTURE(core::name(caller));
                CAPTURE(flow::method_name(caller, what));
                const auto got = x.with.ask(caller, what);
                CHECK(got.status == 200);
                CHECK(plain_json::parse(got.body) == plain_json::parse(flow::answer_in(caller, what)));
                CHECK(x.path_of_last() == path);
            }
            CHECK(x.with.ask(caller, asked::subscribe).status == 200);
            CHECK(x.path_of_last() == path);
        }
    }
}

TEST_CASE("a message to a task goes where the task lives, and one to no task to the caller's own interface")
{
    const homely x;
    const auto to_task = [](std::string text) {
        text.insert(text.find("\"messageId\""), R"("taskId":"t",)");
        return text;
    };
    CHECK(x.with.ask(v03_jsonrpc, asked::send).status == 200);
    auto next = flow::request_in(v1_rest, asked::send);
    next.body = to_task(next.body);
    CHECK(x.with.ask(v1_rest, next).status == 200);
    CHECK(x.path_of_last() == "/old");
    CHECK(x.with.last().body.find(R"("taskId":"t")") != std::string::npos);
    CHECK(x.with.ask(v1_rest, asked::send).status == 200);
    CHECK(x.path_of_last() == "/api");
}

TEST_CASE("without bridge a call stays with the interface of its caller's dialect")
{
    const homely x{/*bridge=*/false};
    CHECK(x.with.ask(v1_rest, asked::send).status == 200);
    CHECK(x.path_of_last() == "/api");
    CHECK(flow::said_error(v1_jsonrpc, x.with.ask(v1_jsonrpc, asked::get).body) == "-32001 no");
    CHECK(x.path_of_last() == "/new");
}

TEST_SUITE_END();
