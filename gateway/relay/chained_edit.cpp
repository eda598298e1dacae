#include "gateway/relay/chained_edit.hpp"

#include "core/json/jsonrpc_answer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "net/loop/ask.hpp"

#include <cstddef>
#include <utility>

namespace gateway::relay {
namespace {

// What takes longer to read is read on another thread.
constexpr std::size_t edited_at_once = 256 * 1024;

answer_edit::terms terms_after(const answer_edit* before, std::uint64_t limit, bool each) noexcept
{
    if (before != nullptr) {
        return before->on();
    }
    return {
        .limit = limit,
        .each = each,
        .too_large = core::errc::message_too_large,
        .unreadable = core::errc::upstream_protocol,
    };
}

}  // namespace

chained_edit::chained_edit(means with, std::unique_ptr<answer_edit> before)
    : answer_edit{terms_after(before.get(), with.limit, with.each)},
      side_{with.side},
      here_{std::move(with.here)},
      before_{std::move(before)}
{
}

std::string_view chained_edit::result_of(::a2a::dialect caller, const std::string& answer)
{
    if (caller.over == ::a2a::binding::rest) {
        return core::count_members(answer) ? std::string_view{answer} : std::string_view{};
    }
    const auto scanned = core::scan_answer(answer);
    return scanned && scanned->kind == core::answer_kind::result ? scanned->result : std::string_view{};
}

void chained_edit::begin(const net::http1::response_head& head, bool events, side_requests& beside)
{
    if (before_ != nullptr) {
        before_->begin(head, events, beside);
    }
}

void chained_edit::add_fields(std::string& fields) const
{
    if (before_ != nullptr) {
        before_->add_fields(fields);
    }
}

net::routine<core::result<std::string>> chained_edit::opening()
{
    if (before_ == nullptr) {
        co_return std::string{};
    }
    co_return co_await before_->opening();
}

std::optional<model::edited_answer> chained_edit::instead()
{
    return before_ == nullptr ? std::nullopt : before_->instead();
}

net::routine<core::result<model::edited_answer>> chained_edit::edit(std::string text)
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
    core::result<model::edited_answer> last;
    if (text.size() <= edited_at_once) {
        last = edit_here(std::move(text));
    } else {
        auto asked =
            side_.ask<core::result<model::edited_answer>>([this, &text] { return edit_here(std::move(text)); });
        last = co_await net::ask(here_, here_, std::move(asked));
    }
    if (last) {
        last->edited = last->edited || before.edited;
        last->status = before.status;
        last->refused = before.refused;
    }
    co_return last;
}

}  // namespace gateway::relay
