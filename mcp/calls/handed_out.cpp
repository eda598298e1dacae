#include "mcp/calls/handed_out.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view tasks_prefix = "tasks/";
constexpr std::string_view task_id = "taskId";
constexpr std::string_view result_type = "resultType";
constexpr std::string_view complete = "complete";
constexpr std::string_view related_task = "io.modelcontextprotocol/related-task";

// The ids of subscriptions/listen and of its acknowledgement; the second is that of a draft.
constexpr std::string_view listened_tasks = "taskIds";
constexpr std::string_view drafted_tasks = "tasksStatus";

// base64url, and what a sealed text has besides.
constexpr std::size_t longest_sealed(std::size_t plain) noexcept
{
    return (plain + 32) * 4 / 3 + 4;
}

// Calls `visit` with each raw element. False: it is no array, or `visit` says so.
template <class Visit>
bool each_element(std::string_view array, Visit visit)
{
    core::json_cursor<core::wide_bytes> cursor{array, 64};
    if (!is_array(array) || !cursor.open('[')) {
        return false;
    }
    if (cursor.close()) {
        return true;
    }
    do {
        const auto* const begin = cursor.position();
        if (!cursor.value() || !visit({begin, static_cast<std::size_t>(cursor.position() - begin)})) {
            return false;
        }
        cursor.skip_space();
    } while (cursor.take(','));
    return cursor.close();
}

text_range range_in(std::string_view text, std::string_view part) noexcept
{
    return {static_cast<std::size_t>(part.data() - text.data()), part.size()};
}

text_edit with_text(std::string_view text, std::string_view part, std::string_view value)
{
    text_edit edit{range_in(text, part), {}};
    core::append_json_string(edit.text, value);
    return edit;
}

bool is_about_tasks(std::string_view method) noexcept
{
    return method.starts_with(tasks_prefix);
}

bool has_twin(const raw_object& object, std::string_view name)
{
    return std::ranges::any_of(object.members(), [name](const raw_member& each) { return is_twin(each.name, name); });
}

class opening {
public:
    opening(const incoming& message, std::string_view body, const handed_out_to& client, bool has_tasks)
        : message_{message},
          body_{body},
          client_{client},
          has_tasks_{has_tasks}
    {
    }

    core::result<opened_message> open()
    {
        std::string room;
        const auto method = message_.text(routed::method, body_, room).value_or("");
        const bool asks = message_.kind == incoming_kind::request;
        // Also a notification: some servers do not look for an id.
        if (is_about_tasks(method) && !open_named()) {
            return core::caller_error(core::errc::invalid_params, "a task that is not known to be the caller's");
        }
        if (message_.method == client_method::listen && !open_listened()) {
            return core::caller_error(core::errc::invalid_params, "a subscription to a task of somebody else");
        }
        if (!open_related(related(), asks)) {
            return core::caller_error(
                core::errc::invalid_params,
                "a related task that is not known to be the caller's"
            );
        }
        if (!open_state()) {
            return core::caller_error(core::errc::input_expired, "a state that was not handed out to the caller");
        }
        return std::move(out_);
    }

private:
    bool open_task(std::string_view raw)
    {
        const auto sealed = raw.size() <= longest_sealed(longest_task_id) ? text_of(raw) : std::nullopt;
        auto id = sealed ? client_.ids->open_handed_out(handed_out::task, *sealed, client_.binding) : std::nullopt;
        if (!id) {
            return false;
        }
        out_.edits.push_back(with_text(body_, raw, *id));
        out_.tasks.push_back(std::move(*id));
        return true;
    }

    bool open_named()
    {
        const auto params = message_.raw(routed::params, body_);
        const auto read = raw_object::read(params);
        if ((!params.empty() && !read) || (read && has_twin(*read, task_id))) {
            return false;
        }
        const auto raw = message_.raw(routed::task, body_);
        const bool needs_one = message_.method != client_method::tasks_list && message_.method != client_method::other;
        return raw.empty() ? !needs_one : open_task(raw);
    }

    bool open_listened()
    {
        const auto wanted = members_of(message_.raw(routed::listen_to, body_));
        if (has_twin(wanted, listened_tasks) || has_twin(wanted, drafted_tasks)) {
            return false;
        }
        return std::ranges::all_of(wanted.members(), [&](const raw_member& each) {
            const bool names_tasks = each.name == listened_tasks || each.name == drafted_tasks;
            return !names_tasks || each_element(each.value, [&](std::string_view raw) { return open_task(raw); });
        });
    }

    std::string_view related() const
    {
        if (message_.kind != incoming_kind::answer) {
            return message_.raw(routed::related_task, body_);
        }
        const auto result = message_.raw(routed::result, body_);
        return members_of(members_of(result).object("_meta")).find(related_task);
    }

    // A client names its own tasks in notifications and answers only.
    bool open_related(std::string_view raw, bool asks)
    {
        if (raw.empty()) {
            return true;
        }
        const auto named = members_of(raw);
        return !has_twin(named, task_id) && (open_task(named.find(task_id)) || (has_tasks_ && !asks));
    }

    bool open_state()
    {
        const auto raw = message_.raw(routed::request_state, body_);
        if (raw.empty() || raw == "null") {
            return true;
        }
        const auto sealed = raw.size() <= longest_sealed(longest_state) ? text_of(raw) : std::nullopt;
        const auto state =
            sealed ? client_.ids->open_handed_out(handed_out::state, *sealed, client_.binding) : std::nullopt;
        if (state) {
            out_.edits.push_back(with_text(body_, raw, *state));
        }
        return state.has_value();
    }

    const incoming& message_;
    std::string_view body_;
    const handed_out_to& client_;
    bool has_tasks_;
    opened_message out_;
};

class sealing {
public:
    sealing(std::string_view message, const handed_out_to& client, handing what, const owns_task& owns)
        : text_{message},
          client_{client},
          what_{what},
          owns_{owns}
    {
    }

    core::result<sealed_message> seal()
    {
        const auto message = raw_object::read(text_);
        if (!message) {
            return what_ == handing::task_list ? unreadable() : core::result<sealed_message>{std::move(out_)};
        }
        const auto result = what_ == handing::other ? std::string_view{} : message->object("result");
        if (!result.empty() && !seal_result(result)) {
            return unreadable();
        }
        if (const auto method = message->text("method");
            !method.empty() && !seal_call(method, message->object("params"))) {
            out_.text.emplace();
            return std::move(out_);
        }
        if (!edits_.empty()) {
            out_.text = edited(text_, edits_);
        }
        return std::move(out_);
    }

private:
    static core::result<sealed_message> unreadable()
    {
        return core::upstream_error(core::errc::upstream_protocol, "a list of tasks that cannot be read");
    }

    void replace(handed_out what, std::string_view raw, std::string_view plain)
    {
        edits_.push_back(with_text(text_, raw, client_.ids->seal_handed_out(what, plain, client_.binding)));
    }

    // False: it is none that the client may use.
    bool seal_task(std::string_view raw, bool handed)
    {
        const auto id = text_of(raw);
        if (!id || id->size() > longest_task_id || (!handed && !owns_(*id))) {
            return false;
        }
        if (handed) {
            out_.tasks.push_back(*id);
        }
        replace(handed_out::task, raw, *id);
        return true;
    }

    void seal_related(std::string_view meta)
    {
        seal_task(members_of(members_of(meta).find(related_task)).find(task_id), false);
    }

    // False: a list that cannot be read.
    bool seal_result(std::string_view result)
    {
        const auto read = raw_object::read(result);
        if (!read) {
            return what_ != handing::task_list;
        }
        if (what_ == handing::modern_request && read->text(result_type) == complete) {
            return true;
        }
        const auto state = text_of(read->find("requestState"));
        if (state && state->size() <= longest_state) {
            replace(handed_out::state, read->find("requestState"), *state);
        }
        const bool handed = what_ == handing::request || what_ == handing::modern_request;
        seal_task(read->find(task_id), handed);
        seal_task(members_of(read->object("task")).find(task_id), handed);
        seal_related(read->object("_meta"));
        const auto tasks = read->find("tasks");
        if (handed || !is_array(tasks)) {
            return what_ != handing::task_list || tasks.empty();
        }
        return seal_list(tasks);
    }

    bool seal_list(std::string_view tasks)
    {
        std::string kept{"["};
        const bool whole = each_element(tasks, [&](std::string_view raw) {
            const auto id = members_of(raw).find(task_id);
            const auto before = edits_.size();
            if (seal_task(id, false)) {
                auto edit = std::move(edits_.back());
                edit.place.at -= range_in(text_, raw).at;
                append_list_element(kept, edited(raw, {&edit, 1}));
            }
            edits_.resize(before);
            return true;
        });
        close(kept, ']');
        edits_.push_back({range_in(text_, tasks), std::move(kept)});
        return whole;
    }

    static void append_list_element(std::string& list, const std::string& element)
    {
        list += element;
        list += ',';
    }

    // False: it is about a task of somebody else. A request is about the client's own tasks.
    bool seal_call(std::string_view method, std::string_view params)
    {
        const auto read = members_of(params);
        seal_related(read.object("_meta"));
        if (method == "notifications/subscriptions/acknowledged") {
            const auto listened = members_of(read.object("notifications"));
            for (const auto name : {listened_tasks, drafted_tasks}) {
                each_element(listened.find(name), [&](std::string_view raw) {
                    seal_task(raw, false);
                    return true;
                });
            }
        }
        return !method.starts_with("notifications/tasks") || seal_task(read.find(task_id), false);
    }

    std::string_view text_;
    const handed_out_to& client_;
    handing what_;
    const owns_task& owns_;
    std::vector<text_edit> edits_;
    sealed_message out_;
};

}  // namespace

core::result<opened_message>
open_handed_out(const incoming& message, std::string_view body, const handed_out_to& client, bool has_tasks)
{
    return opening{message, body, client, has_tasks}.open();
}

bool hands_out_nothing(std::string_view beginning)
{
    core::json_cursor<core::wide_bytes> cursor{beginning, 64};
    std::string_view wanted = "result";
    for (;;) {
        cursor.skip_space();
        if (cursor.peek() != '{' || !cursor.open('{')) {
            return false;
        }
        std::string_view name;
        bool escaped = false;
        bool found = false;
        while (!found) {
            if (!cursor.name(name, escaped)) {
                return false;
            }
            found = name == wanted;
            const auto* const begin = cursor.position();
            if (found && wanted == "result") {
                break;
            }
            if (!cursor.value()) {
                return false;
            }
            if (found) {
                return text_of({begin, static_cast<std::size_t>(cursor.position() - begin)}) == complete;
            }
            cursor.skip_space();
            if (!cursor.take(',')) {
                return false;
            }
        }
        wanted = result_type;
    }
}

// A name that is written with escapes is not found: what it names stays the server's, which opens nothing.
bool may_hand_out(std::string_view message) noexcept
{
    return message.find("\"task") != std::string_view::npos ||
           message.find("\"requestState\"") != std::string_view::npos;
}

core::result<sealed_message>
seal_handed_out(std::string_view message, const handed_out_to& client, handing what, const owns_task& owns)
{
    // A stream begins with an event that says nothing, so that it can be resumed (MCP 2025-11-25, basic/transports).
    const bool blank = core::trim(message, " \t\r\n").empty();
    if (blank || (what != handing::task_list && !may_hand_out(message))) {
        return sealed_message{};
    }
    return sealing{message, client, what, owns}.seal();
}

}  // namespace mcp
