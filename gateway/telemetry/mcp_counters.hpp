// Counters of the messages that callers post to one MCP server. Values of one loop; copies may travel.
#pragma once

#include "gateway/model/request_record.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/version.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// "tools/call"; "other" for what is no known method: an answer, a batch, what cannot be read.
std::string_view method_label(::mcp::client_method method) noexcept;

// How a call of a tool ended; also a metric label.
//
// With a result; with a result that has `isError: true`; without a result, for whatever reason.
enum class tool_outcome : std::uint8_t { ok, tool_error, failed };
inline constexpr std::size_t tool_outcomes = 3;

std::string_view name(tool_outcome o) noexcept;
tool_outcome tool_outcome_of(const model::request_record& record) noexcept;

struct mcp_counters {
    static constexpr std::size_t methods = static_cast<std::size_t>(::mcp::client_method::other) + 1;
    static constexpr std::size_t eras = static_cast<std::size_t>(::mcp::era::modern) + 1;

    // Series of tools, each of which the server lists or has listed.
    static constexpr std::size_t most_tools = 200;

    std::array<std::array<outcome_counters, eras>, methods> requests{};
    std::array<std::uint64_t, eras> translated{};  // by the caller's era
    histogram duration;                            // without requests that stay open: how long they last is no delay
    using tool_counts = std::array<std::uint64_t, tool_outcomes>;  // by tool_outcome
    std::map<std::string, tool_counts, std::less<>> tools;
    tool_counts other_tools{};

    // Allocates only for a tool that is called for the first time.
    void count(const model::request_record& record);
    void merge(const mcp_counters& other);

private:
    void add_tool(std::string_view name, const tool_counts& n);
};

}  // namespace gateway::telemetry
