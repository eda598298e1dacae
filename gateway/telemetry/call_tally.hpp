// One worker's notes of how calls of agents end, until they are taken. Allocates only when an agent is called for the first time,
// and when a principal calls it for the first time since they were taken. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

class call_tally {
public:
    static constexpr std::chrono::seconds interval{1};
    static constexpr std::size_t most = 1024;  // notes at a time: whoever takes them must not be held up
    static constexpr std::size_t most_callers =
        4096;  // of all agents, between two times; calls of further ones have none

    // The counts of a request that has been answered.
    struct counted {
        bool agent = true;  // false: it went to another place than where calls of the agent go now, such as to a bridge
        bool caller = true;  // false: the gateway made it for a caller, whose own request counts
    };
    void note(const model::request_record& record, const counted& as);
    void note(const model::request_record& record) { note(record, {}); }

    // All since the last time, one note for each agent that was called; nothing within `interval` of that. Beyond `most`, which are
    // those that have waited longest, the rest comes with the next call.
    std::vector<model::call_note> take(core::steady_time now);

    // The agent is gone, or its calls go elsewhere from now on.
    void forget(std::string_view id);
    void forget_unless(const std::function<bool(std::string_view id)>& exists);

private:
    struct counts {
        std::uint32_t calls = 0;
        std::uint32_t failures = 0;
        std::uint32_t successes = 0;
        bool called = false;
        model::call_numbers all;
        model::edge_numbers nobody;                      // of callers without a credential
        model::string_map<model::edge_numbers> callers;  // of others, by provider, a line feed and the principal
    };
    using agent_map = model::string_map<counts>;

    void note_caller(counts& of, const model::request_record& record);
    std::vector<model::caller_note> take_callers(counts& of);

    agent_map agents_;
    std::size_t callers_ = 0;                     // in all of these
    std::string key_;                             // room for one
    std::vector<agent_map::value_type*> called_;  // those with counts, in the order of their first call
    core::steady_time next_{};
};

}  // namespace gateway::telemetry
