#include "gateway/model/call_verdict.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <utility>

TEST_SUITE_BEGIN("gateway/call_verdict");

namespace {

using core::errc;
using core::side;
using gateway::model::call_verdict;
using gateway::model::request_record;
using gateway::model::route;
using gateway::model::stream_end;
using gateway::model::verdict_of;

request_record answered(unsigned status)
{
    request_record record;
    record.where = route::call;
    record.agent = "a";
    record.status = status;
    record.upstream_first_byte = std::chrono::milliseconds{1};
    return record;
}

request_record failed_with(errc code, side from)
{
    request_record record;
    record.where = route::call;
    record.agent = "a";
    record.status = 502;
    record.code = code;
    record.from = from;
    return record;
}

}  // namespace

TEST_CASE(
    "an answer of 502, 503 or 504 is a failure of the agent, another error shows that it runs, and no error that it "
    "works"
)
{
    for (const unsigned status : {502U, 503U, 504U}) {
        CAPTURE(status);
        CHECK(verdict_of(answered(status)) == call_verdict::failed);
    }
    for (const unsigned status : {200U, 202U, 304U, 399U}) {
        CAPTURE(status);
        CHECK(verdict_of(answered(status)) == call_verdict::worked);
    }
    for (const unsigned status : {400U, 401U, 404U, 429U, 499U, 500U, 501U, 505U}) {
        CAPTURE(status);
        CHECK(verdict_of(answered(status)) == call_verdict::answered);
    }
}

TEST_CASE("a failure counts if its side is the agent's, and says nothing if it is the caller's or the gateway's")
{
    for (const auto code :
         {errc::upstream_refused, errc::upstream_timeout, errc::upstream_reset, errc::session_crashed}) {
        CHECK(verdict_of(failed_with(code, side::upstream)) == call_verdict::failed);
    }
    CHECK(verdict_of(failed_with(errc::caller_gone, side::caller)) == call_verdict::unknown);
    CHECK(verdict_of(failed_with(errc::body_too_large, side::caller)) == call_verdict::unknown);
    CHECK(verdict_of(failed_with(errc::overloaded, side::gateway)) == call_verdict::unknown);
    // Also behind the beginning of an answer.
    auto cut = answered(200);
    cut.code = errc::upstream_reset;
    cut.from = side::upstream;
    CHECK(verdict_of(cut) == call_verdict::failed);
}

TEST_CASE("a stream that the agent breaks off or leaves silent is a failure, one that others end is not")
{
    for (const auto& [end, verdict] :
         {std::pair{stream_end::complete, call_verdict::worked},
          {stream_end::caller, call_verdict::worked},
          {stream_end::drain, call_verdict::worked},
          {stream_end::upstream, call_verdict::failed},
          {stream_end::idle, call_verdict::failed}}) {
        auto record = answered(200);
        record.stream = end;
        CHECK(verdict_of(record) == verdict);
    }
}

TEST_CASE("only what an agent has answered is a call that worked")
{
    for (const auto where : {route::call, route::mcp, route::relay}) {
        auto record = answered(200);
        record.where = where;
        CHECK(verdict_of(record) == call_verdict::worked);
        record.agent = {};
        CHECK(verdict_of(record) == call_verdict::unknown);
    }
    for (const auto where : {route::card, route::directory, route::management, route::index, route::none}) {
        auto record = answered(503);
        record.where = where;
        CHECK(verdict_of(record) == call_verdict::unknown);
    }
    auto made_here = answered(200);
    made_here.upstream_first_byte.reset();
    CHECK(verdict_of(made_here) == call_verdict::unknown);
    made_here.where = route::mcp;
    made_here.mcp_method = mcp::client_method{};
    CHECK(verdict_of(made_here) == call_verdict::unknown);
    // The stream of a long call to a program begins before the program answers.
    for (const auto& [end, verdict] :
         {std::pair{stream_end::complete, call_verdict::worked},
          {stream_end::caller, call_verdict::unknown},
          {stream_end::drain, call_verdict::unknown},
          {stream_end::upstream, call_verdict::failed}}) {
        made_here.stream = end;
        CHECK(verdict_of(made_here) == verdict);
    }
}

TEST_CASE(
    "The breaker counts answers of 502, 503 and 504 as failures, and every other answer as one of an agent that runs"
)
{
    using gateway::balancing::call_end;
    using gateway::model::end_of_answer;
    for (const unsigned status : {502U, 503U, 504U}) {
        CHECK(end_of_answer(status) == call_end::failed);
    }
    for (const unsigned status : {200U, 204U, 302U, 400U, 401U, 404U, 429U, 499U, 500U, 501U, 505U, 599U}) {
        CAPTURE(status);
        CHECK(end_of_answer(status) == call_end::answered);
    }
}

TEST_CASE("Each failure of an agent is one for its breaker, and nothing that the caller or the gateway did")
{
    using gateway::balancing::call_end;
    using gateway::model::end_of_failure;
    for (const auto code : {errc::upstream_unresolved, errc::upstream_refused, errc::upstream_tls}) {
        CHECK(end_of_failure(code, false) == call_end::unreachable);
    }
    CHECK(end_of_failure(errc::upstream_timeout, false) == call_end::unreachable);
    CHECK(end_of_failure(errc::upstream_timeout, true) == call_end::unknown);  // slow, not broken
    CHECK(end_of_failure(errc::upstream_reset, true) == call_end::failed);
    CHECK(end_of_failure(errc::upstream_protocol, true) == call_end::failed);
    for (const auto code :
         {errc::caller_gone,
          errc::request_timeout,
          errc::bad_request,
          errc::body_too_large,
          errc::draining,
          errc::overloaded,
          errc::upstream_forbidden,
          errc::upstream_credentials,
          errc::internal}) {
        CAPTURE(core::name(code));
        CHECK(end_of_failure(code, true) == call_end::unknown);
        CHECK(end_of_failure(code, false) == call_end::unknown);
    }
}

TEST_SUITE_END();
