// The counters of one loop: plain integers that one thread owns, without locks or atomics. Every label comes from our
// own enumerations and from agent ids of the snapshot, so that no request can add a time series. What /metrics shows is
// the sum of all loops (worker_families.hpp).
#pragma once

#include "a2a/dialect/enums.hpp"
#include "a2a/method.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/request_record.hpp"
#include "net/http2/counters.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gateway::telemetry {

// When each key of callers was accepted last: what one loop has seen, or all together. Bounded. One thread.
class key_uses {
public:
    static constexpr std::size_t most = 1024;  // of more, those that were used longest ago are forgotten

    // A key was accepted at `now`.
    void note(const model::used_key& key, core::wall_time now);

    void merge(const key_uses& other);

    const std::map<model::used_key, core::wall_time>& all() const noexcept { return latest_; }

private:
    std::map<model::used_key, core::wall_time> latest_;
};

// How a call of an agent ended; a metric label.
enum class call_outcome : std::uint8_t { ok, caller_error, upstream_error, gateway_error };

std::string_view name(call_outcome o) noexcept;

// The side of `code` if something failed. Else a stream that the agent broke off or left silent, or a status from 500
// that the agent chose itself, is an upstream_error, one from 400 a caller_error, and one below 100 a gateway_error.
call_outcome outcome_of(const model::request_record& record) noexcept;

// One counter per enumerator of Enum, the last of which is Last.
template <class Enum, Enum Last>
class enum_counters {
public:
    static constexpr std::size_t size = static_cast<std::size_t>(Last) + 1;

    void add(Enum counter, std::uint64_t n = 1) { values_[static_cast<std::size_t>(counter)] += n; }
    std::uint64_t operator[](Enum counter) const { return values_[static_cast<std::size_t>(counter)]; }

    void merge(const enum_counters& other)
    {
        for (std::size_t i = 0; i < size; ++i) {
            values_[i] += other.values_[i];
        }
    }

private:
    std::array<std::uint64_t, size> values_{};
};

template <class Enum, Enum Last, class Take>
void each(const enum_counters<Enum, Last>& counters, Take take)
{
    for (std::size_t i = 0; i < counters.size; ++i) {
        const auto counter = static_cast<Enum>(i);
        take(counter, counters[counter]);
    }
}

// How a caller's TLS handshake ended; a metric label.
enum class tls_handshake : std::uint8_t { complete, resumed, failed };

std::string_view name(tls_handshake how) noexcept;

// Why a call was refused although the agent could be called; a metric label.
enum class shed_reason : std::uint8_t { overload, queue_full, queue_share, queue_timeout, streams, stream_share };

std::string_view name(shed_reason why) noexcept;

using shed_counters = enum_counters<shed_reason, shed_reason::stream_share>;
using access_counters = enum_counters<model::access_outcome, model::access_outcome::unavailable>;
using retry_counters = enum_counters<model::retry_reason, model::retry_reason::unanswered>;
using limit_counters = enum_counters<model::rate_limit, model::rate_limit::address>;
using denial_counters = enum_counters<model::denial, model::denial::contained>;
using forwarding_counters = enum_counters<model::forwarding, model::forwarding::again>;
using handshake_counters = enum_counters<tls_handshake, tls_handshake::failed>;
using route_counters = enum_counters<model::route, model::route::none>;
using errc_counters = enum_counters<core::errc, core::errc::internal>;
using stream_end_counters = enum_counters<model::stream_end, model::stream_end::contained>;
using card_use_counters = enum_counters<model::card_use, model::card_use::negative>;
using outcome_counters = enum_counters<call_outcome, call_outcome::gateway_error>;
using task_state_counters = enum_counters<::a2a::task_state, ::a2a::task_state::auth_required>;
using session_end_counters = enum_counters<model::session_end, model::session_end::draining>;

// Upper bounds, inclusive. What lies above the last one is only in the count and the sum.
inline constexpr std::array<std::chrono::microseconds, 15> histogram_bounds{
    std::chrono::microseconds{1'000},
    std::chrono::microseconds{2'500},
    std::chrono::microseconds{5'000},
    std::chrono::microseconds{10'000},
    std::chrono::microseconds{25'000},
    std::chrono::microseconds{50'000},
    std::chrono::microseconds{100'000},
    std::chrono::microseconds{250'000},
    std::chrono::microseconds{500'000},
    std::chrono::microseconds{1'000'000},
    std::chrono::microseconds{2'500'000},
    std::chrono::microseconds{5'000'000},
    std::chrono::microseconds{10'000'000},
    std::chrono::microseconds{30'000'000},
    std::chrono::microseconds{60'000'000},
};

struct histogram {
    std::array<std::uint64_t, histogram_bounds.size()> buckets{};  // not cumulative
    std::uint64_t count = 0;
    std::chrono::nanoseconds sum{};

    void observe(std::chrono::nanoseconds value) noexcept;
    void merge(const histogram& other) noexcept;
};

// Requests by route, HTTP method and status. Methods and statuses that no standard names share one counter each.
class http_counters {
public:
    // GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, "other", and "none" where no request could be read.
    static constexpr std::size_t methods = 9;
    // The registered statuses (RFC 9110 section 16.2) and 499; the last one is "other".
    static constexpr std::size_t statuses = 64;

    void add(model::route where, std::string_view method, unsigned status) noexcept;
    void merge(const http_counters& other) noexcept;

    // `status` is a number or "other". Only counters above zero are visited.
    void visit(
        const std::function<void(model::route, std::string_view method, std::string_view status, std::uint64_t)>& take
    ) const;

private:
    std::array<std::uint64_t, route_counters::size * methods * statuses> values_{};
};

// Counters of the calls of one agent. About 1.3 kB.
struct call_counters {
    std::array<outcome_counters, ::a2a::method_count> requests{};  // by a2a::method
    histogram duration;    // answers that are not streams: how long a stream lasts is no delay
    histogram first_byte;  // until the agent's answer began, streams too
    errc_counters upstream_errors;
    std::uint64_t slow = 0;              // calls that the agent had and did not answer in time
    std::uint64_t translation_lost = 0;  // members of A2A
    std::uint64_t numbers_rounded = 0;   // in answers by gRPC
    std::map<std::pair<::a2a::method, core::grpc_code>, std::uint64_t> grpc;  // calls by it
    std::int64_t streams_active = 0;
    stream_end_counters streams_ended;
    task_state_counters task_states;

    void merge(const call_counters& other);
};

struct mcp_counters;

// Counters of one agent. An agent whose card is read and which nobody calls stays small.
class agent_counters {
public:
    agent_counters();
    agent_counters(const agent_counters& other);
    agent_counters(agent_counters&& other) noexcept;
    agent_counters& operator=(const agent_counters&) = delete;
    agent_counters& operator=(agent_counters&& other) noexcept;
    ~agent_counters();

    const card_use_counters& cards() const noexcept { return cards_; }
    const call_counters* calls() const noexcept { return calls_.get(); }  // null: never called
    const mcp_counters* messages() const noexcept { return mcp_.get(); }  // null: no caller posted one of MCP

    void count(const model::request_record& record);
    void stream_started();
    void count_task_state(::a2a::task_state state);
    void merge(const agent_counters& other);

private:
    friend class worker_metrics;

    call_counters& called();
    mcp_counters& posted_to();
    bool streaming() const noexcept { return streams_active() > 0; }
    std::int64_t streams_active() const noexcept { return calls_ == nullptr ? 0 : calls_->streams_active; }

    card_use_counters cards_;
    std::unique_ptr<call_counters> calls_;
    std::unique_ptr<mcp_counters> mcp_;
    bool forgotten_ = false;
};

// HTTP/2 towards callers and towards agents.
struct http2_counters {
    net::http2::counters callers;
    net::http2::counters agents;
};

// Counters of one loop, beside the agents. A copy may travel to another thread.
struct loop_totals {
    http_counters http;
    handshake_counters handshakes;
    http2_counters http2;
    std::map<std::string, access_counters, std::less<>> access;  // by provider; "none": no provider accepted it
    key_uses keys;
    limit_counters limited;
    denial_counters denied;
    retry_counters retries;
    forwarding_counters forwarded;
    session_end_counters sessions_ended;  // of callers with MCP servers
    // Requests to bundles, by the bundle, method_label() and outcome.
    std::map<std::tuple<std::string, std::string_view, call_outcome>, std::uint64_t> bundles;
    std::map<std::pair<std::string, std::string_view>, std::uint64_t> searches;  // in bundles, by bundle and outcome
    route_counters request_bytes;
    route_counters response_bytes;
    std::array<histogram, route_counters::size> durations;  // by route; answers that are not streams
    shed_counters shed;
    histogram queue;              // times of calls in queues of agents
    std::uint64_t in_flight = 0;  // requests without a whole answer
    std::size_t agents = 0;       // that have counters

    void merge(const loop_totals& other);
};

// One thread. Allocates only when an agent is seen for the first time and when it is called for the first time.
class worker_metrics {
public:
    // Every record goes here exactly once. `known`, if given, is agent(record.agent), looked up before. What the gateway
    // answered about a card counts as a use of the card; requests, durations, streams and upstream errors of an agent
    // are those of route::call. Messages to an MCP server are records with mcp_method.
    void count(const model::request_record& record, agent_counters* known = nullptr);

    // A request begins; its answer, or its failure, is whole.
    void request_began() noexcept { ++totals_.in_flight; }
    void request_ended() noexcept { --totals_.in_flight; }

    void count_handshake(tls_handshake how) noexcept { totals_.handshakes.add(how); }

    // One more reason of a request that has been counted.
    void count_denied(model::denial why) noexcept { totals_.denied.add(why); }

    void count_shed(shed_reason why) noexcept { totals_.shed.add(why); }
    void observe_queue(std::chrono::nanoseconds waited) noexcept { totals_.queue.observe(waited); }

    // A bundle has been searched. `outcome`: a constant.
    void count_search(std::string_view bundle, std::string_view outcome)
    {
        ++totals_.searches[{std::string{bundle}, outcome}];
    }

    // A key of callers was accepted, and not only remembered.
    void note_key(const model::used_key& key, core::wall_time now) { totals_.keys.note(key, now); }

    // An answer of this agent begins to stream. Its record must come to count() with `stream` set.
    void stream_started(std::string_view agent_id);

    // A task of this agent has come to this state, as the answer to a call shows. The call's record comes to count() later.
    void count_task_state(std::string_view agent_id, ::a2a::task_state state);

    // Stays where it is until the agent is forgotten and has no open streams. An agent that was forgotten and is asked
    // for here is back.
    agent_counters& agent(std::string_view id);

    // The agent is gone: its series end. If it has open streams, when the last of them does. A later record of it
    // starts from zero, as if it were new.
    void forget(std::string_view id);

    // The agent exists, again perhaps: what is counted of it goes on.
    void remember(std::string_view id);

    // forget() of every agent for which `exists` is false, remember() of the others: what a new snapshot asks for. Also removes what late records
    // of agents forgotten earlier left behind.
    void forget_unless(const std::function<bool(std::string_view id)>& exists);

    const loop_totals& totals() const noexcept { return totals_; }

    // Null: nothing has been counted of it.
    const agent_counters* find(std::string_view id) const;

    // Agents that are forgotten and have open streams.
    const std::set<std::string, std::less<>>& lingering() const noexcept { return lingering_; }

private:
    struct string_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };

    agent_counters& find_or_add(std::string_view id);

    void count_access(const model::request_record& record);
    void linger(std::string_view id, agent_counters& counters);

    using agent_map = std::unordered_map<std::string, agent_counters, string_hash, std::equal_to<>>;
    agent_map::iterator erase(agent_map::iterator position);

    loop_totals totals_;
    agent_map agents_;
    std::set<std::string, std::less<>> lingering_;
};

// A request while it lasts.
class request_in_flight {
public:
    // `metrics` outlive it.
    explicit request_in_flight(worker_metrics& metrics) noexcept
        : metrics_{metrics}
    {
        metrics_.request_began();
    }
    ~request_in_flight() { metrics_.request_ended(); }
    request_in_flight(const request_in_flight&) = delete;
    request_in_flight& operator=(const request_in_flight&) = delete;

private:
    worker_metrics& metrics_;
};

}  // namespace gateway::telemetry
