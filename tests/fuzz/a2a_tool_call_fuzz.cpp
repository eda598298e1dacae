// Any text as the params of a message to a bridged MCP server, and as what a server sends during its call: what is made of them is JSON of
// the shape that the other side reads, and nothing is made of what is refused.
#include "core/json/json.hpp"
#include "mcp/bridge/a2a_task.hpp"
#include "mcp/bridge/tool_call.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <string>
#include <string_view>

using tests::require;

namespace {

const mcp::server_lists& lists()
{
    static const mcp::server_lists all = [] {
        mcp::server_lists out;
        auto& tools = out.lists[mcp::index_of(mcp::list_kind::tools)];
        tools.push_back(
            {"echo",
             R"({"name":"echo","inputSchema":{"properties":{"m":{"type":"string","x-mcp-header":"M"}},"required":["m"]}})"
            }
        );
        tools.push_back({"sum", R"({"name":"sum","inputSchema":{}})"});
        return out;
    }();
    return all;
}

bool is_json(std::string_view text)
{
    return core::check_json(text, {.bytes = text.size(), .depth = 64, .members = mcp::max_members}).has_value();
}

void check_message(std::string_view params)
{
    const auto said = mcp::read_a2a_message(params);
    if (!said) {
        require(!said.error().why.empty(), "a refusal says why");
        return;
    }
    const auto call = mcp::choose_tool(*said, {lists(), nullptr, nullptr});
    if (!call || !*call) {
        return;
    }
    require((*call)->name == "echo" || (*call)->name == "sum", "only a tool of the list is called");
    const auto text = mcp::tool_call_text(**call, "{}");
    require(text.find_first_of("\r\n") == std::string::npos, "a request is one line", text);
    const auto read = mcp::raw_object::read(text);
    require(read.has_value(), "a request is JSON", text);
    const auto params_sent = mcp::members_of(read->object("params"));
    require(mcp::is_object(params_sent.find("arguments")), "arguments are an object", text);
}

void check_answer(std::string_view text)
{
    const auto event = mcp::read_call_event(text);
    if (event.outcome) {
        require(event.questions.empty(), "an outcome asks nothing");
        mcp::a2a_task_view task;
        task.id = task.context = "t";
        task.artifact = event.outcome->parts;
        const auto whole = mcp::task_event(task);
        require(is_json(whole) || !is_json(text), "a task is JSON", whole);
        require(whole.find_first_of("\r\n") == std::string::npos, "a task is one line", whole);
    }
    for (const auto& each : event.questions) {
        require(mcp::opens_array(each.asked.parts()), "a question has parts");
        const auto answer = each.asked.answer(R"({"action":"decline"})", {});
        require(answer.has_value() && is_json(*answer), "a question can be declined");
        static_cast<void>(each.asked.answer({}, "text"));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_message(text);
    check_answer(text);
    return 0;
}
