#include "gateway/management/card_methods.hpp"

#include "core/error.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/json_records.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace gateway::management {

using core::errc;
using core::json;

card_methods::card_methods(const registry& agents, cards::card_plane& cards, sessions::session_plane& sessions)
    : registry_{agents},
      cards_{cards},
      sessions_{sessions}
{
}

net::task<rpc_result>
card_methods::refresh(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    if (caller.shows) {
        co_return denied(request, errc::forbidden);
    }
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    if (agent->contained) {
        co_return failed(request, agent->entry->record.id, errc::agent_contained, caller);
    }
    const auto* wish = core::member(request.params, "dryRun");
    if (wish != nullptr && !wish->is_boolean()) {
        co_return core::make_error(request.id, errc::invalid_params, {{"wrong", "dryRun"}});
    }
    const auto id = agent->entry->record.id;
    core::result<std::string> outcome = core::gateway_error(errc::overloaded, "its card has been fetched a moment ago");
    if (caller.may_write || cards_.may_be_fetched(id)) {
        if (wish != nullptr && wish->get<bool>()) {
            outcome = co_await previewed(id);
        } else {
            outcome = co_await refreshed(id, caller.may_write);
        }
    }
    if (outcome) {
        co_return core::make_result_of_text(request.id, *outcome);
    }
    co_return failed(request, id, outcome.error().code, caller);
}

// The answer to a request for a card that is not there.
rpc_result card_methods::failed(
    const core::rpc_request& request,
    const std::string& id,
    core::errc code,
    const rpc_caller& caller
) const
{
    json data{{"agent", id}, {"retryable", core::retryable(code)}};
    if (const auto session = caller.may_write ? sessions_.facts(id) : std::nullopt) {
        data["session"] = session_record(*session, std::chrono::steady_clock::now(), true);
    }
    return {core::make_error(request.id, code, data)};
}

net::task<rpc_result>
card_methods::card(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    if (agent->contained) {
        co_return failed(request, agent->entry->record.id, errc::agent_contained, caller);
    }
    const auto* wish = core::member(request.params, "a2aVersion");
    if (wish != nullptr && !wish->is_null() && !wish->is_string()) {
        co_return core::make_error(request.id, errc::invalid_params, {{"wrong", "a2aVersion"}});
    }
    const auto id = agent->entry->record.id;
    auto version = core::text_member(request.params, "a2aVersion");
    json shown{{"id", id}, {"a2a_version", nullptr}};
    if (!version.empty()) {
        shown["a2a_version"] = version;
    }
    const auto told = co_await cards_.explain(id, std::move(version), caller.left);
    if (!told) {
        co_return failed(request, id, told.error().code, caller);
    }
    auto text = core::to_text(shown);
    text.back() = ',';
    co_return core::make_result_of_text(request.id, text + *told + '}');
}

net::task<rpc_result>
card_methods::history(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    const auto id = agent->entry->record.id;
    const auto versions = co_await cards_.versions(id);
    if (!versions) {
        co_return core::make_error(request.id, versions.error().code, {{"agent", id}});
    }
    auto text = core::to_text(json{{"id", id}, {"cards", json::array()}});
    text.resize(text.size() - 2);  // without the ends of list and object
    for (const auto& each : *versions) {
        const json facts{{"at", shown_time(each.at)}, {"sha256", each.sha256}, {"size", each.size}};
        text.append(&each == &versions->front() ? "" : ",").append(core::to_text(facts));
        text.back() = ',';
        text.append(R"("patch":)").append(each.patch.value_or("null")) += '}';
    }
    co_return core::make_result_of_text(request.id, text + "]}");
}

net::task<rpc_result>
card_methods::restart(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    const auto id = agent->entry->record.id;
    if (agent->contained) {
        co_return failed(request, id, errc::agent_contained, caller);
    }
    if (!sessions_.restart(id)) {
        co_return refuse_params(
            request,
            {{{},
              1,
              1,
              "id",
              "names an agent without a session of the gateway's own: no MCP server, or one with a card of its own"}}
        );
    }
    if (const auto* const audit = registry_.audit()) {
        audit->session_restarted(id, caller.who);
    }
    core::json out{{"id", id}};
    if (const auto session = sessions_.facts(id)) {
        out["session"] = session_record(*session, std::chrono::steady_clock::now(), /*for_operator=*/true);
    } else {
        out["session"] = {{"state", "stopping"}};
    }
    co_return core::make_result(request.id, out);
}

net::task<core::result<std::string>> card_methods::refreshed(std::string id, bool for_operator)
{
    const auto* before = cards_.status(id);
    const auto changes_before = before == nullptr ? 0 : before->changes;
    const auto after = co_await refreshed_status(id);
    if (!after) {
        co_return after.error();
    }
    if (const auto& failure = after->failure) {
        co_return *failure;
    }
    const auto now = std::chrono::steady_clock::now();
    json answer{
        {"id", id},
        {"changed", after->changes != changes_before},
        {"card_status", card_status_record(*after, now, for_operator)}
    };
    if (const auto session = sessions_.facts(id)) {
        answer["session"] = session_record(*session, now, for_operator);
    }
    co_return core::to_text(answer);
}

net::task<core::result<cards::card_status>> card_methods::refreshed_status(std::string id)
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
        co_return core::caller_error(errc::agent_not_found);
    }
    co_return *status;
}

// The result is text: it may be as long as the card, which the control loop neither reads nor writes.
net::task<core::result<std::string>> card_methods::previewed(std::string id)
{
    const auto seen = co_await preview(id);
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

net::task<core::result<cards::card_preview>> card_methods::preview(std::string id)
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

}  // namespace gateway::management
