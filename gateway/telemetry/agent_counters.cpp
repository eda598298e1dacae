// Counters of one agent, and of the messages that callers post to it if it is an MCP server.
#include "gateway/telemetry/mcp_counters.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <cassert>

namespace gateway::telemetry {

void call_counters::merge(const call_counters& other)
{
    for (std::size_t i = 0; i < requests.size(); ++i) {
        requests[i].merge(other.requests[i]);
    }
    duration.merge(other.duration);
    first_byte.merge(other.first_byte);
    upstream_errors.merge(other.upstream_errors);
    slow += other.slow;
    translation_lost += other.translation_lost;
    numbers_rounded += other.numbers_rounded;
    for (const auto& [key, n] : other.grpc) {
        grpc[key] += n;
    }
    streams_active += other.streams_active;
    streams_ended.merge(other.streams_ended);
    task_states.merge(other.task_states);
}

agent_counters::agent_counters() = default;
agent_counters::agent_counters(agent_counters&& other) noexcept = default;
agent_counters& agent_counters::operator=(agent_counters&& other) noexcept = default;
agent_counters::~agent_counters() = default;

agent_counters::agent_counters(const agent_counters& other)
    : cards_{other.cards_},
      calls_{other.calls_ ? std::make_unique<call_counters>(*other.calls_) : nullptr},
      mcp_{other.mcp_ ? std::make_unique<mcp_counters>(*other.mcp_) : nullptr}
{
}

call_counters& agent_counters::called()
{
    if (calls_ == nullptr) {
        calls_ = std::make_unique<call_counters>();
    }
    return *calls_;
}

mcp_counters& agent_counters::posted_to()
{
    if (mcp_ == nullptr) {
        mcp_ = std::make_unique<mcp_counters>();
    }
    return *mcp_;
}

void agent_counters::count(const model::request_record& record)
{
    if (record.mcp_method) {
        posted_to().count(record);
    }
    if (record.card) {
        cards_.add(*record.card);
    }
    if (record.stream) {
        auto& calls = called();
        assert(calls.streams_active > 0);
        --calls.streams_active;
        calls.streams_ended.add(*record.stream);
    }
    if (record.grpc_status) {
        const auto what = ::a2a::operation_of(record.rpc_method.value_or(::a2a::method::other));
        // The names of 1.0 are those of gRPC.
        ++called().grpc[{::a2a::method_for(what, ::a2a::generation::v1), *record.grpc_status}];
    }
    if (record.where != model::route::call) {
        return;
    }
    auto& calls = called();
    calls.requests[static_cast<std::size_t>(record.rpc_method.value_or(::a2a::method::other))].add(outcome_of(record));
    if (record.upstream_first_byte) {
        calls.first_byte.observe(*record.upstream_first_byte);
    }
    if (record.code && record.from == core::side::upstream) {
        const bool reached = !record.upstream_first_byte && record.detail != "connect" && record.detail != "deadline" &&
                             record.detail != "queue";
        if (*record.code == core::errc::upstream_timeout && reached) {
            ++calls.slow;
        } else {
            calls.upstream_errors.add(*record.code);
        }
    }
    calls.translation_lost += record.lost;
    calls.numbers_rounded += record.rounded;
    if (!record.stream) {
        calls.duration.observe(record.total);
    }
}

void agent_counters::stream_started()
{
    ++called().streams_active;
}

void agent_counters::count_task_state(::a2a::task_state state)
{
    called().task_states.add(state);
}

void agent_counters::merge(const agent_counters& other)
{
    cards_.merge(other.cards_);
    if (other.calls_ != nullptr) {
        called().merge(*other.calls_);
    }
    if (other.mcp_ != nullptr) {
        posted_to().merge(*other.mcp_);
    }
}

std::string_view method_label(::mcp::client_method method) noexcept
{
    return method == ::mcp::client_method::other ? std::string_view{"other"} : ::mcp::name(method);
}

std::string_view name(tool_outcome o) noexcept
{
    constexpr std::array<std::string_view, tool_outcomes> names{"ok", "tool_error", "failed"};
    return names[static_cast<std::size_t>(o)];
}

tool_outcome tool_outcome_of(const model::request_record& record) noexcept
{
    constexpr unsigned first_error = 400;
    if (record.code || record.tool_refused || record.status >= first_error) {
        return tool_outcome::failed;
    }
    return record.tool_failed ? tool_outcome::tool_error : tool_outcome::ok;
}

namespace {

void add(mcp_counters::tool_counts& to, const mcp_counters::tool_counts& n) noexcept
{
    for (std::size_t i = 0; i < n.size(); ++i) {
        to[i] += n[i];
    }
}

}  // namespace

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
    tool_counts one{};
    one[static_cast<std::size_t>(tool_outcome_of(record))] = 1;
    if (record.tool_listed || tools.contains(record.tool)) {
        add_tool(record.tool, one);
    } else {
        add(other_tools, one);
    }
}

void mcp_counters::add_tool(std::string_view name, const tool_counts& n)
{
    const auto found = tools.find(name);
    if (found != tools.end()) {
        add(found->second, n);
    } else if (tools.size() < most_tools) {
        tools.emplace(name, n);
    } else {
        add(other_tools, n);
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
    add(other_tools, other.other_tools);
}

}  // namespace gateway::telemetry
