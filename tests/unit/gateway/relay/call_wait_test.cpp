#include "gateway/relay/call_wait.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace gateway::relay;

namespace {

const std::vector<std::string> names{"X-Envoy-Expected-Rq-Timeout-Ms", "X-Request-Timeout-Ms"};

std::optional<core::duration> requested(const std::vector<std::pair<std::string, std::string>>& lines)
{
    net::http1::field_list fields;
    for (const auto& [name, value] : lines) {
        fields.push_back({net::http1::field_name::other, name, value});
    }
    return requested_deadline(fields, names);
}

}  // namespace

TEST_SUITE_BEGIN("gateway/relay/deadline fields");

TEST_CASE("A deadline is 1 to 86400000 in decimal digits, and nothing else")
{
    CHECK(parse_deadline("1") == 1ms);
    CHECK(parse_deadline("2") == 2ms);
    CHECK(parse_deadline("86399999") == 86'399'999ms);
    CHECK(parse_deadline("86400000") == 24h);
    CHECK(parse_deadline("0000000000000000007") == 7ms);
    for (const auto* const wrong :
         {"",
          "0",
          "00",
          "86400001",
          "-1",
          "+1",
          " 1",
          "1 ",
          "1.0",
          "1e3",
          "0x10",
          "1s",
          "1,2",
          "9223372036854775808",
          "99999999999999999999999999",
          "\xd9\xa1"}) {
        CAPTURE(wrong);
        CHECK(parse_deadline(wrong) == std::nullopt);
    }
}

TEST_CASE("The shortest of all that a caller says counts, and what is no deadline does not")
{
    CHECK(requested({}) == std::nullopt);
    CHECK(requested({{"X-Other-Ms", "5"}}) == std::nullopt);
    CHECK(requested({{"x-request-TIMEOUT-ms", "500"}}) == 500ms);
    CHECK(requested({{"X-Request-Timeout-Ms", "500"}, {"X-Envoy-Expected-Rq-Timeout-Ms", "200"}}) == 200ms);
    CHECK(requested({{"X-Request-Timeout-Ms", "500"}, {"X-Request-Timeout-Ms", "700"}}) == 500ms);
    CHECK(requested({{"X-Request-Timeout-Ms", "soon"}, {"X-Request-Timeout-Ms", "700"}}) == 700ms);
    CHECK(requested({{"X-Request-Timeout-Ms", "0"}}) == std::nullopt);
}

TEST_CASE("A caller's deadline shortens a timeout and never lengthens it")
{
    CHECK(shortened(30s, std::nullopt) == 30s);
    CHECK(shortened(30s, 1ms) == 1ms);
    CHECK(shortened(30s, 30s) == 30s);
    CHECK(shortened(30s, 24h) == 30s);
}

TEST_CASE("The agent is told what is left, and never less than a millisecond")
{
    std::string text = "A: b\r\n";
    write_deadline(text, names[1], 1234ms);
    CHECK(text == "A: b\r\nX-Request-Timeout-Ms: 1234\r\n");
    for (const auto left : {0ms, -5ms}) {
        text.clear();
        write_deadline(text, names[1], left);
        CHECK(text == "X-Request-Timeout-Ms: 1\r\n");
    }
}

TEST_SUITE_END();
