#include "gateway/relay/request_trace.hpp"

#include "gateway/request/tracer.hpp"
#include "net/upstream/upstream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/request_trace");

namespace {

using namespace std::chrono_literals;
using gateway::relay::attempt_span;
using gateway::relay::id_source;
using gateway::relay::request_trace;
using gateway::request::caller_trace;

constexpr core::steady_time begun{1h};

std::uint32_t same_entropy()
{
    return 7;
}

net::upstream_target agent()
{
    net::upstream_target target;
    target.host = "10.0.0.7";
    target.port = "9000";
    return target;
}

net::http1::field_list fields_of(const std::vector<std::pair<std::string_view, std::string_view>>& written)
{
    net::http1::field_list fields;
    for (const auto& [name, value] : written) {
        fields.push_back({net::http1::lookup_field(name), name, value});
    }
    return fields;
}

constexpr std::string_view valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// Of a request whose caller has begun the trace.
request_trace joined(id_source& ids, bool sampled, core::span_id parent = 5)
{
    request_trace trace;
    trace.join(ids, {{1, 2}, 3, sampled}, parent);
    return trace;
}

}  // namespace

TEST_CASE("a caller's trace is read from its field, whatever the case of its name")
{
    CHECK(caller_trace(fields_of({{"traceparent", valid}}))->span == 0xb7ad6b7169203331);
    CHECK(caller_trace(fields_of({{"X-One", "1"}, {"TRACEPARENT", valid}}))->sampled);
    CHECK_FALSE(caller_trace(fields_of({{"trace-parent", valid}})).has_value());
    CHECK_FALSE(caller_trace({}).has_value());
}

TEST_CASE("two fields with a trace are none, even if they are equal")
{
    CHECK_FALSE(caller_trace(fields_of({{"traceparent", valid}, {"traceparent", valid}})).has_value());
    CHECK_FALSE(caller_trace(fields_of({{"traceparent", valid}, {"traceparent", "x"}})).has_value());
}

TEST_CASE("each attempt has a span of its own below the request's, and the agent is told of it")
{
    id_source ids{same_entropy};
    auto trace = joined(ids, true);
    attempt_span span{&trace};
    CHECK_FALSE(span.told().has_value());
    span.begin(agent(), "POST", begun);
    const auto first = span.told();
    REQUIRE(first.has_value());
    CHECK(first->context.trace == core::trace_id{1, 2});
    CHECK(first->context.span != 3);
    CHECK(first->context.sampled);
    CHECK(first->keeps_state);
    span.begin(agent(), "POST", begun + 1s);
    CHECK(span.told()->context.span != first->context.span);
    REQUIRE(trace.attempts().size() == 2);
    CHECK(trace.attempts()[0].span == first->context.span);
    CHECK(trace.attempts()[0].ended == begun + 1s);
    CHECK(trace.attempts()[0].host == "10.0.0.7");
    CHECK(trace.attempts()[0].port == 9000);
    CHECK(trace.attempts()[1].ended == core::steady_time{});
}

TEST_CASE("an attempt has the status of its answer, and lasts until that has been read")
{
    id_source ids{same_entropy};
    auto trace = joined(ids, true);
    attempt_span span{&trace};
    span.begin(agent(), "POST", begun);
    span.note({}, 503, begun + 1s);
    CHECK(trace.attempts()[0].status == 503);
    CHECK(trace.attempts()[0].ended == core::steady_time{});
    span.end(begun + 2s);
    span.end(begun + 3s);
    CHECK(trace.attempts()[0].ended == begun + 2s);
    CHECK_FALSE(trace.attempts()[0].failure.has_value());
}

TEST_CASE("an attempt that fails ends with its failure")
{
    id_source ids{same_entropy};
    auto trace = joined(ids, true);
    attempt_span span{&trace};
    span.begin(agent(), "POST", begun);
    span.note(core::upstream_error(core::errc::upstream_refused), 0, begun + 1s);
    span.end(begun + 2s);
    CHECK(trace.attempts()[0].failure == core::errc::upstream_refused);
    CHECK(trace.attempts()[0].ended == begun + 1s);
}

TEST_CASE("of a trace that is not recorded agents are told, and nothing is kept")
{
    id_source ids{same_entropy};
    auto trace = joined(ids, false);
    attempt_span span{&trace};
    span.begin(agent(), "POST", begun);
    CHECK(span.told()->context.span != 0);
    CHECK_FALSE(span.told()->context.sampled);
    CHECK(trace.attempts().empty());
}

TEST_CASE("the state of a caller whose trace was not taken does not belong to the new one")
{
    id_source ids{same_entropy};
    auto trace = joined(ids, true, 0);
    attempt_span span{&trace};
    span.begin(agent(), "POST", begun);
    CHECK_FALSE(span.told()->keeps_state);
}

TEST_CASE("a trace that is joined replaces the caller's field, and its state if the trace is another one")
{
    id_source ids{same_entropy};
    CHECK(joined(ids, true).replaces("TraceParent"));
    CHECK_FALSE(joined(ids, true).replaces("tracestate"));
    CHECK(joined(ids, true, 0).replaces("tracestate"));
    CHECK_FALSE(joined(ids, true, 0).replaces("trace"));
    CHECK_FALSE(request_trace{}.replaces("traceparent"));
}

TEST_CASE("without a trace an attempt is nobody's")
{
    attempt_span span{nullptr};
    span.begin(agent(), "POST", begun);
    span.note({}, 200, begun);
    span.end(begun);
    CHECK_FALSE(span.told().has_value());
}

TEST_CASE("as many attempts are kept as the limit says, and agents are told of all")
{
    id_source ids{same_entropy};
    auto trace = joined(ids, true);
    attempt_span span{&trace};
    for (std::size_t i = 1; i <= request_trace::most_attempts + 1; ++i) {
        span.begin(agent(), "POST", begun + i * 1s);
        CHECK(trace.attempts().size() == std::min(i, request_trace::most_attempts));
    }
    CHECK(trace.attempts().back().span != span.told()->context.span);
    span.note(core::upstream_error(core::errc::upstream_refused), 0, begun + 1h);
    CHECK_FALSE(trace.attempts().back().failure.has_value());
}

TEST_CASE("ids differ, none is zero, and another source has others")
{
    id_source ids{same_entropy};
    std::uint32_t next = 0;
    id_source others{[&next] { return ++next; }};
    std::set<core::span_id> seen;
    for (int i = 0; i < 1000; ++i) {
        for (const auto id : {ids.span(), others.span(), ids.trace().low, others.trace().high}) {
            CHECK(id != 0);
            CHECK(seen.insert(id).second);
        }
    }
}

TEST_CASE("a chance of nothing never comes, and one of 1 always")
{
    id_source ids{same_entropy};
    int tenths = 0;
    for (int i = 0; i < 10'000; ++i) {
        CHECK_FALSE(ids.chance(0));
        CHECK(ids.chance(1));
        tenths += ids.chance(0.1) ? 1 : 0;
    }
    CHECK(tenths > 850);
    CHECK(tenths < 1150);
}

TEST_SUITE_END();
