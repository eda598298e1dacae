#include "mcp/bridge/agent_tools.hpp"

#include "core/ascii.hpp"
#include "core/json/json_writer.hpp"
#include "core/utf8.hpp"
#include "jose/digest.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

namespace mcp {
namespace {

using core::json;

constexpr std::size_t most_examples = 5;

// What a result says of the task, in each tool.
constexpr std::string_view result_schema =
    R"({"type":"object","properties":{"state":{"type":"string"},"taskId":{"type":"string"},"contextId":{"type":"string"},)"
    R"("data":{"type":"array"}},"required":["state"]})";

constexpr std::string_view how_tasks_go_on =
    "If the state of the result is not an end, the agent goes on: get_task follows the task, and cancel_task ends it. "
    "If it is "
    "input-required, answer with the taskId and contextId of the result.";

struct tool_argument {
    std::string_view name;
    std::string_view type;
    std::string_view description;
};

constexpr tool_argument message_argument{"message", "string", "What the agent is told or asked, as text."};
constexpr tool_argument data_argument{"data", "object", "Structured data that goes with the message."};
constexpr tool_argument skill_argument{
    "skill",
    "string",
    "The id of a skill, for agents that let their callers choose."
};
constexpr tool_argument context_argument{
    "contextId",
    "string",
    "The contextId of an earlier result, to go on with that conversation."
};
constexpr tool_argument task_argument{"taskId", "string", "The taskId of an earlier result, to go on with that task."};
constexpr tool_argument known_task_argument{"taskId", "string", "The taskId of an earlier result."};
constexpr tool_argument history_argument{
    "historyLength",
    "integer",
    "How many messages of the task's history the agent sends at most."
};

void append_arguments(core::json_writer& out, std::initializer_list<tool_argument> parameters)
{
    out.name("inputSchema");
    out.open('{');
    out.member("type", "object");
    out.name("properties");
    out.open('{');
    for (const auto& each : parameters) {
        out.name(each.name);
        out.open('{');
        out.member("type", each.type);
        if (each.type == "integer") {
            out.member("minimum", 0);
        }
        out.member("description", each.description);
        out.close('}');
    }
    out.close('}');
    out.name("required");
    out.open('[');
    out.value(parameters.begin()->name);
    out.close(']');
    out.close('}');
}

struct tool_words {
    std::string_view name;
    std::string_view title;
    std::string_view description;
    std::string_view annotations;
};

listed_item tool_item(const tool_words& words, std::initializer_list<tool_argument> parameters)
{
    listed_item item{.key = std::string{words.name}, .raw = {}};
    core::json_writer out{item.raw, '{'};
    out.member("name", words.name);
    out.member_if_any("title", words.title);
    out.member("description", words.description);
    append_arguments(out, parameters);
    out.raw_member("outputSchema", result_schema);
    out.raw_member("annotations", words.annotations);
    out.close('}');
    return item;
}

constexpr std::string_view of_messages = R"({"readOnlyHint":false,"openWorldHint":true})";

listed_item get_tool_item()
{
    return tool_item(
        {get_tool,
         "Task of the agent",
         "Returns the state of a task of this agent, and what it has brought so far.",
         R"({"readOnlyHint":true,"openWorldHint":true})"},
        {known_task_argument, history_argument}
    );
}

listed_item cancel_tool_item()
{
    return tool_item(
        {cancel_tool,
         "Cancel a task of the agent",
         "Asks the agent to end a task. Returns the state that it has then.",
         R"({"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true})"},
        {known_task_argument}
    );
}

const json::array_t& skills_in(const json& card)
{
    static const json::array_t none;
    const auto* const skills = core::member(card, "skills");
    return skills == nullptr || !skills->is_array() ? none : skills->get_ref<const json::array_t&>();
}

// "- id: Name. What it does."
std::string skill_line(const json& skill)
{
    auto line = "\n- " + core::text_member(skill, "id");
    const auto title = core::text_member(skill, "name");
    const auto said = core::text_member(skill, "description");
    if (!title.empty()) {
        line += ": " + title;
    }
    if (!said.empty() && said != title) {
        line += title.empty() ? ": " : ". ";
        line += said;
    }
    return line;
}

std::string agent_words(const json& card, std::string_view agent_name)
{
    auto text = "Sends a message to the agent " + std::string{agent_name} + ".";
    if (const auto said = core::text_member(card, "description"); !said.empty()) {
        text.append(" ").append(core::cut_utf8(said, longest_agent_description / 2));
    }
    const auto& skills = skills_in(card);
    const auto room = longest_agent_description - how_tasks_go_on.size() - 64;
    std::size_t told = 0;
    std::string lines;
    for (; told < skills.size(); ++told) {
        const auto line = skill_line(skills[told]);
        if (text.size() + lines.size() + line.size() > room) {
            break;
        }
        lines += line;
    }
    if (!skills.empty()) {
        text.append("\n\nSkills:").append(lines);
    }
    if (told < skills.size()) {
        text.append("\n(and ").append(std::to_string(skills.size() - told)).append(" more)");
    }
    return text.append("\n\n").append(how_tasks_go_on);
}

std::string skill_words(const json& skill)
{
    auto text = core::text_member(skill, "description");
    const auto* const examples = core::member(skill, "examples");
    if (examples != nullptr && examples->is_array()) {
        std::size_t told = 0;
        for (const auto& each : *examples) {
            if (each.is_string() && told < most_examples) {
                text.append(told++ == 0 ? "\n\nExamples:\n- " : "\n- ").append(each.get_ref<const std::string&>());
            }
        }
    }
    constexpr auto longest = longest_agent_description - how_tasks_go_on.size() - 2;
    return std::string{core::cut_utf8(text, longest)}.append("\n\n").append(how_tasks_go_on);
}

std::string tool_name_of(std::string_view id)
{
    std::string name{id};
    std::ranges::replace_if(
        name,
        [](char c) { return !core::is_letter(c) && !core::is_digit(c) && c != '_' && c != '-'; },
        '_'
    );
    return name;
}

std::string with_digest(std::string name, std::string_view id)
{
    constexpr std::size_t digits = 8;
    name.resize(std::min(name.size(), longest_tool_of_skill - digits - 1));
    return name.append("_").append(jose::sha256_hex(id).substr(0, digits));
}

// Ids and the names of their tools, in the card's order.
std::vector<std::pair<const json*, std::string>> named_skills(const json& card)
{
    std::vector<std::pair<const json*, std::string>> all;
    std::set<std::string> ids;
    std::map<std::string, std::size_t, std::less<>> names{{std::string{get_tool}, 1}, {std::string{cancel_tool}, 1}};
    for (const auto& each : skills_in(card)) {
        auto id = core::text_member(each, "id");
        if (!id.empty() && ids.insert(id).second) {
            auto name = tool_name_of(id);
            ++names[name];
            all.emplace_back(&each, std::move(name));
        }
    }
    for (auto& [each, name] : all) {
        if (name.size() > longest_tool_of_skill || names.find(name)->second > 1) {
            name = with_digest(std::move(name), core::text_member(*each, "id"));
        }
    }
    return all;
}

void add_skill_tools(agent_tools& out, const json& card)
{
    auto& tools = out.lists.lists[index_of(list_kind::tools)];
    for (auto& [each, name] : named_skills(card)) {
        auto id = core::text_member(*each, "id");
        const auto title = core::text_member(*each, "name");
        const auto said = skill_words(*each);
        // Two ids may still have one name: the digits of both are the same, or one is written like the other one's name.
        if (out.skills.emplace(name, std::move(id)).second) {
            tools.push_back(tool_item(
                {name, title, said, of_messages},
                {message_argument, data_argument, context_argument, task_argument}
            ));
        }
    }
}

server_facts facts_of_card(const json& card, const std::string& name)
{
    server_facts facts;
    facts.speaks = era::modern;
    facts.protocol_version = latest(era::modern);
    facts.name = name;
    facts.title = name;
    facts.version = core::text_member(card, "version");
    facts.description = core::text_member(card, "description");
    facts.website = core::text_member(card, "documentationUrl");
    facts.instructions = core::cut_utf8(facts.description, longest_agent_instructions);
    facts.info.clear();
    core::json_writer info{facts.info, '{'};
    info.member("name", facts.name);
    info.member("version", facts.version);
    info.member_if_any("description", facts.instructions);
    info.close('}');
    facts.capabilities =
        R"({"tools":{"listChanged":true},"extensions":{")" + std::string{tasks_extension} + R"(":{}}})";
    facts.offers.set(index_of(list_kind::tools));
    facts.announces.set(index_of(list_kind::tools));
    return facts;
}

bool says_streams(const json& card)
{
    const auto* const capabilities = core::member(card, "capabilities");
    const auto* const said = capabilities == nullptr ? nullptr : core::member(*capabilities, "streaming");
    return said != nullptr && said->is_boolean() && said->get<bool>();
}

class order_reader {
public:
    explicit order_reader(std::string_view arguments)
        : raw_{arguments.empty() || arguments == "null" ? std::string_view{"{}"} : arguments}
    {
        auto read = raw_object::read(raw_);
        if (read) {
            object_ = std::move(*read);
        } else {
            problem_ = "The arguments are not an object, or name something twice.";
        }
    }

    std::string text(std::string_view name)
    {
        const auto raw = find(name);
        if (raw.empty()) {
            return {};
        }
        auto read = text_of(raw);
        if (!read) {
            fail(name, "a string");
        }
        return read.value_or("");
    }

    std::string needed(std::string_view name)
    {
        auto read = text(name);
        if (read.empty() && problem_.empty()) {
            problem_ = "The argument " + std::string{name} + " is missing or empty.";
        }
        return read;
    }

    std::string_view object(std::string_view name)
    {
        const auto raw = find(name);
        if (!raw.empty() && !is_object(raw)) {
            fail(name, "an object");
        }
        return raw;
    }

    std::optional<std::uint32_t> number(std::string_view name)
    {
        const auto raw = find(name);
        const auto read = integer_of<std::uint32_t>(raw);
        if (!raw.empty() && !read) {
            fail(name, "a whole number that is not negative");
        }
        return read;
    }

    const std::string& problem() const noexcept { return problem_; }

private:
    std::string_view find(std::string_view name) const
    {
        const auto raw = object_.find(name);
        return raw == "null" ? std::string_view{} : raw;
    }

    void fail(std::string_view name, std::string_view wanted)
    {
        if (problem_.empty()) {
            problem_.append("The argument ").append(name).append(" is not ").append(wanted).append(".");
        }
    }

    std::string_view raw_;
    raw_object object_;
    std::string problem_;
};

agent_order send_order(order_reader& in, const std::string* skill)
{
    agent_order order;
    order.message = in.needed("message");
    order.data = in.object("data");
    order.skill = skill == nullptr ? in.text("skill") : *skill;
    order.context = in.text("contextId");
    order.task = in.text("taskId");
    return order;
}

agent_order task_order(order_reader& in, agent_act act)
{
    agent_order order;
    order.act = act;
    order.task = in.needed("taskId");
    if (act == agent_act::get) {
        order.history = in.number("historyLength");
    }
    return order;
}

// Begins a request, whose params are open.
core::json_writer& begin_request(core::json_writer& out, std::string_view method)
{
    out.member("jsonrpc", "2.0");
    out.member("id", 1);
    out.member("method", method);
    out.name("params");
    out.open('{');
    return out;
}

std::string task_request(std::string_view method, std::string_view task)
{
    std::string text;
    core::json_writer out{text, '{'};
    begin_request(out, method).member("id", task);
    out.close('}');
    out.close('}');
    return text;
}

void append_skill(core::json_writer& out, const agent_order& order)
{
    if (!order.skill.empty()) {
        out.name("metadata");
        out.open('{');
        out.member("skillId", order.skill);
        out.close('}');
    }
}

}  // namespace

agent_tools tools_of_card(const json& card, core::tool_form form, std::string_view agent_id)
{
    auto name = core::text_member(card, "name");
    if (name.empty()) {
        name = agent_id;
    }
    agent_tools out;
    out.streams = says_streams(card);
    out.lists.server = facts_of_card(card, name);
    out.lists.shareable = false;
    auto& tools = out.lists.lists[index_of(list_kind::tools)];
    if (form == core::tool_form::skills) {
        add_skill_tools(out, card);
    } else if (form == core::tool_form::agent) {
        tools.push_back(tool_item(
            {send_tool, "Message to " + name, agent_words(card, name), of_messages},
            {message_argument, data_argument, skill_argument, context_argument, task_argument}
        ));
    }
    if (form != core::tool_form::off) {
        tools.push_back(get_tool_item());
        tools.push_back(cancel_tool_item());
    }
    return out;
}

core::result<read_order> read_agent_order(const agent_tools& tools, std::string_view tool, std::string_view arguments)
{
    const auto& listed = tools.lists[list_kind::tools];
    const bool known = std::ranges::any_of(listed, [tool](const listed_item& each) { return each.key == tool; });
    if (!known) {
        return core::caller_error(core::errc::invalid_params, "the agent has no such tool");
    }
    order_reader in{arguments};
    agent_order order;
    if (tool == get_tool || tool == cancel_tool) {
        order = task_order(in, tool == get_tool ? agent_act::get : agent_act::cancel);
    } else {
        const auto skill = tools.skills.find(tool);
        order = send_order(in, skill == tools.skills.end() ? nullptr : &skill->second);
    }
    if (!in.problem().empty()) {
        return read_order{.order = std::nullopt, .problem = in.problem()};
    }
    return read_order{.order = std::move(order), .problem = {}};
}

std::string send_request(const agent_order& order, agent_reply_form form, std::string_view message_id)
{
    const bool streams = form == agent_reply_form::stream;
    std::string text;
    core::json_writer out{text, '{'};
    begin_request(out, streams ? "SendStreamingMessage" : "SendMessage").name("message");
    out.open('{');
    out.member("messageId", message_id);
    out.member_if_any("contextId", order.context);
    out.member_if_any("taskId", order.task);
    out.member("role", "ROLE_USER");
    out.name("parts");
    out.open('[');
    if (!order.message.empty()) {
        out.open('{');
        out.member("text", order.message);
        out.close('}');
    }
    if (!order.data.empty()) {
        out.open('{');
        out.raw_member("data", order.data);
        out.close('}');
    }
    out.close(']');
    append_skill(out, order);
    out.close('}');
    if (!streams) {
        out.raw_member("configuration", R"({"returnImmediately":true})");
    }
    append_skill(out, order);
    out.close('}');
    out.close('}');
    return text;
}

std::string get_request(std::string_view task, std::optional<std::uint32_t> history)
{
    std::string text;
    core::json_writer out{text, '{'};
    begin_request(out, "GetTask").member("id", task);
    out.member("historyLength", history.value_or(0));
    out.close('}');
    out.close('}');
    return text;
}

std::string cancel_request(std::string_view task)
{
    return task_request("CancelTask", task);
}

std::string subscribe_request(std::string_view task)
{
    return task_request("SubscribeToTask", task);
}

}  // namespace mcp
