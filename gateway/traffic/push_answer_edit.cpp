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

}  // namespace

push_answer_edit::push_answer_edit(
    std::shared_ptr<const model::push_addresses> addresses,
    push_question about,
    model::side_thread& side,
    net::executor here
)
    : answer_edit{{
          .limit = longest_push_answer,
          .too_large = core::errc::message_too_large,
          .unreadable = core::errc::upstream_protocol,
      }},
      addresses_{std::move(addresses)},
      about_{std::move(about)},
      side_{side},
      here_{std::move(here)}
{
}

model::edited_answer push_answer_edit::edit_here(const std::string& text) const
{
    const auto answer = core::scan_answer(text);
    if (!answer || answer->kind != core::answer_kind::result) {
        return {text, false};
    }
    std::vector<a2a::push_replacement> with;
    for (const auto& each : a2a::find_answered_push(about_.caller, about_.asked, answer->result)) {
        const auto url = core::unescape_json(each.url.substr(1, each.url.size() - 2));
        const auto receiver = addresses_->open(about_.agent, std::string_view{url}.substr(url.rfind('/') + 1));
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

net::routine<core::result<model::edited_answer>> push_answer_edit::edit(std::string text)
{
    if (text.size() <= edited_at_once) {
        co_return edit_here(text);
    }
    auto asked = side_.ask<model::edited_answer>([this, &text] { return edit_here(text); });
    co_return co_await net::ask(here_, here_, std::move(asked));
}

}  // namespace gateway::traffic
