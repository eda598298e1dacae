// Tool search with any arguments over any tools. The first line is the arguments of a call; the second says which tools the caller has, a
// letter each (`-`: hidden); every other one is the definition of a tool. Each of the three tools has an answer that is a result, in both
// eras, and it shows no tool that is hidden.
#include "core/json/json.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "mcp/bundle/tool_search.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using tests::require;

namespace {

constexpr std::size_t most_tools = 20;

struct written_tool {
    std::string name;
    std::string own;
    std::string definition;
};

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

std::vector<written_tool> read_tools(std::string_view text)
{
    std::vector<written_tool> tools;
    while (!text.empty() && tools.size() < most_tools) {
        const auto definition = mcp::usable(take_line(text), 56);
        if (definition && mcp::is_object(*definition)) {
            const auto own = mcp::members_of(*definition).text("name");
            tools.push_back({"m__" + std::to_string(tools.size()) + own, own, *definition});
        }
    }
    return tools;
}

// The names of a result's tools: those of the definitions, which say which tool they are by their place here.
void check_tools(
    const nlohmann::json& result,
    const std::vector<written_tool>& tools,
    const gateway::bundles::visible_tools& visible
)
{
    std::multiset<std::string> allowed;
    for (std::size_t i = 0; i < tools.size(); ++i) {
        if (visible[i]) {
            allowed.insert(nlohmann::json::parse(tools[i].definition).dump());
        }
    }
    const auto& found = result["structuredContent"]["tools"];
    require(found.is_array() && found.size() <= mcp::most_tools_found, "tools are an array within the limit");
    for (const auto& tool : found) {
        require(allowed.contains(tool.dump()), "a tool that is found is one that the caller has", tool.dump());
    }
}

void check(
    const gateway::bundles::tool_index& index,
    const std::vector<written_tool>& tools,
    const gateway::bundles::search_question& question
)
{
    const auto answer = index.answer(question);
    const auto result = nlohmann::json::parse(answer.result, nullptr, false);
    require(result.is_object(), "an answer is a result", question.arguments, answer.result);
    require(
        result.contains("resultType") == (question.speaks == mcp::era::modern),
        "results of the modern era say that they are complete",
        answer.result
    );
    require(answer.outcome != gateway::bundles::search_outcome::failed, "no question fails", question.arguments);
    const bool is_error = result.contains("isError");
    require(is_error != result.contains("structuredContent"), "a result has tools, or is an error", answer.result);
    if (!is_error) {
        check_tools(result, tools, question.visible);
    }
}

void check_words(std::string_view text)
{
    const auto plain = mcp::plain_words(text);
    require(mcp::plain_words(plain) == plain, "plain words are plain", text, plain);
    std::size_t bytes = 0;
    for (const auto word : mcp::words_of(text)) {
        require(!word.empty(), "a word has letters", text);
        bytes += word.size();
    }
    require(bytes <= text.size(), "words are parts of the text", text);
    require(mcp::likeness(text, text) == 1, "a name is like itself", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view text{reinterpret_cast<const char*>(data), size};
    check_words(text);
    const std::string arguments{take_line(text)};
    const auto shown = take_line(text);
    const auto tools = read_tools(text);
    gateway::bundles::tools_to_search source{.owner = nullptr, .members = {{"m", "", 0}}};
    gateway::bundles::visible_tools visible;
    for (const auto& tool : tools) {
        source.tools.push_back({.name = tool.name, .own_name = tool.own, .definition = tool.definition, .member = 0});
        visible.push_back(visible.size() >= shown.size() || shown[visible.size()] != '-');
    }
    const gateway::bundles::tool_index index{source};
    require(index.prepare().has_value(), "any tools can be indexed", text);
    for (const auto tool : {mcp::search_tool::find, mcp::search_tool::describe, mcp::search_tool::call}) {
        for (const auto speaks : {mcp::era::modern, mcp::era::legacy}) {
            check(index, tools, {.tool = tool, .arguments = arguments, .visible = visible, .speaks = speaks});
        }
    }
    return 0;
}
