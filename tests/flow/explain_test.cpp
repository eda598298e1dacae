// access/explain agrees with requests: generated policies, principals, methods and tools, each cell asked both ways.
#include "config/load.hpp"
#include "tests/flow/explain_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/explain");

namespace {

using namespace flow;
using core::json;

constexpr unsigned first_seed = 20261128;
constexpr std::size_t agents_of_one_seed = 16;

// How many configurations are tried; each has hundreds of cells.
unsigned seeds()
{
    const char* const asked = std::getenv("CARDEA_EXPLAIN_SEEDS");  // NOLINT(concurrency-mt-unsafe)
    return asked == nullptr ? 2 : static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
}

struct named_caller {
    std::string provider;
    std::string id;  // empty: anonymous
    field_list fields;
};

constexpr std::string_view providers = R"(
access:
  providers:
    - {name: operator, type: static_token, token: operator-token-0123456789, principal: operator, scopes: [cardea:read, cardea:write]}
    - {name: words, type: static_token, token: words-token-0123456789, principal: w, scopes: [s1], groups: [g1], tenant: t1}
    - {name: gold, type: static_token, token: gold-token-0123456789, principal: g, scopes: [s1, s2], groups: [g2], claims: {plan: [a, b]}}
    - name: keys
      type: api_key
      keys:
        - {name: ci, sha256: KEY_OF_CI, scopes: [s2]}
        - {name: cd, sha256: KEY_OF_CD, groups: [g1, g2], tenant: t2, claims: {plan: b}}
        - {name: off, sha256: KEY_OF_OFF, disabled: true}
)";

const std::vector<named_caller> callers{
    {"operator", "operator", bearer("operator-token-0123456789")},
    {"words", "w", bearer("words-token-0123456789")},
    {"gold", "g", bearer("gold-token-0123456789")},
    {"keys", "ci", {{"X-API-Key", "key-of-ci"}}},
    {"keys", "cd", {{"X-API-Key", "key-of-cd"}}},
    {"keys", "off", {{"X-API-Key", "key-of-off"}}},
    {"", "", {}},
};

const std::vector<std::string> a2a_methods{"message/send", "tasks/get", "SendMessage", "GetTask"};
const std::vector<std::string> mcp_methods{"tools/list", "prompts/list"};
const std::vector<std::string> tools{"plain", "gold", "shown", "table_one"};

class generator {
public:
    explicit generator(unsigned seed)
        : engine_{seed}
    {
    }

    std::string configuration(const std::string& url)
    {
        std::string text{providers};
        for (const auto& [name, key] :
             {std::pair{"KEY_OF_CI", "key-of-ci"}, {"KEY_OF_CD", "key-of-cd"}, {"KEY_OF_OFF", "key-of-off"}}) {
            text.replace(text.find(name), std::string_view{name}.size(), jose::sha256_hex(key));
        }
        text += "  rules:\n";
        for (const auto* agents : {"[a1*, m1*]", "[a*]", "[m2, m3]"}) {
            text += "    - {agents: " + std::string{agents} + ", discover: " + policy(false) +
                    ", call: " + policy(true) + "}\n";
        }
        text += "agents:\n";
        for (std::size_t i = 0; i < agents_of_one_seed; ++i) {
            const bool mcp = i % 2 == 1;
            text += "  " + std::string{mcp ? "m" : "a"} + std::to_string(i) + ":\n    url: " + url +
                    (mcp ? "/mcp" : "/rpc") + "\n";
            text +=
                mcp ? "    protocol: mcp\n    start: lazy\n    bridge: false\n" + tool_rules() : "    bridge: false\n";
            for (const auto* key : {"discover", "call"}) {
                if (chance(3)) {
                    text += "    " + std::string{key} + ": " + policy(std::string_view{key} == "call") + "\n";
                }
            }
        }
        return text;
    }

private:
    bool chance(unsigned of_four) { return std::uniform_int_distribution<unsigned>{0, 3}(engine_) < of_four; }

    const std::string& one_of(const std::vector<std::string>& all)
    {
        return all[std::uniform_int_distribution<std::size_t>{0, all.size() - 1}(engine_)];
    }

    std::string tool_rules()
    {
        std::string text;
        if (chance(2)) {
            text += "    tools: {" + one_of({"deny: [plain]", "deny: [table_*]", "allow: [shown, gold]"}) + "}\n";
        }
        if (chance(2)) {
            text +=
                "    skills: [{id: gold, visibility: extended, required_scopes: [" + one_of({"s1", "s1, s2"}) + "]}]\n";
        }
        return text;
    }

    std::string condition(bool calls)
    {
        static const std::vector<std::string> conditions{
            "scopes: [s1]",
            "scopes: [s2, s3]",
            "groups: [g1]",
            "groups: [g2, g3]",
            "tenants: [t1]",
            "claims: {plan: b}",
            "principals: [w, ci]",
            "providers: [keys]",
            "providers: [words, gold]"
        };
        static const std::vector<std::string> of_methods{
            "methods: [message/send, tools/call]",
            "methods: [tools/list, SendMessage]",
            "methods: [tasks/get]"
        };
        auto text = one_of(conditions);
        if (chance(1)) {
            const auto second = one_of(conditions);
            text += second.substr(0, second.find(':')) == text.substr(0, text.find(':')) ? "" : ", " + second;
        }
        return '{' + text + (calls && chance(2) ? ", " + one_of(of_methods) : "") + '}';
    }

    std::string policy(bool calls)
    {
        if (chance(1)) {
            return one_of({"anyone", "authenticated", "nobody"});
        }
        if (chance(1)) {
            return condition(calls);
        }
        auto text = '[' + condition(calls);
        while (chance(2)) {
            text += ", " + condition(calls);
        }
        return text + ']';
    }

    std::mt19937 engine_;
};

test_support::script answer_of_both(const test_support::recorded_request& asked)
{
    if (asked.method != "POST" || asked.body.find(R"("method":"initialize")") != std::string::npos) {
        return test_support::answer(405, "");
    }
    return test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}})");
}

struct asked_cell {
    std::string agent;
    std::string method;
    std::string tool;  // empty: none
};

http_response send(std::uint16_t port, const asked_cell& cell, field_list fields)
{
    const bool mcp = cell.agent.starts_with('m');
    fields.emplace_back("Content-Type", "application/json");
    json params = json::object();
    if (mcp) {
        fields.emplace_back("Accept", "application/json, text/event-stream");
        fields.emplace_back("MCP-Protocol-Version", "2026-07-28");
        fields.emplace_back("Mcp-Method", cell.method);
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
        if (!cell.tool.empty()) {
            fields.emplace_back("Mcp-Name", cell.tool);
            params["name"] = cell.tool;
        }
    }
    const json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", cell.method}, {"params", std::move(params)}};
    return request(port, "POST", "/agents/" + cell.agent + (mcp ? "/mcp" : ""), fields, body.dump());
}

json params_of(const asked_cell& cell)
{
    json params{{"agent", cell.agent}, {"method", cell.method}};
    if (!cell.tool.empty()) {
        params["tool"] = cell.tool;
    }
    return params;
}

// The code of an error of the gateway's; empty: the answer is the agent's.
std::string code_of(const http_response& got)
{
    return got.header("Cardea-Error");
}

// A rule that names a place in the file has that line's agent or section.
void check_place(const std::string& rule, const std::string& text)
{
    constexpr std::string_view file = "test.yml:";
    if (rule == "none") {
        return;
    }
    REQUIRE(rule.starts_with(file));
    const auto line = static_cast<unsigned>(std::stoul(rule.substr(file.size())));
    const auto path = rule.substr(rule.find(' ') + 1);
    const auto key = path.find("discover") != std::string::npos ? "discover:"
                     : path.find(".call") != std::string::npos  ? "call:"
                     : path.find(".tools") != std::string::npos ? "tools:"
                                                                : "skills:";
    CHECK(line_of(text, line).find(key) != std::string::npos);
}

// The answer to a request, and the rule that denied it.
struct cell_answer {
    std::string code;  // empty: it was let pass
    std::string rule;  // the same
    bool denied = false;
};

cell_answer
check_cell(const running_gateway& gateway, const asked_cell& cell, const named_caller& who, const std::string& text)
{
    const auto got = send(gateway.port(), cell, who.fields);
    auto params = params_of(cell);
    if (who.id.empty()) {
        params["anonymous"] = true;
    } else {
        params["principal"] = {{"provider", who.provider}, {"id", who.id}};
    }
    const auto answer = explained(gateway.admin_port(), params);
    CAPTURE(cell.agent);
    CAPTURE(cell.method);
    CAPTURE(cell.tool);
    CAPTURE(who.id);
    CAPTURE(answer.dump());
    CAPTURE(got.body);
    REQUIRE(answer.contains("result"));
    const auto& said = answer["result"];
    cell_answer answered{code_of(got), {}, !code_of(got).empty()};
    CHECK(said["allowed"] == code_of(got).empty());
    CHECK(said["status"] == got.status);
    CHECK(said.value("code", "") == code_of(got));
    for (const auto& step : said["steps"]) {
        check_place(step["rule"].get<std::string>(), text);
        const bool denies = step["outcome"] == "deny";
        CHECK(step.contains("missing") == denies);
        answered.rule = denies ? step["rule"].get<std::string>() : answered.rule;
    }
    if (!who.id.empty()) {
        auto shown = params_of(cell);
        const bool key = who.fields.front().first == "X-API-Key";
        const auto& value = who.fields.front().second;
        shown["credential"] = key ? json{{"value", value}, {"field", "X-API-Key"}} : json{{"value", value.substr(7)}};
        const auto by_credential = explained(gateway.admin_port(), shown)["result"];
        CHECK(by_credential["allowed"] == said["allowed"]);
        CHECK(by_credential["status"] == said["status"]);
        CHECK(by_credential.value("code", "") == said.value("code", ""));
    }
    // What is not there, agent or tool, is not denied; a tool that a filter hides is not there.
    const bool absent = answered.code == "agent_not_found" && cell.agent == "none";
    answered.denied = answered.denied && !absent && !answered.rule.ends_with(".tools");
    return answered;
}

// Three agents and a principal, whatever their policies are.
void contain_some(running_gateway& gateway)
{
    for (const auto* id : {"a0", "m1", "a10"}) {
        manage(gateway, "agents/contain", {{"id", id}, {"reason", "test"}});
    }
    manage(gateway, "principals/contain", {{"provider", "gold"}, {"principal", "g"}, {"reason", "test"}});
}

// The access lines of a gateway that has ended, in the order of its requests, which one worker has served.
void check_lines(running_gateway& gateway, const std::vector<cell_answer>& answers)
{
    gateway.stop();
    REQUIRE(gateway.wait_until_stopped());
    std::size_t at = 0;
    for (const auto& each : gateway.log().all()) {
        const auto line = parsed(each);
        if (line["event"] != "request") {
            continue;
        }
        REQUIRE(at < answers.size());
        const auto& answer = answers[at++];
        CAPTURE(each);
        const auto rule = line.value("rule", "");
        // Who may call nothing is refused before the method is read, so that another rule may lack the least.
        if (answer.denied && !line.contains("rpc")) {
            CHECK(policy_of(rule) == policy_of(answer.rule));
        } else {
            CHECK(rule == (answer.denied ? answer.rule : ""));
        }
    }
    CHECK(at == answers.size());
}

config::settings settings_of(const std::string& text)
{
    auto loaded = config::load(text, "test.yml", {});
    for (const auto& each : loaded.problems) {
        FAIL(config::to_text(each));
    }
    auto settings = quick_settings();
    settings.limits.failed_credentials = 100'000;
    settings.access = std::move(loaded.value.access);
    settings.agents = std::move(loaded.value.agents);
    settings.rules = std::move(loaded.value.rules);
    return settings;
}

std::vector<asked_cell> cells_of(const config::settings& settings)
{
    std::vector<asked_cell> all;
    std::vector<std::string> ids{"none"};
    for (const auto& each : settings.agents) {
        ids.push_back(each.id);
    }
    for (const auto& id : ids) {
        const bool mcp = id.starts_with('m');
        for (const auto& method : mcp ? mcp_methods : a2a_methods) {
            all.push_back({id, method, ""});
        }
        for (const auto& tool : mcp ? tools : std::vector<std::string>{}) {
            all.push_back({id, "tools/call", tool});
        }
    }
    return all;
}

}  // namespace

TEST_CASE("access/explain says in each cell of a generated matrix what the request is answered")
{
    std::map<std::string, unsigned> codes;  // how many cells have it; empty: they are let pass
    for (unsigned seed = first_seed; seed < first_seed + seeds(); ++seed) {
        CAPTURE(seed);
        test_support::scripted_agent agent{answer_of_both};
        const auto text = generator{seed}.configuration(agent.url(""));
        CAPTURE(text);
        auto settings = settings_of(text);
        const auto cells = cells_of(settings);
        running_gateway gateway{std::move(settings)};
        std::vector<cell_answer> answers;
        const auto check_all = [&] {
            for (const auto& cell : cells) {
                for (const auto& who : callers) {
                    answers.push_back(check_cell(gateway, cell, who, text));
                    ++codes[answers.back().code];
                }
            }
        };
        check_all();
        contain_some(gateway);
        check_all();
        check_lines(gateway, answers);
    }
    for (const auto* code :
         {"",
          "unauthenticated",
          "forbidden",
          "agent_not_found",
          "invalid_params",
          "agent_contained",
          "principal_contained"}) {
        CAPTURE(code);
        CHECK(codes[code] > 20);
    }
}

TEST_SUITE_END();
