#include "examples/agent.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace examples {

namespace {

constexpr int deepest = 64;

// The value, or a discarded one if the text is not JSON or nests too deep to be handled without care.
json parse(std::string_view text)
{
    bool too_deep = false;
    auto out = json::parse(
        text,
        [&too_deep](int depth, json::parse_event_t, const json&) {
            too_deep = too_deep || depth > deepest;
            return !too_deep;
        },
        /*allow_exceptions=*/false
    );
    return too_deep ? json(json::value_t::discarded) : out;
}

const json* member(const json& object, std::string_view key)
{
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

std::string text_member(const json& object, std::string_view key)
{
    const auto* found = member(object, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

bool is_true(const json* value)
{
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

bool is_false(const json* value)
{
    return value != nullptr && value->is_boolean() && !value->get<bool>();
}

std::string text_of(const json& parts)
{
    std::string out;
    for (const auto& part : parts) {
        if (part.is_object()) {
            out += text_member(part, "text");
        }
    }
    return out;
}

bool is_message(const json* value, generation spoken)
{
    return value != nullptr && value->is_object() && !text_member(*value, "messageId").empty() &&
           text_member(*value, "role") == (spoken == generation::v0_3 ? "user" : "ROLE_USER") &&
           member(*value, "parts") != nullptr && member(*value, "parts")->is_array();
}

bool wants_history(const json& params)
{
    const auto* length = member(params, "historyLength");
    return length == nullptr || !length->is_number_integer() || length->get<std::int64_t>() > 0;
}

// The whole number a member holds, `otherwise` if it is absent, nothing if it is something else or out of bounds.
std::optional<std::int64_t> bounded(const json* value, std::int64_t least, std::int64_t most, std::int64_t otherwise)
{
    if (value == nullptr) {
        return otherwise;
    }
    if (!value->is_number_integer() || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most) {
        return std::nullopt;
    }
    return value->get<std::int64_t>();
}

}  // namespace

agent::agent(generation spoken, asio::any_io_executor executor, std::chrono::milliseconds pace)
    : spoken_{spoken},
      board_{std::move(executor), pace}
{
}

asio::awaitable<outcome> agent::call(std::string body, std::string version)
{
    const auto request = parse(body);
    if (request.is_discarded()) {
        co_return refuse(nullptr, rpc_error::parse_error, "Invalid JSON payload");
    }
    const auto* id = request.is_object() ? member(request, "id") : nullptr;
    const bool usable = id != nullptr && (id->is_string() || id->is_number() || id->is_null());
    if (!usable || text_member(request, "jsonrpc") != "2.0" || text_member(request, "method").empty()) {
        co_return refuse(nullptr, rpc_error::invalid_request, "Request payload validation error");
    }
    if (spoken_ == generation::v1_0 && !version.empty() && version != "1.0" && !version.starts_with("1.0.")) {
        co_return refuse(*id, rpc_error::version_not_supported, "This agent speaks A2A 1.0");
    }
    const auto meant = operation_named(spoken_, text_member(request, "method"));
    if (!meant) {
        co_return refuse(*id, rpc_error::method_not_found, "Method not found");
    }
    auto params = request.value("params", json::object());
    if (!params.is_object()) {
        co_return refuse(*id, rpc_error::invalid_params, "params must be an object");
    }
    switch (*meant) {
        case operation::send:
            co_return co_await send(*id, std::move(params));
        case operation::stream:
            co_return stream(*id, params);
        case operation::get:
            co_return get(*id, params);
        case operation::list:
            co_return list(*id, params);
        case operation::cancel:
            co_return cancel(*id, params);
        case operation::subscribe:
            co_return subscribe(*id, params);
        case operation::push:
            co_return refuse(*id, rpc_error::push_not_supported, "Push notifications are not supported");
        case operation::extended_card:
            break;
    }
    co_return spoken_ == generation::v0_3
        ? refuse(*id, rpc_error::extended_card_not_configured, "There is no extended card")
        : refuse(*id, rpc_error::unsupported_operation, "There is no extended card");
}

asio::awaitable<outcome> agent::send(json id, json params)
{
    outcome out;
    const auto started = start(id, params, out);
    if (!started) {
        co_return out;
    }
    const auto* configuration = member(params, "configuration");
    const bool at_once = configuration != nullptr && configuration->is_object() &&
                         (spoken_ == generation::v0_3 ? is_false(member(*configuration, "blocking"))
                                                      : is_true(member(*configuration, "returnImmediately")));
    while (!at_once && !started->ended()) {
        co_await started->next_event();
    }
    out.answer = response(id, task_result(spoken_, *started));
    co_return out;
}

outcome agent::stream(const json& id, const json& params)
{
    outcome out;
    if (auto started = start(id, params, out)) {
        const auto next = started->events.size();
        out.stream = live_task{std::move(started), id, next};
    }
    out.as_event = spoken_ == generation::v0_3 && !out.stream;
    return out;
}

outcome agent::get(const json& id, const json& params) const
{
    outcome out;
    if (const auto found = named(id, params, out)) {
        task_view view;
        view.history = wants_history(params);
        out.answer = response(id, task_json(spoken_, *found, view));
    }
    return out;
}

outcome agent::list(const json& id, const json& params) const
{
    const auto page_size = bounded(member(params, "pageSize"), 1, 100, 50);
    if (!page_size) {
        return refuse(id, rpc_error::invalid_params, "pageSize must be a whole number from 1 to 100");
    }
    if (!text_member(params, "statusTimestampAfter").empty()) {
        return refuse(id, rpc_error::invalid_params, "statusTimestampAfter is not supported");
    }
    const auto token = text_member(params, "pageToken");
    std::size_t skipped = 0;
    if (!token.empty()) {
        const auto read = std::from_chars(token.data(), token.data() + token.size(), skipped);
        if (read.ec != std::errc{} || read.ptr != token.data() + token.size()) {
            return refuse(id, rpc_error::invalid_params, "pageToken is not one of this agent's");
        }
    }
    const auto context = text_member(params, "contextId");
    const auto state = text_member(params, "status");
    auto tasks = board_.newest_first();
    std::erase_if(tasks, [&](const task_ref& t) {
        return (!context.empty() && t->context_id != context) ||
               (!state.empty() && state_name(spoken_, t->status().state) != state);
    });
    const task_view view{wants_history(params), is_true(member(params, "includeArtifacts"))};
    const auto end = std::min(tasks.size(), skipped + static_cast<std::size_t>(*page_size));
    auto page = json::array();
    for (auto i = skipped; i < end; ++i) {
        page.push_back(task_json(spoken_, *tasks[i], view));
    }
    json result{{"tasks", std::move(page)}};
    result["nextPageToken"] = end < tasks.size() ? std::to_string(end) : std::string{};
    result["pageSize"] = *page_size;
    result["totalSize"] = tasks.size();
    outcome out;
    out.answer = response(id, std::move(result));
    return out;
}

outcome agent::cancel(const json& id, const json& params)
{
    outcome out;
    if (const auto found = named(id, params, out)) {
        if (found->ended()) {
            return refuse(id, rpc_error::task_not_cancelable, "The task has ended");
        }
        found->add(task_state::canceled, {});
        out.answer = response(id, task_json(spoken_, *found));
    }
    return out;
}

outcome agent::subscribe(const json& id, const json& params) const
{
    outcome out;
    if (auto found = named(id, params, out)) {
        if (spoken_ == generation::v1_0 && found->ended()) {
            return refuse(id, rpc_error::unsupported_operation, "The task has ended");
        }
        const auto next = found->events.size();
        out.stream = live_task{std::move(found), id, next};
    }
    out.as_event = spoken_ == generation::v0_3 && !out.stream;
    return out;
}

outcome agent::refuse(const json& id, rpc_error code, std::string_view message) const
{
    outcome out;
    out.answer = error_response(spoken_, id, code, message);
    return out;
}

task_ref agent::start(const json& id, const json& params, outcome& refusal)
{
    const auto* message = member(params, "message");
    if (!is_message(message, spoken_)) {
        refusal = refuse(id, rpc_error::invalid_params, "message needs messageId, parts and the user's role");
        return nullptr;
    }
    if (const auto task_id = text_member(*message, "taskId"); !task_id.empty()) {
        refusal = board_.find(task_id) == nullptr
                      ? refuse(id, rpc_error::task_not_found, "There is no such task")
                      : refuse(id, rpc_error::unsupported_operation, "The task takes no further message");
        return nullptr;
    }
    const auto text = text_of(*member(*message, "parts"));
    if (text.empty()) {
        refusal = refuse(id, rpc_error::content_type_not_supported, "The message has no text");
        return nullptr;
    }
    auto what = spoken_ == generation::v0_3 ? count_words(text) : roll_dice(text);
    return board_.start(std::move(what), text_member(*message, "contextId"), *message);
}

task_ref agent::named(const json& id, const json& params, outcome& refusal) const
{
    const auto task_id = text_member(params, "id");
    if (task_id.empty()) {
        refusal = refuse(id, rpc_error::invalid_params, "id must be the id of a task");
        return nullptr;
    }
    auto found = board_.find(task_id);
    if (found == nullptr) {
        refusal = refuse(id, rpc_error::task_not_found, "There is no such task");
    }
    return found;
}

}  // namespace examples
