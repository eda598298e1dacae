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
    if (record.code) {
        return record.from == core::side::upstream ? failed : unknown;
    }
    if (record.stream == stream_end::upstream || record.stream == stream_end::idle) {
        return failed;
    }
    // Of a long call to a program the answer begins before the program does: only its end tells that there was one.
    if (!record.upstream_first_byte && record.stream != stream_end::complete) {
        return unknown;
    }
    if (says_unavailable(record.status)) {
        return failed;
    }
    return record.status < first_error_status ? worked : answered;
}

}  // namespace gateway::model
