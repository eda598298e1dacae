#include "mcp/bridge/agent_reply.hpp"

#include "a2a/dialect/timestamp.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/utf8.hpp"
#include "jose/digest.hpp"
#include "mcp/bridge/agent_tools.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mcp {
namespace {

using a2a::task_state;
using part_kind = reply_part::kind;

constexpr std::size_t most_parts = 10'000;           // of one list
constexpr std::size_t longest_question = 16 * 1024;  // bytes of a form's message
constexpr std::size_t longest_status = 4 * 1024;     // bytes of a line of status
constexpr std::uint64_t poll_interval_ms = 1000;

std::string_view state_name(task_state state)
{
    const auto quoted = a2a::spelled(state, a2a::body_shape::types);
    return quoted.substr(1, quoted.size() - 2);
}

core::error bad_reply(std::string_view why)
{
    return core::upstream_error(core::errc::upstream_protocol, std::string{why});
}

reply_part file_part(const raw_object& part, std::string_view raw_bytes, std::size_t number)
{
    const auto type = part.text("mediaType");
    const auto media = std::string_view{type}.substr(0, type.find('/'));
    reply_part out{.what = part_kind::block, .text = {}};
    core::json_writer block{out.text, '{'};
    if (media == "image" || media == "audio") {
        block.member("type", media);
        block.raw_member("data", raw_bytes);
        block.member("mimeType", type);
    } else {
        const auto name = part.text("filename");
        block.member("type", "resource");
        block.name("resource");
        block.open('{');
        block.member("uri", "a2a:part/" + (name.empty() ? std::to_string(number) : name));
        block.member("mimeType", type.empty() ? std::string_view{"application/octet-stream"} : std::string_view{type});
        block.raw_member("blob", raw_bytes);
        block.close('}');
    }
    block.close('}');
    return out;
}

reply_part link_part(const raw_object& part, std::string_view url)
{
    const auto name = part.text("filename");
    reply_part out{.what = part_kind::block, .text = {}};
    core::json_writer block{out.text, '{'};
    block.member("type", "resource_link");
    block.member("uri", url);
    block.member("name", name.empty() ? url : std::string_view{name});
    block.member_if_any("mimeType", part.text("mediaType"));
    block.close('}');
    return out;
}

// Nothing: a part of no kind that is known.
std::optional<reply_part> reply_part_of(std::string_view raw, std::size_t number)
{
    const auto part = members_of(raw);
    if (const auto text = part.find("text"); is_string(text)) {
        return reply_part{.what = part_kind::text, .text = text_of(text).value_or("")};
    }
    if (const auto bytes = part.find("raw"); is_string(bytes)) {
        return file_part(part, bytes, number);
    }
    if (const auto url = part.find("url"); is_string(url)) {
        return link_part(part, text_of(url).value_or(""));
    }
    if (const auto data = part.find("data"); !data.empty()) {
        return reply_part{.what = part_kind::data, .text = compact(data)};
    }
    return std::nullopt;
}

std::vector<reply_part> reply_parts_of(std::string_view raw)
{
    std::vector<reply_part> out;
    const auto elements = core::scan_elements(raw, most_parts);
    if (!elements) {
        return out;
    }
    for (const auto each : elements->raw) {
        if (auto part = reply_part_of(each, out.size() + 1)) {
            out.push_back(std::move(*part));
        }
    }
    return out;
}

// Text that is told in pieces becomes one block.
void append_parts(std::vector<reply_part>& to, std::vector<reply_part> more)
{
    for (auto& each : more) {
        if (!to.empty() && to.back().what == part_kind::text && each.what == part_kind::text) {
            to.back().text += each.text;
        } else {
            to.push_back(std::move(each));
        }
    }
}

std::size_t bytes_of(const std::vector<reply_part>& parts)
{
    const auto add = [](std::size_t sum, const reply_part& each) { return sum + sizeof each + each.text.size(); };
    return std::accumulate(parts.begin(), parts.end(), std::size_t{0}, add);
}

std::size_t bytes_of(const reply_artifact& artifact)
{
    return sizeof artifact + artifact.id.size() + bytes_of(artifact.parts);
}

std::size_t bytes_of(const std::vector<reply_artifact>& artifacts)
{
    const auto add = [](std::size_t sum, const reply_artifact& each) { return sum + bytes_of(each); };
    return std::accumulate(artifacts.begin(), artifacts.end(), std::size_t{0}, add);
}

// By so much append_parts() lets `to` grow.
std::size_t growth(const std::vector<reply_part>& to, const std::vector<reply_part>& more)
{
    std::size_t sum = 0;
    const auto* last = to.empty() ? nullptr : &to.back();
    for (const auto& each : more) {
        const bool joins = last != nullptr && last->what == part_kind::text && each.what == part_kind::text;
        sum += each.text.size() + (joins ? 0 : sizeof each);
        last = &each;
    }
    return sum;
}

std::string text_in(const std::vector<reply_part>& parts)
{
    std::string out;
    for (const auto& each : parts) {
        if (each.what == part_kind::text && !each.text.empty()) {
            out.append(out.empty() ? "" : "\n").append(each.text);
        }
    }
    return out;
}

void append_text_block(core::json_writer& out, std::string_view text)
{
    out.open('{');
    out.member("type", "text");
    out.member("text", text);
    out.close('}');
}

}  // namespace

core::result<> agent_reply::take(std::string_view response)
{
    const auto read = core::scan_answer(response);
    if (!read || read->kind == core::answer_kind::call) {
        return bad_reply("no answer of JSON-RPC");
    }
    if (read->kind == core::answer_kind::error) {
        take_failure(members_of(response).object("error"));
        return {};
    }
    return take_result(read->result);
}

// What is kept of it changes by these bytes, before anything else does.
core::result<> agent_reply::exchange_bytes(std::size_t before, std::size_t after)
{
    if (kept_ - before + after > most_kept) {
        return core::upstream_error(core::errc::event_too_large, "the reply of an agent to a call of a tool");
    }
    kept_ = kept_ - before + after;
    return {};
}

core::result<> agent_reply::take_result(std::string_view result)
{
    const auto read = members_of(result);
    if (const auto task = read.object("task"); !task.empty()) {
        return take_task(task);
    }
    if (const auto message = read.object("message"); !message.empty()) {
        return take_message(message);
    }
    if (const auto update = read.object("statusUpdate"); !update.empty()) {
        return take_status_update(update);
    }
    if (const auto update = read.object("artifactUpdate"); !update.empty()) {
        return take_artifact_update(update);
    }
    return take_task(result);
}

void agent_reply::take_context(const raw_object& from)
{
    if (auto context = from.text("contextId"); !context.empty()) {
        context_ = std::move(context);
    }
}

core::result<> agent_reply::take_task(std::string_view task)
{
    const auto read = members_of(task);
    auto id = read.text("id");
    if (id.empty() || read.object("status").empty()) {
        return bad_reply("a result that is no task, message or event");
    }
    std::vector<reply_artifact> artifacts;
    if (const auto list = read.find("artifacts"); !list.empty() && list != "null") {
        const auto elements = core::scan_elements(list, most_artifacts);
        if (!elements || elements->count > most_artifacts) {
            return bad_reply("artifacts that are no list, or too many");
        }
        for (const auto each : elements->raw) {
            const auto artifact = members_of(each);
            artifacts.push_back({artifact.text("artifactId"), reply_parts_of(artifact.find("parts"))});
        }
    }
    return take_state(read, std::move(id), std::move(artifacts));
}

core::result<> agent_reply::take_status_update(std::string_view update)
{
    const auto read = members_of(update);
    auto id = read.text("taskId");
    if (id.empty() || read.object("status").empty()) {
        return bad_reply("an event without a task or a status");
    }
    return take_state(read, std::move(id), {});
}

// The state of the task `id`. Without artifacts those told before stay: a snapshot may leave them out.
core::result<> agent_reply::take_state(const raw_object& from, std::string id, std::vector<reply_artifact> artifacts)
{
    const bool all = !artifacts.empty();
    auto told = read_status(from.object("status"));
    const auto before = bytes_of(status_.parts) + (all ? bytes_of(artifacts_) : 0);
    if (auto fits = exchange_bytes(before, bytes_of(told.parts) + bytes_of(artifacts)); !fits) {
        return fits;
    }
    task_ = std::move(id);
    take_context(from);
    if (all) {
        artifacts_ = std::move(artifacts);
    }
    const auto old = std::exchange(status_, std::move(told));
    if (const auto said = text_in(status_.parts); !said.empty() && said != text_in(old.parts)) {
        news_ = true;
    }
    return {};
}

core::result<> agent_reply::take_artifact_update(std::string_view update)
{
    const auto read = members_of(update);
    auto id = read.text("taskId");
    const auto artifact = members_of(read.object("artifact"));
    if (id.empty()) {
        return bad_reply("an event without a task");
    }
    auto name = artifact.text("artifactId");
    const auto found = std::ranges::find(artifacts_, name, &reply_artifact::id);
    if (found == artifacts_.end() && artifacts_.size() >= most_artifacts) {
        return core::upstream_error(core::errc::event_too_large, "too many artifacts");
    }
    reply_artifact told{std::move(name), reply_parts_of(artifact.find("parts"))};
    const bool is_new = found == artifacts_.end();
    const bool adds = !is_new && read.find("append") == "true";
    const auto after = adds ? growth(found->parts, told.parts) : bytes_of(told);
    if (auto fits = exchange_bytes(is_new || adds ? 0 : bytes_of(*found), after); !fits) {
        return fits;
    }
    task_ = std::move(id);
    take_context(read);
    if (is_new) {
        artifacts_.push_back(std::move(told));
    } else if (adds) {
        append_parts(found->parts, std::move(told.parts));
    } else {
        *found = std::move(told);
    }
    return {};
}

agent_reply::told_status agent_reply::read_status(std::string_view raw)
{
    const auto read = members_of(raw);
    const auto message = members_of(read.object("message"));
    std::string time;
    const bool timed = a2a::append_timestamp(time, read.find("timestamp"));
    return {
        .state = a2a::read_state(read.find("state")),
        .time = timed ? time.substr(1, time.size() - 2) : "",
        .question = message.text("messageId"),
        .parts = reply_parts_of(message.find("parts"))
    };
}

core::result<> agent_reply::take_message(std::string_view raw)
{
    const auto read = members_of(raw);
    auto parts = reply_parts_of(read.find("parts"));
    if (auto fits = exchange_bytes(0, growth(message_, parts)); !fits) {
        return fits;
    }
    has_message_ = true;
    append_parts(message_, std::move(parts));
    take_context(read);
    return {};
}

void agent_reply::take_failure(std::string_view raw)
{
    const auto read = members_of(raw);
    const auto said = read.text("message");
    failure_code_ = integer_of<int>(read.find("code")).value_or(0);
    failure_ = "The call of the agent failed: ";
    failure_ += said.empty() ? "(no message)" : core::cut_utf8(said, longest_status);
}

bool agent_reply::settled() const noexcept
{
    const bool waits = status_.state == task_state::input_required || status_.state == task_state::auth_required;
    return has_message_ || !failure_.empty() || (!task_.empty() && (waits || a2a::has_ended(status_.state)));
}

std::optional<std::string> agent_reply::take_news()
{
    if (!std::exchange(news_, false)) {
        return std::nullopt;
    }
    return status_text();
}

std::string agent_reply::status_text() const
{
    return std::string{core::cut_utf8(text_in(status_.parts), longest_status)};
}

bool agent_reply::is_error() const noexcept
{
    return !failure_.empty() || status_.state == task_state::failed || status_.state == task_state::rejected ||
           status_.state == task_state::auth_required;
}

// A sentence for the model on how the call stands, where the content alone does not say that.
std::string agent_reply::words_of_state(std::string_view send_tool_name) const
{
    if (!failure_.empty()) {
        return failure_;
    }
    if (has_message_ || task_.empty()) {
        return {};
    }
    const auto named = "The task " + task_;
    const auto ids = "taskId " + task_ + (context_.empty() ? "" : " and contextId " + context_);
    switch (status_.state) {
        case task_state::completed:
            return artifacts_.empty() && status_.parts.empty() ? named + " is completed." : "";
        case task_state::failed:
            return named + " failed.";
        case task_state::rejected:
            return "The agent rejected the task " + task_ + ".";
        case task_state::canceled:
            return named + " was canceled.";
        case task_state::auth_required:
            return named + " waits until its user has logged in where the agent says.";
        case task_state::input_required:
            return "The agent asks for more. Answer with " + std::string{send_tool_name} + ", with " + ids + ".";
        case task_state::submitted:
        case task_state::working:
        case task_state::unspecified:
            break;
    }
    return named + " goes on. Follow it with " + std::string{get_tool} + ", or end it with " +
           std::string{cancel_tool} + ", with taskId " + task_ + ".";
}

// All that was told, in the order of results.
std::vector<const reply_part*> agent_reply::parts() const
{
    std::vector<const reply_part*> all;
    const auto add = [&all](const std::vector<reply_part>& some) {
        for (const auto& each : some) {
            all.push_back(&each);
        }
    };
    for (const auto& each : artifacts_) {
        add(each.parts);
    }
    add(message_);
    add(status_.parts);
    return all;
}

void agent_reply::append_content(std::string& out, std::string_view last_words) const
{
    core::json_writer list{out};
    list.name("content");
    list.open('[');
    for (const auto* const each : parts()) {
        if (each->what == part_kind::block) {
            list.raw(each->text);
        } else {
            append_text_block(list, each->text);
        }
    }
    if (!last_words.empty()) {
        append_text_block(list, last_words);
    }
    list.close(']');
}

void agent_reply::append_structure(std::string& out) const
{
    core::json_writer object{out};
    object.name("structuredContent");
    object.open('{');
    object.member("state", has_message_ && task_.empty() ? "completed" : state_name(status_.state));
    object.member_if_any("taskId", task_);
    object.member_if_any("contextId", context_);
    bool any = false;
    for (const auto* const each : parts()) {
        if (each->what != part_kind::data) {
            continue;
        }
        if (!std::exchange(any, true)) {
            object.name("data");
            object.open('[');
        }
        object.raw(each->text);
    }
    if (any) {
        object.close(']');
    }
    object.close('}');
}

std::string agent_reply::call_result(std::string_view send_tool_name) const
{
    std::string out{"{"};
    append_content(out, words_of_state(send_tool_name));
    if (failure_.empty()) {
        append_structure(out);
    }
    core::json_writer rest{out};
    rest.member("isError", is_error());
    rest.close('}');
    return out;
}

std::string agent_reply::question_key() const
{
    constexpr std::size_t digits = 16;
    return "question_" + jose::sha256_hex(task_ + '\n' + status_.question + '\n' + status_.time).substr(0, digits);
}

void agent_reply::append_input_requests(std::string& out) const
{
    const auto asked = text_in(status_.parts);
    core::json_writer object{out};
    object.name("inputRequests");
    object.open('{');
    object.key(question_key());
    object.open('{');
    object.member("method", "elicitation/create");
    object.name("params");
    object.open('{');
    object.member("mode", "form");
    object.member(
        "message",
        asked.empty() ? std::string_view{"The agent asks for more."} : core::cut_utf8(asked, longest_question)
    );
    object.raw_member(
        "requestedSchema",
        R"({"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]})"
    );
    object.close('}');
    object.close('}');
    object.close('}');
}

std::string agent_reply::question_result() const
{
    std::string out{"{"};
    core::json_writer object{out};
    object.member("resultType", "input_required");
    append_input_requests(out);
    object.member("requestState", state_text({task_, context_, question_key()}));
    object.close('}');
    return out;
}

// The members of a task, without the bracket that closes it.
std::string agent_reply::task_members(std::string_view status, std::string_view now) const
{
    const auto time = status_.time.empty() ? now : std::string_view{status_.time};
    std::string out;
    core::json_writer object{out, '{'};
    object.member("taskId", task_);
    object.member("status", status);
    object.member_if_any("statusMessage", status_text());
    object.member("createdAt", time);
    object.member("lastUpdatedAt", time);
    object.raw_member("ttlMs", "null");
    object.member("pollIntervalMs", poll_interval_ms);
    return out;
}

std::string agent_reply::task_handle(std::string_view now) const
{
    auto out = task_members("working", now);
    core::json_writer object{out};
    object.member("resultType", "task");
    object.close('}');
    return out;
}

std::string agent_reply::task_details(std::string_view now, bool may_ask, std::string_view send_tool_name) const
{
    const bool goes_on = !settled();
    const bool form = asks() && may_ask;
    const bool canceled = failure_.empty() && status_.state == task_state::canceled;
    const auto* const status = goes_on ? "working" : form ? "input_required" : canceled ? "cancelled" : "completed";
    auto out = task_members(status, now);
    core::json_writer object{out};
    object.member("resultType", "complete");
    if (form) {
        append_input_requests(out);
    } else if (!goes_on && !canceled) {
        object.raw_member("result", call_result(send_tool_name));
    }
    object.close('}');
    return out;
}

std::optional<given_answer> answer_given(std::string_view responses, std::string_view key)
{
    const auto answer = members_of(members_of(responses).object(key));
    const auto action = answer.text("action");
    if (action.empty()) {
        return std::nullopt;
    }
    given_answer out;
    if (action != "accept") {
        out.declined = true;
        return out;
    }
    const auto content = answer.object("content");
    const auto read = members_of(content);
    if (read.members().size() == 1 && is_string(read.members().front().value)) {
        out.text = text_of(read.members().front().value).value_or("");
    } else if (!read.members().empty()) {
        out.data = compact(content);
    }
    return out.text.empty() && out.data.empty() ? std::nullopt : std::optional{std::move(out)};
}

std::string state_text(const asked_state& state)
{
    std::string out;
    core::json_writer object{out, '{'};
    object.member("taskId", state.task);
    object.member_if_any("contextId", state.context);
    object.member("key", state.key);
    object.close('}');
    return out;
}

std::optional<asked_state> read_asked_state(std::string_view text)
{
    const auto read = members_of(text);
    asked_state out{read.text("taskId"), read.text("contextId"), read.text("key")};
    return out.task.empty() || out.key.empty() ? std::nullopt : std::optional{std::move(out)};
}

}  // namespace mcp
