#include "mcp/translation/input_questions.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

std::string answer_text(std::string_view raw_id, std::string_view result)
{
    std::string text{R"({"jsonrpc":"2.0",)"};
    append_member(text, "id", raw_id);
    append_member(text, "result", result);
    close(text, '}');
    return text;
}

// `part` is a view into `text`, or empty: it is not there.
void replace(std::string& text, std::string_view part, std::string_view instead)
{
    if (!part.empty()) {
        text.replace(static_cast<std::size_t>(part.data() - text.data()), part.size(), instead);
    }
}

}  // namespace

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
    return answer_text(raw_id, result);
}

std::vector<std::string> input_questions::take_answers(std::string_view responses)
{
    const auto given = members_of(responses);
    std::vector<std::string> answers;
    std::erase_if(all_, [&](const open_question& each) {
        const auto result = given.object(each.key);
        if (!result.empty()) {
            answers.push_back(answer_text(each.id, result));
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
