#include "gateway/model/call_verdict.hpp"

namespace gateway::model {
namespace {

constexpr unsigned first_error_status = 400;

bool is_call(const request_record& record) noexcept
{
    const bool reaches_agent =
        record.where == route::call || record.where == route::mcp || record.where == route::relay;
    return reaches_agent && !record.agent.empty();
}

bool says_unavailable(unsigned status) noexcept
{
    return status == 502 || status == 503 || status == 504;
}

}  // namespace

call_verdict verdict_of(const request_record& record) noexcept
{
    using enum call_verdict;
    if (!is_call(record)) {
        return unknown;
    }
    if (record.code == core::errc::upstream_timeout && record.detail == "deadline") {
        return unknown;  // the caller had less time than the agent has
    }
    if (record.code) {
        return record.from == core::side::upstream ? failed : unknown;
    }
    if (record.stream == stream_end::upstream || record.stream == stream_end::idle) {
        return failed;
    }
    // The answer to a long call to a program begins before the program does: only its end tells that there was one.
    if (!record.upstream_first_byte && record.stream != stream_end::complete) {
        return unknown;
    }
    if (says_unavailable(counted_status(record))) {
        return failed;
    }
    return counted_status(record) < first_error_status ? worked : answered;
}

balancing::call_end end_of_answer(unsigned status) noexcept
{
    return says_unavailable(status) ? balancing::call_end::failed : balancing::call_end::answered;
}

balancing::call_end end_of_failure(core::errc code, bool connected) noexcept
{
    using core::errc;
    switch (code) {
        case errc::upstream_unresolved:
        case errc::upstream_refused:
        case errc::upstream_tls:
        case errc::upstream_proxy:
            return balancing::call_end::unreachable;
        case errc::upstream_timeout:
            // An agent that works for longer than it may is slow, not broken: calls that only read still reach it.
            return connected ? balancing::call_end::unknown : balancing::call_end::unreachable;
        case errc::upstream_reset:
        case errc::upstream_protocol:
            return balancing::call_end::failed;
        default:
            return balancing::call_end::unknown;  // the caller's or the gateway's own
    }
}

}  // namespace gateway::model
