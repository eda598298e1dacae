#include "gateway/a2a/push_answer_edit.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace gateway::a2a {

core::result<model::edited_answer> push_answer_edit::edit_here(std::string text) const
{
    const auto result = result_of(about_.caller, text);
    if (result.empty()) {
        return model::edited_answer{std::move(text), false};
    }
    std::vector<::a2a::push_replacement> with;
    for (const auto& each : ::a2a::find_answered_push(about_.caller, about_.asked, result)) {
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
        return model::edited_answer{std::move(text), false};
    }
    return model::edited_answer{::a2a::with_push_configs(text, with), true};
}

}  // namespace gateway::a2a
