#include "gateway/mcp/eras/translated_call.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/translation/asked_input.hpp"
#include "mcp/translation/modern_answer.hpp"

#include <utility>

namespace gateway::mcp::eras {

std::shared_ptr<table::text_queue> translated_call::open(const call_request& request)
{
    auto reader = std::make_shared<table::text_queue>(owner_.executor());
    id_ = request.id;
    token_ = request.progress_token;
    reader_ = reader;
    reader->on_left([this, alive = std::weak_ptr<bool>{alive_}](table::text_queue& /*queue*/) {
        if (!alive.expired()) {
            owner_.over(*this);
        }
    });
    session_.answer->set_wake([this] { look(); });
    look();
    return reader;
}

std::shared_ptr<table::text_queue> translated_call::go_on(const call_request& request, std::string_view responses)
{
    again_ = true;
    for (const auto& answer : questions_.take_answers(responses)) {
        if (auto told = owner_.tell(*this, answer); !told) {
            auto reader = std::make_shared<table::text_queue>(owner_.executor());
            reader->fail(std::move(told).error());
            owner_.over(*this);
            return reader;
        }
    }
    if (!questions_.empty()) {
        gather();
    }
    return open(request);
}

// Nothing is taken while the call is parked: that is for the next request.
void translated_call::look()
{
    const auto reader = reader_.lock();
    if (reader == nullptr) {
        return;
    }
    auto& from = *session_.answer;
    while (auto text = from.take()) {
        if (from.over() && !from.failure()) {
            return finish(*reader, std::move(*text));
        }
        came(*reader, std::move(*text));
    }
    from.arrived();
    if (!from.over()) {
        return;
    }
    if (const auto& failure = from.failure()) {
        reader->fail(*failure);
    } else {
        reader->close();
    }
    owner_.over(*this);
}

void translated_call::came(table::text_queue& reader, std::string text)
{
    const auto read = ::mcp::read_message(text, {.bytes = text.size()});
    if (!read) {
        return;
    }
    if (read->kind == ::mcp::message_kind::request) {
        return ask(*read);
    }
    if (read->method == "notifications/cancelled") {
        return questions_.withdraw(::mcp::members_of(read->params).find("requestId"));
    }
    // MCP 2026-07-28, server/utilities/logging: none without a level in the request.
    if (read->method == "notifications/message" && !terms_.logs) {
        return;
    }
    if (again_ && read->method == "notifications/progress") {
        if (token_.empty()) {
            return;
        }
        text = ::mcp::with_progress_token(std::move(text), token_);
    }
    reader.push(std::move(text), table::text_kind::notification);
}

void translated_call::ask(const ::mcp::message& question)
{
    const ::mcp::input_request asked{.key = {}, .method = question.method, .params = question.params};
    if (!::mcp::may_be_asked(terms_.declared, asked) || !questions_.may_ask()) {
        return refuse(::mcp::answer_to(question));
    }
    questions_.add(question);
    if (!gathering_) {
        gather();
    }
}

// A program that does not read that waits for nothing.
void translated_call::refuse(const std::string& answer)
{
    static_cast<void>(owner_.tell(*this, answer));
}

void translated_call::gather()
{
    gathering_.emplace(owner_.executor(), gathers);
    gathering_->async_wait([this, alive = std::weak_ptr<bool>{alive_}](const net::error_code& cancelled) {
        if (!cancelled && !alive.expired()) {
            gathering_.reset();
            ask_client();
        }
    });
}

void translated_call::ask_client()
{
    const auto reader = reader_.lock();
    if (reader == nullptr || questions_.empty()) {
        return;
    }
    const auto state = questions_.may_ask() ? owner_.park(*this) : std::nullopt;
    if (!state) {
        for (const auto& answer : questions_.refuse()) {
            refuse(answer);
        }
        return;
    }
    reader_.reset();
    reader->finish(questions_.ask(id_, *state));
}

void translated_call::finish(table::text_queue& reader, std::string answer)
{
    if (terms_.method == ::mcp::client_method::discover) {
        const auto facts = ::mcp::read_initialize_result(::mcp::members_of(answer).object("result"));
        if (facts) {
            answer = ::mcp::discover_answer(id_, *facts, /*tells_changes=*/false);
        } else {
            answer.clear();
            reader.fail(facts.error());
        }
    } else if (again_) {
        answer = ::mcp::with_id(std::move(answer), id_);
    }
    if (!answer.empty()) {
        reader.finish(std::move(answer));
    }
    owner_.over(*this);
}

}  // namespace gateway::mcp::eras
