// The management's part of registrations.
#include "gateway/management/agent_registration.hpp"
#include "gateway/management/management.hpp"
#include "gateway/management/management_records.hpp"

#include <chrono>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;
using core::json;

// What AgentUp's own placeholder of an orchestrator answers, and what of agents/upsert.
json accepted(const registration& asked, std::uint64_t version, bool changed, bool durable)
{
    return {
        {"status", "accepted"},
        {"message", "The agent is registered as '" + asked.id + "'."},
        {"timestamp", shown_time(std::chrono::system_clock::now())},
        {"id", asked.id},
        {"version", version},
        {"changed", changed},
        {"durable", durable}
    };
}

}  // namespace

net::task<enrolled> management::enroll(std::string body, std::string peer)
{
    enrolled out;
    const auto parsed = core::parse_json(body);
    if (!parsed) {
        out.outcome = core::caller_error(errc::parse_error);
        co_return out;
    }
    auto asked = read_registration(*parsed);
    out.agent = asked.id;
    if (!asked.problems.empty()) {
        out.outcome = core::caller_error(errc::invalid_params);
        out.problems = std::move(asked.problems);
        co_return out;
    }
    const auto* there = registry_.find(asked.id);
    if (there != nullptr && there->declared()) {
        out.outcome = core::caller_error(errc::agent_read_only);
        co_return out;
    }
    auto stored = co_await registry_.stored(asked.id);
    if (!stored) {
        out.outcome = std::move(stored).error();
        co_return out;
    }
    const auto before = *stored ? parsed_or_null((*stored)->definition) : json{};
    const auto version_before = *stored ? (*stored)->version : 0;
    const auto definition = definition_of(asked, before);
    if (definition == before) {
        out.outcome = accepted(asked, version_before, /*changed=*/false, registry_.durable());
        co_return out;
    }
    auto proposed = registry_.propose(asked.id, definition, "agent");
    if (!proposed.problems.empty()) {
        out.outcome = core::caller_error(errc::invalid_params);
        out.problems = std::move(proposed.problems);
        for (auto& each : out.problems) {
            each.key = registered_key(each.key);
        }
        co_return out;
    }
    store::author by{"agent/register " + peer, std::chrono::system_clock::now(), version_before};
    const auto version = co_await registry_.upsert(asked.id, std::move(proposed), std::move(by));
    if (!version) {
        out.outcome = version.error();
        co_return out;
    }
    out.outcome = accepted(asked, *version, /*changed=*/true, registry_.durable());
    co_return out;
}

}  // namespace gateway::management
