#include "gateway/traffic/push_answer_edit.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_answer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "net/loop/ask.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::traffic {
namespace {

// What takes longer to read is read on another thread.
constexpr std::size_t edited_at_once = 256 * 1024;

answer_edit::terms terms_after(const answer_edit* before, std::uint64_t limit) noexcept
{
    if (before != nullptr) {
        return before->on();
    }
    return {
        .limit = limit,
        .too_large = core::errc::message_too_large,
        .unreadable = core::errc::upstream_protocol,
    };
}

// A view into the answer; empty: it has none. Of HTTP+JSON it is the whole body.
std::string_view result_of(a2a::dialect caller, const std::string& answer)
{
    if (caller.over == a2a::binding::rest) {
        return core::count_members(answer) ? std::string_view{answer} : std::string_view{};
    }
    const auto scanned = core::scan_answer(answer);
    return scanned && scanned->kind == core::answer_kind::result ? scanned->result : std::string_view{};
}

}  // namespace

push_answer_edit::push_answer_edit(push_question about, means with, std::unique_ptr<answer_edit> before)
    : answer_edit{terms_after(before.get(), with.limit)},
      about_{std::move(about)},
      with_{std::move(with)},
      before_{std::move(before)}
{
}

model::edited_answer push_answer_edit::edit_here(const std::string& text) const
{
    const auto result = result_of(about_.caller, text);
    if (result.empty()) {
        return {text, false};
    }
    std::vector<a2a::push_replacement> with;
    for (const auto& each : a2a::find_answered_push(about_.caller, about_.asked, result)) {
        const auto url = core::unescape_json(each.url.substr(1, each.url.size() - 2));
        const auto receiver = with_.addresses->open(about_.agent, std::string_view{url}.substr(url.rfind('/') + 1));
        if (!receiver) {
            continue;
        }
        auto& by = with.emplace_back();
        by.at = each;
        core::append_json_string(by.url, receiver->url);
        by.token = receiver->token;
        by.authentication = receiver->authentication;
    }
    if (with.empty()) {
        return {text, false};
    }
    return {a2a::with_push_configs(text, with), true};
}

void push_answer_edit::begin(const net::http1::response_head& head, bool events, side_requests& beside)
{
    if (before_ != nullptr) {
        before_->begin(head, events, beside);
    }
}

void push_answer_edit::add_fields(std::string& fields) const
{
    if (before_ != nullptr) {
        before_->add_fields(fields);
    }
}

net::routine<core::result<std::string>> push_answer_edit::opening()
{
    if (before_ == nullptr) {
        co_return std::string{};
    }
    co_return co_await before_->opening();
}

net::routine<core::result<model::edited_answer>> push_answer_edit::edit(std::string text)
{
    model::edited_answer before;
    if (before_ != nullptr) {
        auto first = co_await before_->edit(std::move(text));
        if (!first) {
            co_return std::move(first).error();
        }
        before = std::move(*first);
        text = std::exchange(before.text, {});
    }
    model::edited_answer last;
    if (text.size() <= edited_at_once) {
        last = edit_here(text);
    } else {
        auto asked = with_.side.ask<model::edited_answer>([this, &text] { return edit_here(text); });
        last = co_await net::ask(with_.here, with_.here, std::move(asked));
    }
    last.edited = last.edited || before.edited;
    last.status = before.status;
    last.refused = before.refused;
    co_return last;
}

}  // namespace gateway::traffic
