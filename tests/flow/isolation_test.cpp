// Fifty callers with equal ids and different rights, over a bundle and both bridges: each answer is its caller's, and no list has a name that
// is forbidden to whom it is for. CARDEA_ISOLATION_CALLS in the environment: at least so many calls, instead of 10,000 (2,000 where the build
// is slower).
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/isolation_servers.hpp"
#include "tests/support/plain_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/isolation");

namespace {

using namespace flow;
using namespace flow::isolation;
using namespace std::chrono_literals;
using test_support::http_client;
using test_support::plain_agent;
using test_support::request_text;

#ifdef CARDEA_FULL_VOLUME
constexpr std::size_t usual_calls = 10'000;
#else
constexpr std::size_t usual_calls = 2000;
#endif

// Three servers for callers of each parity: `m` of the modern era, `l` of the legacy one, `w` an agent of A2A.
struct world {
    findings wrong;
    std::array<servers, 2> of{servers{0, wrong}, servers{1, wrong}};
    std::vector<std::unique_ptr<plain_agent>> listening;
    std::mutex mutex;
    std::vector<std::pair<std::size_t, std::string>> tasks;  // of the bridge to `m`, and whose they are
    std::unique_ptr<running_gateway> gateway;

    world()
    {
        auto settings = quick_settings();
        settings.workers = 2;
        settings.timeouts.upstream_head = 20s;
        for (std::size_t number = 0; number < callers; ++number) {
            const auto name = "p" + std::to_string(number);
            auto scopes = has_scope(number) ? std::vector<std::string>{"deep"} : std::vector<std::string>{};
            settings.access.providers.push_back(token(name, "token-of-" + name + "-0123456789", std::move(scopes)));
        }
        for (std::size_t parity = 0; parity < 2; ++parity) {
            add_agents(settings, parity);
        }
        for (const auto* const name : {"default", "search"}) {
            core::mcp_bundle bundle;
            bundle.name = name;
            bundle.agents = {{"*"}};
            bundle.search = bundle.name == "search";
            settings.mcp.bundles.push_back(std::move(bundle));
        }
        gateway = std::make_unique<running_gateway>(std::move(settings));
    }

    std::string serve(plain_agent::handler with)
    {
        return listening.emplace_back(std::make_unique<plain_agent>(std::move(with)))->url("/rpc");
    }

    void add_agents(config::settings& settings, std::size_t parity)
    {
        core::access_rule rule;
        for (auto number = parity; number < callers; number += 2) {
            rule.principals.push_back("p" + std::to_string(number));
        }
        const auto suffix = std::to_string(parity);
        auto& all = of[parity];
        for (const bool modern : {true, false}) {
            auto record = a2a_agent((modern ? "m" : "l") + suffix, serve([&all, modern](const auto& asked) {
                                        return all.mcp(asked, modern);
                                    }));
            record.speaks = core::protocol::mcp;
            record.skills = {{"deep", core::skill_visibility::extended, {"deep"}}};
            record.mcp.emplace().era = modern ? core::mcp_era::modern : core::mcp_era::legacy;
            settings.agents.push_back(std::move(record));
        }
        auto words = a2a_agent("w" + suffix, serve([&all](const auto& asked) { return all.a2a(asked); }));
        words.card =
            R"({"name":"Words","description":"d","version":"1","supportedInterfaces":[{"url":"http://127.0.0.1:9/",)"
            R"("protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},)"
            R"("defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[]})";
        settings.agents.push_back(std::move(words));
        for (auto each = settings.agents.end() - 3; each != settings.agents.end(); ++each) {
            each->discover = each->call = only(rule);
        }
    }
};

class caller {
public:
    caller(world& in, std::size_t number)
        : in_{in},
          number_{number},
          own_{std::to_string(number % 2)},
          other_{std::to_string(1 - number % 2)},
          port_{in.gateway->port()}
    {
    }

    std::size_t calls() const { return calls_; }

    void begin()
    {
        const auto got =
            ask("/mcp",
                {{"jsonrpc", "2.0"},
                 {"id", 1},
                 {"method", "initialize"},
                 {"params",
                  {{"protocolVersion", "2025-11-25"},
                   {"capabilities", {{"elicitation", json::object()}}},
                   {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}});
        session_ = {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2025-11-25"}};
    }

    void take(std::size_t step)
    {
        mark_ = mark_of(number_, step);
        switch ((step + number_ / 5) % kinds) {
            case 0:
                return check(modern("/mcp", "m" + own_ + "__mark", argument()));
            case 1:
                return check(legacy("l" + own_ + "__mark", argument()));
            case 2:
                return call_by_a2a();
            case 3:
                return check(a2a("l" + own_, "SendStreamingMessage", skill("mark")));
            case 4:
                return check(modern("/agents/w" + own_ + "/mcp", "send_message", {{"message", mark_}}));
            case 5:
                return check(legacy("w" + own_ + "__send_message", {{"message", mark_}}));
            case 6:
                return answer_question();
            case 7:
                return answer_task();
            case 8:
                return look_at_lists();
            default:
                return reach_for_others();
        }
    }

private:
    // All callers use the same ids, tokens and names of messages.
    http_response ask(const std::string& target, const json& body, field_list fields = {})
    {
        ++calls_;
        if (!line_) {
            line_.emplace(port_);
        }
        line_->send(text_of(target, body, std::move(fields)));
        auto got = line_->read_response();
        if (got.header("Connection") == "close") {
            line_.reset();
        }
        return got;
    }

    std::string text_of(const std::string& target, const json& body, field_list fields) const
    {
        fields.emplace_back("Authorization", "Bearer token-of-p" + std::to_string(number_) + "-0123456789");
        fields.emplace_back("Content-Type", "application/json");
        fields.emplace_back("Accept", "application/json, text/event-stream");
        return request_text("POST", target, fields, body.dump());
    }

    static json body_of(std::string_view method, json params)
    {
        return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
    }

    json argument() const { return {{"mark", mark_}}; }

    static json tool_call(const std::string& tool, json arguments)
    {
        return {{"name", tool}, {"arguments", std::move(arguments)}, {"_meta", {{"progressToken", "t"}}}};
    }

    http_response modern(const std::string& target, const std::string& tool, json arguments)
    {
        return modern(target, "tools/call", tool_call(tool, std::move(arguments)), {{"Mcp-Name", tool}});
    }

    http_response modern(const std::string& target, std::string_view method, json params, field_list fields)
    {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
        fields.emplace_back("MCP-Protocol-Version", "2026-07-28");
        fields.emplace_back("Mcp-Method", std::string{method});
        return ask(target, body_of(method, std::move(params)), std::move(fields));
    }

    http_response legacy(const std::string& tool, json arguments)
    {
        return ask("/mcp", body_of("tools/call", tool_call(tool, std::move(arguments))), session_);
    }

    http_response a2a(const std::string& agent, std::string_view method, json params)
    {
        return ask("/agents/" + agent, body_of(method, std::move(params)), {{"A2A-Version", "1.0"}});
    }

    static json message(json part)
    {
        return {{"message", {{"messageId", "m"}, {"role", "ROLE_USER"}, {"parts", json::array({std::move(part)})}}}};
    }

    json skill(std::string_view name) const
    {
        return message({{"data", {{"skill", name}, {"arguments", argument()}}}});
    }

    void say(std::string_view what, const http_response& got)
    {
        in_.wrong.add(
            mark_ + ' ' + std::string{what} + ": " + std::to_string(got.status) + ' ' + got.body.substr(0, 300)
        );
    }

    // It has this caller's mark and no other.
    void check(const http_response& got)
    {
        if (got.status != 200 || marks_in(got.body) != std::set{mark_} ||
            got.body.find("\"id\":1") == std::string::npos) {
            say("answered", got);
        }
    }

    // It has nobody's mark, perhaps but this caller's own, and is no success unless it may be.
    void check_refused(const http_response& got, bool may_succeed = false)
    {
        const bool refused = got.status >= 400 || got.body.find("\"error\"") != std::string::npos ||
                             got.body.find("\"isError\":true") != std::string::npos;
        auto marks = marks_in(got.body);
        marks.erase(mark_);
        if (!marks.empty() || (!refused && !may_succeed)) {
            say("refused", got);
        }
    }

    void call_by_a2a()
    {
        const auto got = a2a("m" + own_, "SendMessage", skill("mark"));
        check(got);
        const auto read = json::parse(got.body, nullptr, /*allow_exceptions=*/false);
        if (!read.is_object() || !read.contains("result")) {
            return;
        }
        const auto id = read["result"]["task"].value("id", "");
        check(a2a("m" + own_, "GetTask", {{"id", id}}));
        const std::lock_guard lock{in_.mutex};
        in_.tasks.emplace_back(number_, id);
    }

    // What a server asks in a session it asks its caller, under an id that all sessions have.
    void answer_question()
    {
        ++calls_;
        http_client asking{port_};
        asking.send(text_of("/mcp", body_of("tools/call", tool_call("l" + own_ + "__ask", argument())), session_));
        auto heard = asking.read_until("elicitation/create");
        heard += asking.read_until("\n\n");
        const auto from = heard.rfind("data: ") + 6;
        const auto question = json::parse(heard.substr(from, heard.find('\n', from) - from));
        const json answer{
            {"jsonrpc", "2.0"},
            {"id", question["id"]},
            {"result", {{"action", "accept"}, {"content", {{"mark", question["params"]["message"]}}}}}
        };
        const auto taken = ask("/mcp", answer, session_);
        heard += asking.read_until("\r\n0\r\n\r\n");
        if (taken.status != 202 || marks_in(heard) != std::set{mark_} ||
            heard.find(mark_ + mark_) == std::string::npos) {
            in_.wrong.add(mark_ + " was asked: " + std::to_string(taken.status) + ' ' + heard);
        }
    }

    void answer_task()
    {
        const auto asked = a2a("m" + own_, "SendMessage", skill("ask"));
        check(asked);
        const auto read = json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
        if (asked.body.find("INPUT_REQUIRED") == std::string::npos) {
            return say("was not asked", asked);
        }
        auto params = message({{"text", mark_}});
        params["message"]["taskId"] = read["result"]["task"]["id"];
        const auto got = a2a("m" + own_, "SendMessage", params);
        check(got);
        if (got.body.find(mark_ + mark_) == std::string::npos) {
            say("got for its answer", got);
        }
    }

    void check_list(const http_response& got, bool has_all = true)
    {
        bool forbidden = !has_scope(number_) && got.body.find("__deep") != std::string::npos;
        bool whole = true;
        for (const auto* const letter : {"m", "l", "w"}) {
            forbidden = forbidden || got.body.find(letter + other_ + "__") != std::string::npos ||
                        got.body.find("- " + (letter + other_)) != std::string::npos;
            whole = whole && got.body.find(letter + own_ + "__") != std::string::npos;
        }
        if (got.status != 200 || forbidden || (has_all && !whole)) {
            say("listed", got);
        }
    }

    void look_at_lists()
    {
        check_list(modern("/mcp", "tools/list", json::object(), {}));
        check_list(ask("/mcp", body_of("tools/list", json::object()), session_));
        check_list(modern("/mcp", "server/discover", json::object(), {}), false);
        check_list(modern("/mcp/search", "tools/list", json::object(), {}), false);
        check_list(modern("/mcp/search", "find_tools", {{"query", "mark message deep"}, {"limit", 50}}));
    }

    void reach_for_others()
    {
        check_refused(modern("/mcp", "m" + other_ + "__mark", argument()));
        check_refused(legacy("l" + other_ + "__ask", argument()));
        check_refused(a2a("m" + other_, "SendMessage", skill("mark")));
        check_refused(modern("/agents/w" + other_ + "/mcp", "send_message", {{"message", mark_}}));
        if (!has_scope(number_)) {
            check_refused(modern("/mcp", "m" + own_ + "__deep", argument()));
            check_refused(a2a("l" + own_, "SendMessage", skill("deep")));
        }
        // One context that all name: whoever was first has it.
        auto shared = skill("mark");
        shared["message"]["contextId"] = "shared";
        check_refused(a2a("m" + own_, "SendMessage", shared), true);
        check_refused(
            modern("/mcp", "w" + own_ + "__send_message", {{"message", mark_}, {"contextId", "shared"}}),
            true
        );
        for (const auto* const task : {"t-0", "t-1", "t-2"}) {
            check_task_of_agent(task);
        }
        for (const auto& [whose, id] : known_tasks()) {
            if (whose != number_) {
                check_refused(a2a("m" + own_, "GetTask", {{"id", id}}));
            }
        }
    }

    // The ids that an agent makes can be guessed here; a task may be this caller's own, of another step.
    void check_task_of_agent(const std::string& id)
    {
        const auto got = modern("/agents/w" + own_ + "/mcp", "get_task", {{"taskId", id}});
        for (const auto& each : marks_in(got.body)) {
            if (std::stoul(each.substr(3)) != number_) {
                say("got another's task", got);
            }
        }
    }

    // The latest five.
    std::vector<std::pair<std::size_t, std::string>> known_tasks()
    {
        const std::lock_guard lock{in_.mutex};
        const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(in_.tasks.size(), 5));
        return {in_.tasks.end() - count, in_.tasks.end()};
    }

    world& in_;
    std::size_t number_;
    std::string own_;  // the parity of what it may call
    std::string other_;
    std::uint16_t port_;
    std::optional<http_client> line_;
    field_list session_;
    std::string mark_;
    std::size_t calls_ = 0;
};

}  // namespace

TEST_CASE("Fifty callers with equal ids and different rights get their own answers, and see no forbidden name")
{
    const char* const asked = std::getenv("CARDEA_ISOLATION_CALLS");  // NOLINT(concurrency-mt-unsafe): one thread yet
    const std::size_t wanted = asked == nullptr ? usual_calls : std::stoul(asked);
    world in;
    std::vector<caller> all;
    all.reserve(callers);
    for (std::size_t number = 0; number < callers; ++number) {
        all.emplace_back(in, number).begin();
    }
    std::vector<std::thread> threads;
    for (auto& each : all) {
        threads.emplace_back([&each, &in, wanted] {
            try {
                for (std::size_t step = 0; each.calls() < wanted / callers || step < kinds; ++step) {
                    each.take(step);
                }
            } catch (const std::exception& error) {
                in.wrong.add(error.what());
            }
        });
    }
    std::size_t calls = 0;
    for (std::size_t number = 0; number < callers; ++number) {
        threads[number].join();
        calls += all[number].calls();
    }
    INFO(in.wrong.some());
    CHECK(in.wrong.count() == 0);
    CHECK(calls >= wanted);
}

TEST_SUITE_END();
