// A card, an empty line, the arguments of a call, an empty line, and answers and events of an agent, one a line. Tools are as lists have
// them to be, requests and results stay JSON for a second reader, and what an agent says changes nothing if it cannot be read.
#include "mcp/bridge/agent_reply.hpp"
#include "mcp/bridge/agent_tools.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using nlohmann::json;
using tests::require;

namespace {

std::string_view take(std::string_view& rest, std::string_view end)
{
    const auto at = std::min(rest.find(end), rest.size());
    const auto part = rest.substr(0, at);
    rest.remove_prefix(std::min(at + end.size(), rest.size()));
    return part;
}

void check_card(std::string_view text, std::string_view arguments)
{
    const auto card = core::parse_json(text);
    if (!card) {
        return;
    }
    for (const auto form : {core::tool_form::agent, core::tool_form::skills}) {
        const auto tools = mcp::tools_of_card(*card, form, "agent");
        std::string before;
        for (const auto& each : tools.lists[mcp::list_kind::tools]) {
            const auto item = mcp::read_list_item(each.raw, mcp::list_kind::tools, true);
            require(item.problem.empty() && item.headers.empty(), "a tool is as a list has it to be", text, each.raw);
            require(item.key == each.key && each.key != before, "a tool has a name of its own", text, each.raw);
            require(each.key.size() <= mcp::longest_tool_of_skill, "a name is short", text, each.key);
            before = each.key;
            const auto read = mcp::read_agent_order(tools, each.key, arguments);
            require(read.has_value(), "a tool that is listed can be called", text, each.key);
            require(read->order.has_value() == read->problem.empty(), "arguments are good or explained", arguments);
            if (read->order) {
                const auto sent = mcp::send_request(*read->order, mcp::agent_reply_form::stream, "m");
                require(json::accept(sent), "a request is JSON", arguments, sent);
                require(json::accept(mcp::get_request(read->order->task, {})), "a request is JSON", arguments);
            }
        }
    }
}

void check_results(const mcp::agent_reply& reply, std::string_view said)
{
    const auto result = reply.call_result("send_message");
    const auto read = json::parse(result, nullptr, /*allow_exceptions=*/false);
    require(read.is_object() && read["content"].is_array(), "a result has content", said, result);
    require(read["isError"].is_boolean(), "a result is an error or none", said, result);
    for (const auto& each : read["content"]) {
        require(each.is_object() && each.contains("type"), "a block has a type", said, result);
    }
    const auto details = reply.task_details("2026-01-01T00:00:00Z", true, "send_message");
    require(json::accept(details), "a task is JSON", said, details);
    require(json::accept(reply.task_handle("2026-01-01T00:00:00Z")), "a handle is JSON", said);
    if (reply.asks()) {
        const auto question = json::parse(reply.question_result(), nullptr, /*allow_exceptions=*/false);
        require(question.is_object() && question["inputRequests"].size() == 1, "a question is one request", said);
        const auto state = mcp::read_asked_state(question["requestState"].get<std::string>());
        require(state && state->task == reply.task(), "a state names the task", said);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view rest{reinterpret_cast<const char*>(data), size};
    const auto card = take(rest, "\n\n");
    const auto arguments = take(rest, "\n\n");
    if (arguments.empty() || json::accept(arguments)) {
        check_card(card, arguments);
        static_cast<void>(mcp::answer_given(arguments, "k"));
        static_cast<void>(mcp::read_asked_state(arguments));
    }
    mcp::agent_reply reply;
    while (!rest.empty()) {
        const auto line = take(rest, "\n");
        const auto task = reply.task();
        const auto state = reply.state();
        if (!reply.take(line)) {
            require(reply.task() == task && reply.state() == state, "what cannot be read changes nothing", line);
        }
        check_results(reply, line);
    }
    return 0;
}
