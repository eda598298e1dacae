#include "mcp/calls/exchange_book.hpp"

#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <utility>

namespace mcp {
namespace {

using core::errc;

constexpr std::int64_t invalid_request = -32600;

// Servers need not answer what is cancelled (MCP 2025-11-25, basic/utilities/cancellation), and most do not.
constexpr std::chrono::minutes answer_owed_for{1};
constexpr std::size_t most_owed = 1024;  // ids that are kept: with one of them, no answer without an id is anybody's

struct replacement {
    std::string_view part;  // into the text; empty: nothing is replaced
    std::string_view by;
};

// `parts` in any order; they do not overlap.
std::string replaced(std::string_view text, std::array<replacement, 2> parts)
{
    if (!parts[0].part.empty() && !parts[1].part.empty() && parts[1].part.data() < parts[0].part.data()) {
        std::swap(parts[0], parts[1]);
    }
    std::string out;
    out.reserve(text.size() + parts[0].by.size() + parts[1].by.size() + 1);  // and the line end that a program needs
    std::size_t from = 0;
    for (const auto& each : parts) {
        if (!each.part.empty()) {
            const auto at = static_cast<std::size_t>(each.part.data() - text.data());
            out.append(text.substr(from, at - from)).append(each.by);
            from = at + each.part.size();
        }
    }
    out += text.substr(from);
    return out;  // by its name, which is moved
}

// A token that is neither a string nor a number is for the server to refuse.
bool is_name(std::string_view raw) noexcept
{
    return is_string(raw) || (!raw.empty() && (raw.front() == '-' || (raw.front() >= '0' && raw.front() <= '9')));
}

bool is_about_lists_or_resources(std::string_view method) noexcept
{
    return method.ends_with("/list_changed") || method == "notifications/resources/updated" ||
           method == "notifications/elicitation/complete" || method == "notifications/tasks/status";
}

std::string cancellation(std::string_view id, std::string_view reason)
{
    std::string params;
    append_member(params, "requestId", id);
    append_text_member(params, "reason", reason);
    close(params, '}');
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{)" + params + "}";
}

// That a client has to have declared to be asked this; empty: none.
std::string_view capability_for(std::string_view method) noexcept
{
    for (const std::string_view each : {"sampling", "elicitation", "roots", "tasks"}) {
        if (method.starts_with(each) && method.substr(each.size()).starts_with('/')) {
            return each;
        }
    }
    return {};
}

}  // namespace

exchange_book::exchange_book(book_settings settings)
    : settings_{std::move(settings)},
      ids_{/*always=*/false},
      tokens_{settings_.shared || settings_.renames},
      questions_{settings_.first_question},
      last_{settings_.shared || settings_.renames ? call_number{upstream_names::first_new} - 1 : 0}
{
}

core::result<exchange_book::begun> exchange_book::begin(const client_message& request)
{
    const bool listens = settings_.most_listens > 0 && stays_open(request.method);
    const bool room = listens ? listens_ < settings_.most_listens : calls_.size() - listens_ < settings_.most_calls;
    const auto most = listens ? core::half_of(settings_.most_listens) : settings_.most_of_principal;
    const auto whose = settings_.most_of_principal > 0 ? core::mark_of_principal({}, request.principal) : 0;
    auto share = core::all_shares().take(core::place_shares::of_object(this, listens ? "listen" : ""), whose, most);
    if (!room || !share) {
        return core::gateway_error(errc::overloaded, "too many calls are in flight, of all or of this principal");
    }
    open_call added;
    added.share = std::move(*share);
    added.listens = listens;
    listens_ += listens ? 1 : 0;
    added.id = request.id;
    added.client = request.client;
    added.initialize = request.method == "initialize";
    const auto call = ++last_;
    const bool numbered = settings_.shared || settings_.renames || settings_.numbered;
    added.upstream_id = numbered ? std::to_string(call) : ids_.name_for(request.id);
    const auto token = is_name(request.progress_token) ? request.progress_token : std::string_view{};
    if (!token.empty()) {
        added.token = token;
        added.upstream_token = tokens_.name_for(token);
    }
    begun made;
    made.call = call;
    made.id = integer_of<std::uint64_t>(added.upstream_id).value_or(0);
    made.text = replaced(request.text, {{{request.id, added.upstream_id}, {token, added.upstream_token}}});
    by_id_.add(added.upstream_id, made.call);
    if (!token.empty()) {
        by_token_.add(added.upstream_token, made.call);
    }
    calls_.emplace(made.call, std::move(added));
    return made;
}

std::optional<exchange_book::cancelled> exchange_book::cancel(const client_message& notification)
{
    const auto id = plain_name(notification.request_id);
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const auto& each) {
        return each.second.client == notification.client && is_spelled(each.second.id, id);
    });
    if (found == calls_.rend() || found->second.initialize) {
        return std::nullopt;
    }
    cancelled told;
    told.call = found->first;
    const auto call = give_up(calls_.find(told.call));
    told.text = replaced(notification.text, {{{notification.request_id, call.upstream_id}, {}}});
    return told;
}

std::string exchange_book::cancel(call_number call, std::string_view reason)
{
    const auto found = calls_.find(call);
    if (found == calls_.end()) {
        return {};
    }
    const auto ended = give_up(found);
    return ended.initialize ? std::string{} : cancellation(ended.upstream_id, reason);
}

void exchange_book::set_attached(call_number call, bool on)
{
    const auto found = calls_.find(call);
    if (found != calls_.end()) {
        found->second.attached = on;
    }
}

std::optional<exchange_book::answered> exchange_book::take_answer(const client_message& answer)
{
    auto question = questions_.take(answer.id);
    if (!question) {
        return std::nullopt;
    }
    const bool as_it_came = plain_name(question->id) == plain_name(answer.id);
    auto text = as_it_came ? std::string{answer.text} : replaced(answer.text, {{{answer.id, question->id}, {}}});
    return answered{question->asked_in, std::move(text)};
}

std::string exchange_book::refuse_question(std::string_view text)
{
    auto read = read_message(text, settings_.messages);
    if (!read || read->kind != message_kind::request) {
        return {};
    }
    const auto question = questions_.take(read->id);
    if (!question) {
        return {};
    }
    read->id = question->id;
    return answer_to(*read);
}

std::vector<std::string> exchange_book::expire_questions(core::steady_time now, core::duration patience)
{
    if (now - turned_ >= answer_owed_for) {
        turned_ = now;
        owed_before_ = std::exchange(owed_, {});
    }
    auto answers = questions_.expire(now, patience);
    for (auto& each : answers) {
        each = error_answer(each, internal_error, "The client did not answer in time");
    }
    return answers;
}

delivery exchange_book::take(std::string_view text, const core::result<message>& read, const read_part* known)
{
    if (!read) {
        return fail(known != nullptr ? known->whom : addressee_of(text, true), refused_answer(read.error()));
    }
    switch (read->kind) {
        case message_kind::result:
        case message_kind::failure:
            return take_response(text, *read);
        case message_kind::request:
            return take_question(text, *read);
        case message_kind::notification:
            return take_notification(text, *read, known != nullptr ? known->note : parts_of(*read));
    }
    return drop();
}

delivery exchange_book::take_too_long(std::string_view beginning, std::size_t limit)
{
    const auto why = core::upstream_error(
        errc::message_too_large,
        "a message is over max_message, " + std::to_string(limit) + " bytes"
    );
    return fail(addressee_of(beginning, false), why);
}

// A call that listens ends a stream with its answer, which names it. Where clients know nothing of one another, what may be the answer to a call
// that was given up goes to nobody.
exchange_book::open_calls::iterator exchange_book::only_call()
{
    if (!owed_.empty() || !owed_before_.empty()) {
        return calls_.end();
    }
    const auto ends = [](const auto& each) { return !each.second.listens; };
    return std::ranges::count_if(calls_, ends) == 1 ? std::ranges::find_if(calls_, ends) : calls_.end();
}

exchange_book::open_call exchange_book::give_up(open_calls::iterator call)
{
    if (settings_.shared && owed_.size() < most_owed) {
        owed_.insert(call->second.upstream_id);
    }
    return end(call);
}

exchange_book::open_call exchange_book::end(open_calls::iterator call)
{
    questions_.end(call->first);
    auto ended = std::move(call->second);
    listens_ -= ended.listens ? 1 : 0;
    ended.share.give_back();
    calls_.erase(call);
    by_id_.remove(ended.upstream_id);
    if (!ended.upstream_token.empty()) {
        by_token_.remove(ended.upstream_token);
    }
    return ended;
}

delivery exchange_book::drop(bool unnamed)
{
    ++dropped_;
    if (const auto note = unnamed ? std::exchange(settings_.note, nullptr) : nullptr) {
        note("an answer without an id, for which not one call alone waits");
    }
    return {};
}

// Who waits for it hears that it will not come.
delivery exchange_book::fail(const addressee& whom, const core::error& why)
{
    const auto meant = whom.answer ? calls_.find(by_id_.find_answered(whom.raw)) : calls_.end();
    const auto found = whom.to_nobody() ? only_call() : meant;
    if (found == calls_.end()) {
        return drop(whom.to_nobody());
    }
    ++dropped_;
    const auto call = found->first;
    end(found);
    return {.to = destination::call, .call = call, .last = true, .failure = why};
}

delivery exchange_book::take_response(std::string_view text, const message& read)
{
    const bool named = names_request(read.id);
    const auto found = named ? calls_.find(by_id_.find_answered(read.id)) : only_call();
    if (found == calls_.end()) {
        owed_.erase(plain_name(read.id));
        owed_before_.erase(plain_name(read.id));
        return drop(!named);
    }
    if (found->second.initialize && text.size() > longest_handshake) {
        const auto why = core::upstream_error(errc::message_too_large, "the answer to initialize is over 256 KiB");
        return fail({true, std::nullopt, false, found->second.upstream_id}, why);
    }
    delivery answer{.to = destination::call, .call = found->first, .last = true};
    answer.refused = read.kind == message_kind::failure;
    const auto call = end(found);
    answer.text = answer_with_id(text, read, call.id);
    return answer;
}

delivery exchange_book::take_question(std::string_view text, const message& read)
{
    auto told = put_question(text, read);
    if (settings_.tally != nullptr) {
        settings_.tally->count(read.method, told.question ? question_end::passed : question_end::answered);
    }
    return told;
}

delivery exchange_book::put_question(std::string_view text, const message& read)
{
    const bool unreadable_ping = read.method == "ping" && !has_reader();
    std::string refused;
    if (read.id.size() > server_questions::longest_id) {
        refused = error_answer("null", invalid_request, "The id is too long");
    } else if (settings_.shared || unreadable_ping || !may_ask(read.method)) {
        refused = answer_to(read);
    } else if (questions_.size() >= settings_.most_questions) {
        refused = error_answer(read.id, internal_error, "Too many open requests");
    } else if (questions_.has(read.id)) {
        refused = error_answer(read.id, invalid_request, "The id is of another open request");
    }
    if (!refused.empty()) {
        return {.to = destination::server, .text = std::move(refused)};
    }
    const auto id = questions_.name_for(read.id);
    auto asked = to_reader(id == read.id ? std::string{text} : replaced(text, {{{read.id, id}, {}}}));
    asked.question = true;
    questions_.add(id, {std::string{read.id}, asked.call});
    return asked;
}

delivery exchange_book::take_notification(std::string_view text, const message& read, const note_parts& parts)
{
    if (read.method == "notifications/progress") {
        return take_progress(text, parts.progress_token);
    }
    if (read.method == "notifications/cancelled") {
        return take_withdrawn(text, parts.request_id);
    }
    if (const auto subscription = parts.subscription_id; !subscription.empty()) {
        const auto found = find(by_id_, subscription);
        if (found == calls_.end()) {
            return drop();
        }
        auto changed = replaced(text, {{{subscription, found->second.id}, {}}});
        return {.to = destination::call, .call = found->first, .text = std::move(changed)};
    }
    if (is_about_lists_or_resources(read.method)) {
        return {.to = destination::unasked, .text = std::string{text}};
    }
    // With several clients, the call that it is about is not known.
    return settings_.shared ? drop() : to_reader(std::string{text});
}

delivery exchange_book::take_progress(std::string_view text, std::string_view token)
{
    const auto found = find(by_token_, token);
    if (found == calls_.end()) {
        return drop();
    }
    auto changed = replaced(text, {{{token, found->second.token}, {}}});
    return {.to = destination::call, .call = found->first, .text = std::move(changed)};
}

// The server has withdrawn a question, or ended a subscription.
delivery exchange_book::take_withdrawn(std::string_view text, std::string_view id)
{
    if (const auto question = questions_.withdraw(id)) {
        const bool as_it_came = plain_name(id) == question->name;
        auto back = as_it_came ? std::string{text} : replaced(text, {{{id, question->name}, {}}});
        const auto to = question->asked_in == 0 ? destination::unasked : destination::call;
        return {.to = to, .call = question->asked_in, .text = std::move(back)};
    }
    const auto found = find(by_id_, id);
    if (found == calls_.end()) {
        return drop();
    }
    auto ended = replaced(text, {{{id, found->second.id}, {}}});
    return {.to = destination::call, .call = found->first, .text = std::move(ended)};
}

// All calls are of one client, which gets what is said either way; most likely it is about the only call, or about the latest.
delivery exchange_book::to_reader(std::string text)
{
    const auto attached = [](const auto& each) { return each.second.attached; };
    const auto latest = std::find_if(calls_.rbegin(), calls_.rend(), attached);
    const bool several =
        latest != calls_.rend() && std::find_if(std::next(latest), calls_.rend(), attached) != calls_.rend();
    delivery told;
    told.text = std::move(text);
    if (latest == calls_.rend() || (several && listening_)) {
        told.to = destination::unasked;
    } else {
        told.to = destination::call;
        told.call = latest->first;
    }
    return told;
}

bool exchange_book::may_ask(std::string_view method) const
{
    const auto capability = capability_for(method);
    return capability.empty() ? !settings_.only_declared
                              : std::ranges::find(settings_.declared, capability) != settings_.declared.end();
}

bool exchange_book::has_reader() const
{
    return listening_ || std::ranges::any_of(calls_, [](const auto& each) { return each.second.attached; });
}

}  // namespace mcp
