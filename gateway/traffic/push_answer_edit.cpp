#include "gateway/traffic/push_answer_edit.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_answer.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <utility>
#include <vector>

namespace gateway::traffic {

push_answer_edit::push_answer_edit(
    std::shared_ptr<const model::push_addresses> addresses,
    std::string agent,
    a2a::dialect caller,
    a2a::operation asked
)
    : answer_edit{{
          .limit = longest_push_answer,
          .too_large = core::errc::message_too_large,
          .unreadable = core::errc::upstream_protocol,
      }},
      addresses_{std::move(addresses)},
      agent_{std::move(agent)},
      caller_{caller},
      asked_{asked}
{
}

net::routine<core::result<model::edited_answer>> push_answer_edit::edit(std::string text)
{
    const auto answer = core::scan_answer(text);
    if (!answer || answer->kind != core::answer_kind::result) {
        co_return model::edited_answer{std::move(text), false};
    }
    std::vector<a2a::push_replacement> with;
    for (const auto& each : a2a::find_answered_push(caller_, asked_, answer->result)) {
        const auto url = core::unescape_json(each.url.substr(1, each.url.size() - 2));
        const auto receiver = addresses_->open(agent_, std::string_view{url}.substr(url.rfind('/') + 1));
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
        co_return model::edited_answer{std::move(text), false};
    }
    co_return model::edited_answer{a2a::with_push_configs(text, with), true};
}

}  // namespace gateway::traffic
