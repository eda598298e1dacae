// What is done with cards on an operator's word.
#include "gateway/management/management.hpp"
#include "gateway/management/management_records.hpp"

#include <chrono>
#include <utility>

namespace gateway::management {

using core::json;

net::task<core::result<json>> management::refresh(std::string id, bool for_operator)
{
    const auto* before = cards_.status(id);
    const auto changes_before = before == nullptr ? 0 : before->changes;
    const auto after = co_await refreshed(id);
    if (!after) {
        co_return after.error();
    }
    if (after->failure) {
        co_return *after->failure;
    }
    const auto now = std::chrono::steady_clock::now();
    json answer{
        {"id", id},
        {"changed", after->changes != changes_before},
        {"card_status", card_status_record(*after, now)}
    };
    if (const auto session = sessions_.facts(id)) {
        answer["session"] = session_record(*session, now, for_operator);
    }
    co_return answer;
}

net::task<core::result<cards::card_status>> management::refreshed(std::string id)
{
    if (!sessions_.has(id)) {
        co_return co_await cards_.refresh(std::move(id));
    }
    const auto walked = co_await sessions_.refresh(id);
    if (!walked) {
        co_return walked.error();
    }
    const auto* status = cards_.status(id);
    if (status == nullptr) {
        co_return core::caller_error(core::errc::agent_not_found);
    }
    co_return *status;
}

net::task<core::result<cards::card_preview>> management::previewed(std::string id)
{
    if (!sessions_.has(id)) {
        co_return co_await cards_.preview(std::move(id));
    }
    const auto lists = co_await sessions_.look(id);
    if (!lists) {
        co_return lists.error();
    }
    co_return co_await cards_.preview_session_card(std::move(id), *lists);
}

// As text: it may be as long as the card, which the control loop neither reads nor writes.
net::task<core::result<std::string>> management::preview(std::string id)
{
    const auto seen = co_await previewed(id);
    if (!seen) {
        co_return seen.error();
    }
    const json rest{
        {"id", id},
        {"dryRun", true},
        {"changed", seen->before != seen->after},
        {"etag", seen->after->etag},
        {"problems", card_problems_record(seen->problems)}
    };
    auto text = core::to_text(rest);
    text.pop_back();
    text.append(R"(,"diff":)").append(seen->difference).append("}");
    co_return text;
}

}  // namespace gateway::management
