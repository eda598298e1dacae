#include "gateway/mcp/table/gathered_answers.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gateway::mcp::table {
namespace {

text_kind kind_of(std::string_view text)
{
    const auto message = ::mcp::members_of(text);
    if (message.find("method").empty()) {
        return text_kind::answer;
    }
    return message.find("id").empty() ? text_kind::notification : text_kind::question;
}

void refuse_all(text_queue& of, const gathered_answers::refuse_function& refuse)
{
    for (const auto& each : of.take_questions()) {
        refuse(each);
    }
}

}  // namespace

core::result<std::vector<gathered_answers::member>> gathered_answers::ask_each(
    const std::vector<::mcp::kept_message>& batch,
    const ::mcp::message_head& head,
    session_table& in,
    const session_key& key
) const
{
    std::vector<member> members;
    core::result<> told;
    for (const auto& each : batch) {
        auto message = each.view();
        message.head = &head;
        if (message.method.empty() || message.id.empty()) {
            auto outcome = in.tell(key, message);
            if (told && !outcome) {
                told = std::move(outcome);
            }
            continue;
        }
        auto answer = in.request(key, message);
        if (!answer && answer.error().code == core::errc::session_not_found) {
            return std::move(answer).error();
        }
        if (!answer) {
            auto refused = std::make_shared<text_queue>(on_);
            refused->fail(std::move(answer).error());
            answer = std::move(refused);
        }
        members.push_back({std::string{message.id}, std::move(*answer)});
    }
    if (members.empty() && !told) {
        return std::move(told).error();
    }
    return members;
}

std::shared_ptr<text_queue>
gathered_answers::gather(std::vector<member> members, std::string agent_id, refuse_function refuse)
{
    auto reader = std::make_shared<text_queue>(on_);
    auto& added = all_.emplace_back(std::move(members), std::move(agent_id), refuse, reader);
    const std::weak_ptr<bool> alive{alive_};
    for (const auto& each : added.members) {
        each.answer->set_wake([this, alive, at = &added] {
            if (!alive.expired()) {
                look(*at);
            }
        });
    }
    reader->on_left([this, alive, at = &added, refuse = std::move(refuse)](text_queue& queue) {
        if (!alive.expired()) {
            refuse_all(queue, refuse);
            drop(at);
        }
    });
    look(added);
    return reader;
}

// What was taken is the reader's from then on, also a question whose call is answered before the client has got it.
void gathered_answers::look(batch& at)
{
    const auto reader = at.reader.lock();
    if (reader == nullptr) {
        return;
    }
    std::erase_if(at.members, [&](const member& each) {
        auto& from = *each.answer;
        while (auto text = from.take()) {
            from.arrived();
            const auto kind = kind_of(*text);
            if (kind != text_kind::question) {
                reader->push(std::move(*text), kind);
            } else if (!reader->push(*text, kind)) {
                at.refuse(*text);
            }
        }
        if (!from.over()) {
            return false;
        }
        if (const auto& why = from.failure()) {
            reader->push(core::jsonrpc_error_body(each.id, why->code, at.agent_id), text_kind::answer);
        }
        from.set_wake({});
        return true;
    });
    if (at.members.empty()) {
        // There is nothing to drop any more, but the reader may not have got what it was asked.
        reader->on_left([alive = std::weak_ptr<bool>{alive_}, refuse = at.refuse](text_queue& queue) {
            if (!alive.expired()) {
                refuse_all(queue, refuse);
            }
        });
        reader->close();
        drop(&at);
    }
}

// A session may keep the queue of a request that waits for its program.
void gathered_answers::drop(const batch* at)
{
    const auto found = std::ranges::find_if(all_, [at](const batch& each) { return &each == at; });
    for (const auto& each : found->members) {
        each.answer->set_wake({});
    }
    all_.erase(found);
}

gathered_answers::refuse_function refusing(session_table& in, const session_key& key)
{
    return [&in,
            handle = std::string{key.handle},
            agent = std::string{key.agent_id},
            principal = std::string{key.principal}](const std::string& question) {
        const auto read = ::mcp::read_message(question, {.bytes = question.size()});
        if (!read) {
            return;
        }
        const auto text = ::mcp::answer_to(*read);
        ::mcp::client_message answer;
        answer.text = text;
        answer.id = ::mcp::members_of(text).find("id");
        static_cast<void>(in.tell({handle, agent, principal}, answer));
    };
}

}  // namespace gateway::mcp::table
