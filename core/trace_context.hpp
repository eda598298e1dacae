// Where a request stands in a trace, as the field `traceparent` says it (W3C Trace Context, level 1). Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace core {

// 16 bytes, as two numbers in network order. All zero: none.
struct trace_id {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    explicit operator bool() const noexcept { return high != 0 || low != 0; }
    friend bool operator==(const trace_id&, const trace_id&) = default;
};

// 0: none.
using span_id = std::uint64_t;

struct trace_context {
    trace_id trace;
    span_id span = 0;
    bool sampled = false;  // somebody before has decided that the trace is recorded

    explicit operator bool() const noexcept { return trace && span != 0; }
    friend bool operator==(const trace_context&, const trace_context&) = default;
};

// The length of what append_traceparent() appends.
inline constexpr std::size_t traceparent_length = 55;

// The value of `traceparent`, without white space around it. Versions after 00 are read as far as 00 goes. Nothing: it is not
// valid, so that the trace begins again and `tracestate` means nothing.
std::optional<trace_context> read_traceparent(std::string_view value) noexcept;

// In version 00, with no flag but `sampled`.
void append_traceparent(std::string& out, const trace_context& context);

// 16 lower case hex digits.
void append_hex(std::string& out, std::uint64_t number);

// 32 of them.
void append_hex(std::string& out, const trace_id& id);

}  // namespace core
