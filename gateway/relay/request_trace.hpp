// The part of a request in a trace that the gateway joins: what agents are told of it, and what is kept of the attempts to have
// them answer until the request is accounted for. Allocates only for a trace that is recorded. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/trace_context.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net {
struct upstream_target;
}

namespace gateway::relay {

class id_source {
public:
    // `entropy` is asked a few times, now.
    explicit id_source(const std::function<std::uint32_t()>& entropy)
    {
        std::uint64_t apart = 0;  // whatever the entropy is
        for (auto* const each : {&high_, &low_, &others_}) {
            each->at = apart += 0xD1B54A32D192ED03U;
            each->at ^= std::uint64_t{entropy()} << 32U;
            each->at ^= entropy();
        }
    }

    // Never 0, which stands for none.
    core::span_id span() { return std::max<core::span_id>(others_.next(), 1); }

    // Two halves that begin apart, so that those of two workers meet as rarely as numbers of 128 bits.
    core::trace_id trace() { return {high_.next(), std::max<std::uint64_t>(low_.next(), 1)}; }

    // True for this share of calls, from 0 to 1.
    bool chance(double share)
    {
        constexpr unsigned exact_bits = 53;  // of a double
        constexpr double whole = static_cast<double>(std::uint64_t{1} << exact_bits);
        return static_cast<double>(others_.next() >> (64U - exact_bits)) < share * whole;
    }

private:
    // SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): every call makes ids, and its state is
    // one number.
    struct sequence {
        std::uint64_t at = 0;

        std::uint64_t next() noexcept
        {
            auto bits = at += 0x9E3779B97F4A7C15U;
            bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
            bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
            return bits ^ (bits >> 31U);
        }
    };

    sequence high_;
    sequence low_;
    sequence others_;
};

// One attempt to have an agent answer.
struct traced_attempt {
    core::span_id span = 0;
    core::steady_time begun{};
    core::steady_time ended{};  // the earliest: not yet
    std::string_view method;
    std::string host;
    std::uint16_t port = 0;
    unsigned status = 0;  // 0: no answer
    std::optional<core::errc> failure{};
};

// The part of the trace that an agent is told.
struct told_trace {
    core::trace_context context;
    bool keeps_state = false;  // `tracestate` of the caller belongs to it
};

class request_trace {
public:
    // Beyond so many attempts at one request, agents are told of them, but nobody else is.
    static constexpr std::size_t most_attempts = 32;

    // `at` is the request's own span, `parent` the caller's; 0: the trace begins here. `ids` outlive the trace.
    void join(id_source& ids, const core::trace_context& at, core::span_id parent)
    {
        ids_ = &ids;
        at_ = at;
        parent_ = parent;
    }

    bool joined() const noexcept { return ids_ != nullptr; }
    bool recorded() const noexcept { return joined() && at_.sampled; }
    const core::trace_context& at() const noexcept { return at_; }
    core::span_id parent() const noexcept { return parent_; }

    // Whether the caller's field of this name does not go on.
    bool replaces(std::string_view name) const noexcept;

    // Keeps the target of a recorded request, since its head goes before its end.
    void set_target(std::string_view path, std::string_view authority)
    {
        keep().path = path;
        keep().authority = authority;
    }
    const std::string& path() const noexcept { return kept().path; }
    const std::string& authority() const noexcept { return kept().authority; }

    // Keeps the version of MCP or the context of A2A that a recorded request names, and the agent's own name.
    void set_protocol(std::string_view version) { keep().protocol = version; }
    void set_conversation(std::string_view context) { keep().conversation = context; }
    void set_agent_name(std::string_view name) { keep().agent_name = name; }
    const std::string& protocol() const noexcept { return kept().protocol; }
    const std::string& conversation() const noexcept { return kept().conversation; }
    const std::string& agent_name() const noexcept { return kept().agent_name; }

    const std::vector<traced_attempt>& attempts() const noexcept { return kept().attempts; }

private:
    friend class attempt_span;

    struct record {
        std::string path{};
        std::string authority{};
        std::string protocol{};
        std::string conversation{};
        std::string agent_name{};
        std::vector<traced_attempt> attempts{};
    };

    const record& kept() const noexcept
    {
        static const record nothing;
        return kept_ ? *kept_ : nothing;
    }
    record& keep()
    {
        if (!kept_) {
            kept_ = std::make_unique<record>();
        }
        return *kept_;
    }

    id_source* ids_ = nullptr;
    core::trace_context at_;
    core::span_id parent_ = 0;
    std::unique_ptr<record> kept_;  // null: there is nothing
};

// The span of the attempt that an exchange makes now. Without a trace it does nothing.
class attempt_span {
public:
    // `of` outlives the span; null: no trace is joined.
    explicit attempt_span(request_trace* of) noexcept
        : of_{of}
    {
    }

    // Another attempt, with a span of its own. Ends the one before, if that has not ended.
    void begin(const net::upstream_target& to, std::string_view method, core::steady_time now);

    // After begin(), what the agent is told; nothing: what the caller said goes on.
    std::optional<told_trace> told() const noexcept { return told_; }

    // How it went until the head of the answer. The attempt goes on if there is one.
    void note(const core::result<>& how, unsigned status, core::steady_time now);

    // The answer has been read, or nobody wants it any more.
    void end(core::steady_time now) noexcept;

private:
    traced_attempt* current() noexcept;

    request_trace* of_;
    std::optional<told_trace> told_;
    std::size_t index_ = 0;
    bool kept_ = false;  // of_ has an attempt at index_ that has not ended
};

}  // namespace gateway::relay
