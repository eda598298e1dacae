#include "gateway/wiring/tracing.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/wiring/span_export");

namespace {

using namespace std::chrono_literals;
using gateway::wiring::export_pause;
using gateway::wiring::judge_export;
using gateway::wiring::span_end;

gateway::wiring::export_verdict verdict_of(unsigned status, std::string body = {}, const std::string& retry_after = {})
{
    net::fetch_response answer;
    answer.status = status;
    answer.body = std::move(body);
    if (!retry_after.empty()) {
        answer.headers.emplace_back("retry-after", retry_after);
    }
    return judge_export(answer);
}

}  // namespace

TEST_CASE("an answer of success has taken the batch, whatever it says")
{
    for (const std::string body : {"", "{}", "not JSON", R"({"partialSuccess":{}})", R"({"partialSuccess":7})"}) {
        CAPTURE(body);
        const auto verdict = verdict_of(200, body);
        CHECK(verdict.end == span_end::exported);
        CHECK(verdict.refused == 0);
        CHECK(verdict.why.empty());
    }
    CHECK(verdict_of(202).end == span_end::exported);
}

TEST_CASE("spans that the collector refuses are counted, written as a text or as a number")
{
    for (const std::string count : {"\"3\"", "3"}) {
        const auto verdict =
            verdict_of(200, R"({"partialSuccess":{"rejectedSpans":)" + count + R"(,"errorMessage":"too old"}})");
        CHECK(verdict.end == span_end::exported);
        CHECK(verdict.refused == 3);
        CHECK(verdict.why == "the collector refused a part: too old");
    }
    CHECK(verdict_of(200, R"({"partialSuccess":{"rejectedSpans":"-1"}})").refused == 0);
    CHECK(verdict_of(200, R"({"partialSuccess":{"rejectedSpans":"0","errorMessage":"slow down"}})").why.empty());
}

TEST_CASE("429, 502, 503, 504 and a connection that fails may come right, all else does not")
{
    for (const unsigned status : {429U, 502U, 503U, 504U}) {
        CAPTURE(status);
        CHECK_FALSE(verdict_of(status).end.has_value());
        CHECK(verdict_of(status).why == "status " + std::to_string(status));
    }
    for (const unsigned status : {301U, 400U, 401U, 404U, 413U, 500U, 501U}) {
        CAPTURE(status);
        CHECK(verdict_of(status).end == span_end::refused);
    }
    for (const auto code : {core::errc::upstream_refused, core::errc::upstream_timeout, core::errc::upstream_tls}) {
        const auto verdict = judge_export(core::upstream_error(code, "detail"));
        CHECK_FALSE(verdict.end.has_value());
        CHECK(verdict.why == core::name(code));
    }
    CHECK(judge_export(core::gateway_error(core::errc::internal)).end == span_end::failed);
}

TEST_CASE("a collector says in seconds how long to wait")
{
    CHECK(verdict_of(503, "", "7").patience == 7s);
    CHECK(verdict_of(503, "", "Wed, 21 Oct 2026 07:28:00 GMT").patience == 0s);
    CHECK(verdict_of(503, "", "-1").patience == 0s);
    CHECK(verdict_of(503).patience == 0s);
}

TEST_CASE("each pause is twice the one before, up to the longest, and up to half is taken away")
{
    CHECK(export_pause(1, 0s, 0) == 1s);
    CHECK(export_pause(2, 0s, 0) == 2s);
    CHECK(export_pause(3, 0s, 0) == 4s);
    CHECK(export_pause(5, 0s, 0) == 16s);
    CHECK(export_pause(6, 0s, 0) == 30s);
    CHECK(export_pause(4'000'000'000U, 0s, 0) == 30s);
    CHECK(export_pause(1, 0s, 0.999) > 500ms);
    CHECK(export_pause(1, 0s, 0.999) < 502ms);
}

TEST_CASE("a pause is no shorter than the collector asks for, and no longer than the longest")
{
    CHECK(export_pause(1, 10s, 0) == 10s);
    CHECK(export_pause(1, 30s, 0.5) == 30s);
    CHECK(export_pause(1, 31s, 0) == 30s);
    CHECK(export_pause(1, 1'000'000s, 0) == 30s);
}

TEST_CASE("spans go below the collector's address, or to it if it is already theirs")
{
    CHECK(gateway::wiring::export_url("http://c:4318") == "http://c:4318/v1/traces");
    CHECK(gateway::wiring::export_url("https://c/otlp") == "https://c/otlp/v1/traces");
    CHECK(gateway::wiring::export_url("https://c/otlp/v1/traces") == "https://c/otlp/v1/traces");
}

TEST_SUITE_END();
