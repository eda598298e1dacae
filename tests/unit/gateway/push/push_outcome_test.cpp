#include "gateway/push/push_request.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/push_outcome");

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::push::judge;
using gateway::push::pause_after;
using gateway::push::push_end;

core::result<net::fetch_response> status(unsigned code, std::string retry_after = {})
{
    net::fetch_response answer;
    answer.status = code;
    if (!retry_after.empty()) {
        answer.headers.emplace_back("retry-after", std::move(retry_after));
    }
    return answer;
}

}  // namespace

TEST_CASE("2xx has delivered, 3xx and 4xx end a delivery, and 5xx and those that ask for patience do not")
{
    for (const unsigned good : {200U, 201U, 202U, 204U, 299U}) {
        CAPTURE(good);
        CHECK(judge(status(good)).end == push_end::delivered);
    }
    for (const unsigned redirect : {300U, 301U, 307U, 399U}) {
        CAPTURE(redirect);
        CHECK(judge(status(redirect)).end == push_end::redirected);
    }
    for (const unsigned refusal : {400U, 401U, 403U, 404U, 410U, 413U, 499U}) {
        CAPTURE(refusal);
        CHECK(judge(status(refusal)).end == push_end::rejected);
    }
    for (const unsigned trouble : {408U, 425U, 429U, 500U, 502U, 503U, 599U}) {
        CAPTURE(trouble);
        CHECK_FALSE(judge(status(trouble)).end.has_value());
    }
    CHECK(judge(status(404)).why == "status 404");
}

TEST_CASE("a failed connection and a trouble of the gateway are tried again, a forbidden address is not")
{
    for (const auto code :
         {errc::upstream_unresolved,
          errc::upstream_refused,
          errc::upstream_tls,
          errc::upstream_timeout,
          errc::upstream_reset}) {
        const auto verdict = judge(core::upstream_error(code, "secret detail"));
        CHECK_FALSE(verdict.end.has_value());
        CHECK(verdict.why == core::name(code));
    }
    CHECK(judge(core::upstream_error(errc::upstream_forbidden)).end == push_end::forbidden);
    // The gateway's own trouble, such as too little memory, may pass.
    CHECK_FALSE(judge(core::gateway_error(errc::internal)).end.has_value());
}

TEST_CASE("a receiver may ask for patience in seconds")
{
    CHECK(judge(status(503, "7")).patience == 7s);
    CHECK(judge(status(503, "Fri, 31 Dec 1999 23:59:59 GMT")).patience == 0s);
    CHECK(judge(status(503, "7s")).patience == 0s);
    CHECK(judge(status(503)).patience == 0s);
}

TEST_CASE("the pause doubles from a second to five minutes, less by chance and more if the receiver asks")
{
    CHECK(pause_after(1, 0s, 0.0) == 1s);
    CHECK(pause_after(2, 0s, 0.0) == 2s);
    CHECK(pause_after(9, 0s, 0.0) == 256s);
    CHECK(pause_after(10, 0s, 0.0) == 5min);
    CHECK(pause_after(1000, 0s, 0.0) == 5min);
    CHECK(pause_after(3, 0s, 0.5) == 3s);
    CHECK(pause_after(1, 20s, 0.9) == 20s);
    CHECK(pause_after(1, 24h, 0.0) == 5min);
    CHECK(pause_after(10, 1s, 0.0) == 5min);
}

TEST_CASE("every end has a name of its own")
{
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < gateway::push::push_ends; ++i) {
        names.insert(name(static_cast<push_end>(i)));
    }
    CHECK(names.size() == gateway::push::push_ends);
}

TEST_SUITE_END();
