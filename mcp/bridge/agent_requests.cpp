#include "mcp/bridge/agent_requests.hpp"

#include "core/json/json_writer.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

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
