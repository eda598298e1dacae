#include "gateway/a2a/answer_edits.hpp"

#include "a2a/dialect/task_list.hpp"
#include "a2a/extension_header.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/model/control_services.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <vector>

namespace gateway::a2a {
namespace {

using core::errc;

// The result of a JSON-RPC answer, or the whole body of HTTP+JSON: a view into the answer; empty: it has none.
std::string_view result_of(::a2a::dialect caller, const std::string& answer)
{
    if (caller.over == ::a2a::binding::rest) {
        return core::count_members(answer) ? std::string_view{answer} : std::string_view{};
    }
    const auto scanned = core::scan_answer(answer);
    return scanned && scanned->kind == core::answer_kind::result ? scanned->result : std::string_view{};
}

}  // namespace

card_edit::card_edit(model::control_services& control, net::executor here, model::answered_card card)
    : answer_edit{{.limit = control.largest_card() + model::card_envelope, .events = card.where.in_result}},
      control_{control},
      here_{std::move(here)},
      card_{std::move(card)}
{
}

net::routine<core::result<model::edited_answer>> card_edit::edit(std::string text)
{
    auto card = card_;
    card.text = std::move(text);
    auto question = control_.edit(std::move(card));
    co_return co_await net::ask(control_.card_executor, here_, std::move(question));
}

std::string with_facts(const call_facts& facts, std::string answer)
{
    if (facts.text.empty() || answer.size() > facts_edit::longest) {
        return answer;
    }
    auto edited = ::a2a::add_facts(answer, facts.place, ::a2a::gateway_facts_extension, facts.text);
    return edited ? std::move(*edited) : std::move(answer);
}

facts_edit::facts_edit(call_facts facts, std::uint64_t limit)
    : answer_edit{{
          .limit = limit,
          .events = true,
          .too_large = errc::event_too_large,
          .unreadable = errc::upstream_protocol,
          .unexpected = errc::upstream_protocol,
      }},
      facts_{std::move(facts)}
{
}

void facts_edit::add_fields(std::string& fields) const
{
    net::http1::head_writer{fields}.field(facts_.field, ::a2a::gateway_facts_extension);
}

net::routine<core::result<model::edited_answer>> facts_edit::edit(std::string text)
{
    auto edited = text.size() > longest
                      ? std::nullopt
                      : ::a2a::add_facts(text, facts_.place, ::a2a::gateway_facts_extension, facts_.text);
    if (!edited) {
        co_return model::edited_answer{std::move(text), false};
    }
    co_return model::edited_answer{std::move(*edited), true};
}

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

core::result<model::edited_answer> task_list_edit::edit_here(std::string text) const
{
    const auto result = result_of(caller_, text);
    if (result.empty()) {
        return model::edited_answer{std::move(text), false};
    }
    const auto kept = ::a2a::kept_tasks(result, [this](std::string_view task) { return guard_.knows_own(task); });
    const auto begin = static_cast<std::size_t>(result.data() - text.data());
    auto whole = text.substr(0, begin);
    whole.append(kept).append(text, begin + result.size());
    return model::edited_answer{std::move(whole), true};
}

}  // namespace gateway::a2a
