#include "gateway/mcp/route/list_edit.hpp"

#include "net/loop/ask.hpp"

#include <utility>

namespace gateway::mcp::route {
namespace {

// A list of this size takes a millisecond.
constexpr std::size_t edited_at_once = 256 * 1024;

}  // namespace

list_edit::list_edit(
    std::shared_ptr<const model::agent_entry> agent,
    ::mcp::list_kind list,
    const std::vector<std::string>* scopes,
    threads::side_thread& side,
    net::executor here
)
    : relay::answer_edit{{
          .limit = agent->record.mcp->max_message,
          .too_large = core::errc::message_too_large,
          .unreadable = core::errc::upstream_protocol,
      }},
      agent_{std::move(agent)},
      list_{list},
      scopes_{scopes},
      side_{side},
      here_{std::move(here)}
{
}

core::result<model::edited_answer> list_edit::edit_here(const std::string& text) const
{
    auto edited = ::mcp::edit_list(*agent_->filters, list_, text, scopes_);
    if (!edited) {
        return std::move(edited).error();
    }
    return model::edited_answer{std::move(edited->text), true};
}

net::routine<core::result<model::edited_answer>> list_edit::edit(std::string text)
{
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        // The event that a stream begins with, so that it can be resumed (MCP 2025-11-25, basic/transports).
        co_return model::edited_answer{std::move(text), false};
    }
    if (text.size() <= edited_at_once) {
        co_return edit_here(text);
    }
    auto asked = side_.ask<core::result<model::edited_answer>>([this, &text] { return edit_here(text); });
    co_return co_await net::ask(here_, here_, std::move(asked));
}

}  // namespace gateway::mcp::route
