#include "gateway/telemetry/mcp_counters.hpp"

namespace gateway::telemetry {

std::string_view method_label(::mcp::client_method method) noexcept
{
    return method == ::mcp::client_method::other ? std::string_view{"other"} : ::mcp::name(method);
}

void mcp_counters::count(const model::request_record& record)
{
    const auto method = record.mcp_method.value_or(::mcp::client_method::other);
    const auto speaks = record.era.value_or(::mcp::era::legacy);
    requests[static_cast<std::size_t>(method)][static_cast<std::size_t>(speaks)].add(outcome_of(record));
    translated[static_cast<std::size_t>(speaks)] += record.translated ? 1 : 0;
    if (!::mcp::stays_open(method)) {
        duration.observe(record.total);
    }
    if (method != ::mcp::client_method::tools_call) {
        return;
    }
    if (record.tool_listed || tools.contains(record.tool)) {
        add_tool(record.tool, 1);
    } else {
        ++other_tools;
    }
}

void mcp_counters::add_tool(std::string_view name, std::uint64_t n)
{
    const auto found = tools.find(name);
    if (found != tools.end()) {
        found->second += n;
    } else if (tools.size() < most_tools) {
        tools.emplace(name, n);
    } else {
        other_tools += n;
    }
}

void mcp_counters::merge(const mcp_counters& other)
{
    for (std::size_t method = 0; method < methods; ++method) {
        for (std::size_t speaks = 0; speaks < eras; ++speaks) {
            requests[method][speaks].merge(other.requests[method][speaks]);
        }
    }
    for (std::size_t speaks = 0; speaks < eras; ++speaks) {
        translated[speaks] += other.translated[speaks];
    }
    duration.merge(other.duration);
    for (const auto& [name, n] : other.tools) {
        add_tool(name, n);
    }
    other_tools += other.other_tools;
}

}  // namespace gateway::telemetry
