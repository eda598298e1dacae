#include "mcp/translation/input_questions.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view kind = "input_required";

core::error refused(std::string_view why)
{
    return core::upstream_error(core::errc::upstream_protocol, "input_required: " + std::string{why});
}

// A raw string, whose text is shorter by its quotes and escapes: of six bytes at most for one.
bool is_too_long(std::string_view state)
{
    constexpr std::size_t longest_raw = 6 * longest_request_state + 2;
    return state.size() > longest_raw ||
           (state.size() > longest_request_state + 2 && text_of(state).value_or("").size() > longest_request_state);
}

core::result<std::vector<input_request>> read_requests(std::string_view raw)
{
    std::vector<input_request> found;
    if (raw.empty() || raw == "null") {
        return found;
    }
    const auto members = raw_object::read(raw);
    if (!members) {
        return refused("inputRequests is not an object");
    }
    if (members->members().size() > most_input_requests) {
        return refused("too many requests at once");
    }
    for (const auto& each : members->members()) {
        const auto request = members_of(each.value);
        input_request read{.key = each.name, .method = request.text("method"), .params = request.find("params")};
        if (read.method.empty()) {
            return refused("a request without a method");
        }
        if (!read.params.empty() && !is_object(read.params)) {
            return refused("params of a request are not an object");
        }
        found.push_back(std::move(read));
    }
    return found;
}

// `part` is a view into `text`, or empty: it is not there.
void replace(std::string& text, std::string_view part, std::string_view instead)
{
    if (!part.empty()) {
        text.replace(static_cast<std::size_t>(part.data() - text.data()), part.size(), instead);
    }
}

}  // namespace

core::result<std::optional<asked_input>> read_asked_input(std::string_view answer)
{
    // Nearly every answer is a final one, and is not taken apart. One that spells the word with escapes passes as it is.
    if (::memmem(answer.data(), answer.size(), kind.data(), kind.size()) == nullptr) {
        return std::nullopt;
    }
    const auto result = members_of(members_of(answer).object("result"));
    if (result.text("resultType") != kind) {
        return std::nullopt;
    }
    auto requests = read_requests(result.find("inputRequests"));
    if (!requests) {
        return requests.error();
    }
    asked_input asked{.requests = std::move(*requests), .state = result.find("requestState")};
    if (!asked.state.empty() && !is_string(asked.state)) {
        return refused("requestState is not a string");
    }
    if (is_too_long(asked.state)) {
        return refused("requestState is too long");
    }
    if (asked.requests.empty() && asked.state.empty()) {
        return refused("neither requests nor a state");
    }
    return std::optional{std::move(asked)};
}

bool may_be_asked(const client_capabilities& declared, const input_request& request)
{
    const auto params = members_of(request.params);
    client_capabilities needed;
    if (request.method == "sampling/createMessage") {
        needed.add(client_capability::sampling);
        if (!params.find("tools").empty()) {
            needed.add(client_capability::sampling_tools);
        }
    } else if (request.method == "elicitation/create") {
        const bool url = params.text("mode") == "url";
        needed.add(url ? client_capability::elicitation_url : client_capability::elicitation_form);
    } else if (request.method == "roots/list") {
        needed.add(client_capability::roots);
    }
    return !needed.none() && needed.missing_from(declared).none();
}

std::string question_text(std::uint64_t id, const input_request& request)
{
    std::string out{R"({"jsonrpc":"2.0",)"};
    append_member(out, "id", std::to_string(id));
    append_text_member(out, "method", request.method);
    if (!request.params.empty()) {
        append_member(out, "params", request.params);
    }
    close(out, '}');
    return out;
}

void input_questions::add(const message& question)
{
    all_.push_back({
        .key = "input-" + std::to_string(++last_),
        .id = std::string{question.id},
        .method = question.method,
        .params = std::string{question.params},
    });
}

void input_questions::withdraw(std::string_view id)
{
    std::erase_if(all_, [id](const open_question& each) { return each.id == id; });
}

std::string input_questions::ask(std::string_view raw_id, std::string_view state)
{
    ++rounds_;
    std::string requests{"{"};
    for (std::size_t i = 0; i < std::min(all_.size(), most_at_once); ++i) {
        std::string request{"{"};
        append_text_member(request, "method", all_[i].method);
        if (!all_[i].params.empty()) {
            append_member(request, "params", all_[i].params);
        }
        close(request, '}');
        append_member(requests, all_[i].key, request);
    }
    close(requests, '}');
    std::string result{"{"};
    append_text_member(result, "resultType", "input_required");
    append_member(result, "inputRequests", requests);
    append_text_member(result, "requestState", state);
    close(result, '}');
    return answer_text(raw_id, "result", result);
}

std::vector<std::string> input_questions::take_answers(std::string_view responses)
{
    const auto given = members_of(responses);
    std::vector<std::string> answers;
    std::erase_if(all_, [&](const open_question& each) {
        const auto result = given.object(each.key);
        if (!result.empty()) {
            answers.push_back(answer_text(each.id, "result", result));
        }
        return !result.empty();
    });
    return answers;
}

std::vector<std::string> input_questions::refuse()
{
    std::vector<std::string> answers;
    for (const auto& each : std::exchange(all_, {})) {
        message question;
        question.method = each.method;
        question.id = each.id;
        answers.push_back(answer_to(question));
    }
    return answers;
}

std::string with_id(std::string answer, std::string_view raw_id)
{
    replace(answer, members_of(answer).find("id"), raw_id);
    return answer;
}

std::string with_progress_token(std::string notification, std::string_view raw_token)
{
    const auto params = members_of(notification).object("params");
    replace(notification, members_of(params).find("progressToken"), raw_token);
    return notification;
}

}  // namespace mcp
