#include "gateway/management/pin_methods.hpp"

#include "gateway/management/json_records.hpp"
#include "gateway/model/agent_record.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {
namespace {

using core::errc;
using core::json;

config::problem wrong(std::string key, std::string what)
{
    return {{}, 1, 1, std::move(key), std::move(what)};
}

// One of `items`. Nothing: `problems` says why.
std::optional<::mcp::pin_key> item_in(const json& from, const std::string& path, std::vector<config::problem>& problems)
{
    const auto kind = ::mcp::pin_kind_of(core::text_member(from, "kind"));
    const auto* sha256 = core::string_member(from, "sha256");
    const auto* name = core::string_member(from, "name");
    if (!kind) {
        problems.push_back(wrong(path + ".kind", "expected card, instructions or tool"));
    } else if (sha256 == nullptr) {
        problems.push_back(
            wrong(path + ".sha256", "is missing; expected that of an item that agents/pins shows as held")
        );
    } else if ((*kind == ::mcp::pin_kind::tool) != (name != nullptr)) {
        problems.push_back(wrong(path + ".name", "expected the name of a tool, and nothing for other kinds"));
    } else {
        return ::mcp::pin_key{*kind, name == nullptr ? "" : *name, *sha256};
    }
    return std::nullopt;
}

}  // namespace

// Writes the record of the agent, on another thread: to mask its secrets takes long. An agent may repeat in its words what it was given to
// keep.
std::function<std::string(json pins)> pin_methods::writer_of(const registered_agent& agent) const
{
    const auto& entry = *agent.entry;
    json head{{"id", entry.record.id}, {"mode", core::name(book_->mode_of(entry.record))}};
    head["locked"] = book_->is_locked();
    auto secrets = model::secrets_of(entry.record, {entry.token.reveal()});
    return [out = std::move(head), secrets = std::move(secrets)](json pins) mutable {
        for (auto& each : pins["held"]) {
            const std::chrono::seconds since{each["since"].get<std::int64_t>()};
            each["since"] = shown_time(core::wall_time{since});
        }
        const auto text = secrets.apply(core::to_text(pins));
        if (auto masked = core::parse_json(text, {.bytes = text.size(), .depth = 64, .members = 10000})) {
            out.update(*masked);
        }
        return core::to_text(out);
    };
}

net::task<rpc_result> pin_methods::pins(core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
{
    std::vector<std::string> ids;
    bool more = false;
    const bool one = names_agent(request.params);
    if (one) {
        auto [agent, refusal] = find_agent(request, registry_, caller);
        if (agent == nullptr) {
            co_return std::move(refusal);
        }
        ids.push_back(agent->entry->record.id);
    } else {
        auto visit = [&](const std::string& id, const registered_agent& agent) {
            if (is_shown(agent, caller) && book_->compares(agent.entry->record)) {
                ids.push_back(id);
            }
            return ids.size() < most_shown;
        };
        auto& line = turns_.of(caller.may_write);
        auto after = core::text_member(request.params, "after");
        more = co_await walk_agents(registry_, line, std::move(after), std::move(visit), caller.left);
    }
    const auto* wish = core::member(request.params, "diff");
    const bool with_diff = wish != nullptr && wish->is_boolean() ? wish->get<bool>() : one;
    std::string text{R"({"agents":[)"};
    std::string last;
    for (const auto& id : ids) {
        const auto* const agent = registry_.find(id);
        if (agent == nullptr) {
            continue;
        }
        const auto record = co_await book_->shown(id, with_diff, writer_of(*agent));
        text.append(last.empty() ? "" : ",").append(record);
        last = id;
        if (!answer.hold(text.capacity()) || text.size() > answer.room()) {
            more = more || id != ids.back();
            break;
        }
    }
    text += ']';
    if (more) {
        text.append(R"(,"next":)").append(core::to_text(json(last)));
    }
    text += '}';
    co_return core::make_result_of_text(request.id, text);
}

net::task<rpc_result>
pin_methods::approve(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    const auto id = agent->entry->record.id;
    const auto* given = core::member(request.params, "items");
    std::vector<config::problem> problems;
    std::vector<::mcp::pin_key> items;
    if (given == nullptr || !given->is_array() || given->empty() || given->size() > most_approved) {
        problems.push_back(wrong("items", "expected 1 to 2000 maps with kind, name and sha256"));
    } else {
        for (std::size_t i = 0; i < given->size(); ++i) {
            if (auto item = item_in((*given)[i], "items[" + std::to_string(i) + ']', problems)) {
                items.push_back(std::move(*item));
            }
        }
    }
    if (!problems.empty()) {
        co_return rpc_result{refuse_params(request, problems)};
    }
    auto approved = json::array();
    for (const auto& each : items) {
        json item{{"kind", ::mcp::name(each.kind)}};
        if (each.kind == ::mcp::pin_kind::tool) {
            item["name"] = each.name;
        }
        item["sha256"] = each.sha256;
        approved.push_back(std::move(item));
    }
    auto done = co_await book_->approve(id, std::move(items), caller.who);
    if (!done) {
        co_return rpc_result{
            core::make_error(request.id, done.error().code, {{"agent", id}, {"detail", done.error().detail}})
        };
    }
    co_return rpc_result{core::make_result(
        request.id,
        {{"id", id}, {"approved", std::move(approved)}, {"held", done->held}, {"durable", done->durable}}
    )};
}

}  // namespace gateway::management
