#include "gateway/mcp/route/server_edits.hpp"

#include "mcp/bundle/origins.hpp"
#include "mcp/bundle/result_edit.hpp"
#include "mcp/pins/pinned_server.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace gateway::mcp::route {

const ::mcp::name_filters& filters_of(const model::agent_entry& agent) noexcept
{
    static const ::mcp::name_filters none;
    return agent.filters != nullptr ? *agent.filters : none;
}

core::result<model::edited_answer> list_edit::edit_here(std::string text) const
{
    const auto& filters = filters_of(*agent_);
    const bool pinned = agent_->pins != nullptr && list_ == ::mcp::list_kind::tools;
    auto edited = pinned ? ::mcp::edit_list(filters, *agent_->pins, text, scopes_)
                         : ::mcp::edit_list(filters, list_, text, scopes_);
    if (!edited) {
        return std::move(edited).error();
    }
    if (!edited->unapproved.empty() && control_.note_tools) {
        control_.note_tools(agent_->record.id, std::move(edited->unapproved));
    }
    return model::edited_answer{std::move(edited->text), true};
}

core::result<model::edited_answer> opening_edit::edit_here(std::string text) const
{
    auto edited = ::mcp::with_approved_instructions(*agent_->pins, text);
    if (!edited) {
        return std::move(edited).error();
    }
    if (!*edited) {
        return model::edited_answer{std::move(text), false};
    }
    return model::edited_answer{std::move(**edited), true};
}

bool handed_out_owner::owns(std::string_view task) const
{
    const auto known =
        tasks == nullptr ? std::nullopt : tasks->find(binding.agent, task, std::chrono::steady_clock::now());
    return known && known->whose == tasks->owner_of(caller);
}

void handed_out_owner::learn(std::string_view task) const
{
    if (tasks != nullptr) {
        tasks->note(
            binding.agent,
            task,
            {.whose = tasks->owner_of(caller)},
            std::nullopt,
            std::chrono::steady_clock::now()
        );
    }
}

core::result<model::edited_answer> handed_out_edit::edit_here(std::string text) const
{
    const ::mcp::owns_task owns = [this](std::string_view task) { return whose_.owns(task); };
    auto sealed = ::mcp::seal_handed_out(text, whose_.client(), what_, owns);
    if (!sealed) {
        return std::move(sealed).error();
    }
    for (const auto& each : sealed->tasks) {
        whose_.learn(each);
    }
    if (!sealed->text) {
        return model::edited_answer{std::move(text), false};
    }
    return model::edited_answer{std::move(*sealed->text), true};
}

bool member_edit::concerns(std::string_view text) const
{
    const bool may_ask = from_.session && text.find("\"method\"") != std::string_view::npos;
    return may_ask || ((from_.has_uris || from_.has_tasks) && ::mcp::may_name_uris(text));
}

std::optional<std::string> member_edit::event_id(std::string_view id) const
{
    return ::mcp::event_id_of({.member = from_.member, .event = std::string{id}});
}

core::result<model::edited_answer> member_edit::edit_here(std::string text) const
{
    bool changed = false;
    if (from_.has_uris || from_.has_tasks) {
        if (auto exposed = ::mcp::exposed_message(text, {.scheme = from_.scheme, .tasks = from_.has_tasks})) {
            text = std::move(*exposed);
            changed = true;
        }
    }
    if (from_.session) {
        if (auto named = ::mcp::with_origin(text, from_.member, *from_.session)) {
            text = std::move(*named);
            changed = true;
        }
    }
    return model::edited_answer{std::move(text), changed};
}

net::routine<core::result<>> edit_each(relay::answer_edit& edit, model::program_batch& batch)
{
    core::result<> done;
    auto texts = std::exchange(batch.texts, {});
    auto events = std::exchange(batch.events, {});
    for (auto each = texts.begin(); done && each != texts.end(); ++each) {
        if (!edit.concerns(*each)) {
            batch.texts.push_back(std::move(*each));
            continue;
        }
        auto edited = co_await edit.edit(std::move(*each));
        if (!edited) {
            done = std::move(edited).error();
        } else if (!edited->edited || !edited->text.empty()) {
            batch.texts.push_back(std::move(edited->text));
        }
    }
    for (auto each = events.begin(); done && each != events.end(); ++each) {
        if (!edit.concerns(*each->text)) {
            batch.events.push_back(std::move(*each));
            continue;
        }
        auto text = *each->text;
        auto edited = co_await edit.edit(std::move(text));
        if (!edited) {
            done = std::move(edited).error();
        } else if (!edited->edited) {
            batch.events.push_back(std::move(*each));
        } else if (!edited->text.empty()) {
            batch.events.push_back({each->id, std::make_shared<const std::string>(std::move(edited->text))});
        }
    }
    batch.told = batch.told && done;
    co_return done;
}

}  // namespace gateway::mcp::route
