// Verdict of one call on its agent: the health of agents counts these.
#pragma once

#include "gateway/balancing/breaker.hpp"
#include "gateway/model/request_record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gateway::model {

enum class call_verdict : std::uint8_t {
    worked,    // the agent answered, and with no error
    answered,  // it answered with another error than those of `failed`: it runs, which is all that is known
    failed,    // the agent could not be reached, broke off, stayed silent, or said that it does not serve
    unknown,   // it says nothing: it was no call, the caller or the gateway ended it, or the gateway answered by itself
};

// Failed are failures whose side is upstream, streams that the agent broke off or left silent, and answers 502, 503 and 504. Not 500
// and 429: one caller's bad input, or one caller's haste, says nothing of the agent as others find it. Pure; any thread.
call_verdict verdict_of(const request_record& record) noexcept;

// Verdict for the breaker of the endpoint, from the head of the answer alone: the breaker has to know before the caller does.
// `connected`: there was a connection when it failed.
balancing::call_end end_of_answer(unsigned status) noexcept;
balancing::call_end end_of_failure(core::errc code, bool connected) noexcept;

// Calls that ended, as the metrics count them.
struct call_numbers {
    static constexpr std::size_t outcomes = 4;  // of telemetry::call_outcome
    static constexpr std::size_t buckets = 16;  // of telemetry::histogram_bounds, and the one above them

    std::array<std::uint32_t, outcomes> ended{};
    std::array<std::uint32_t, buckets> latencies{};  // not cumulative; of answers that are not streams
};

// Calls of one caller to one agent that have ended.
struct edge_numbers {
    std::uint32_t calls = 0;
    std::uint32_t failed = 0;   // because of the agent, or of the gateway
    std::uint32_t refused = 0;  // by access, a containment, or a limit of the caller's
};

struct caller_note {
    std::string provider;
    std::string principal;  // empty: the callers without a credential
    edge_numbers numbers;
};

// Calls of an agent that one worker has seen end since its previous note.
struct call_note {
    std::string agent;
    std::uint32_t calls = 0;                // without those of an unknown verdict
    std::uint32_t failures = 0;             // of them
    std::uint32_t successes = 0;            // of them: those that worked
    call_numbers all = {};                  // with those of an unknown verdict
    std::vector<caller_note> callers = {};  // of these, without calls that the gateway makes for a caller
};

}  // namespace gateway::model
