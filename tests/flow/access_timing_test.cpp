// Whether time tells what a status does not. The two kinds of requests alternate on one connection, so that whatever else the
// machine does slows both.
#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/access timing");

namespace {

using namespace flow;
using std::chrono::nanoseconds;
using test_support::http_client;

nanoseconds median(std::vector<nanoseconds> times)
{
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

struct medians {
    nanoseconds hidden;
    nanoseconds unknown;

    // As far apart as two runs of the same request may be on a machine with other work.
    bool equal() const
    {
        const auto difference = std::chrono::abs(hidden - unknown);
        return difference < std::chrono::microseconds{10} || difference * 20 < std::min(hidden, unknown);
    }
};

// Of requests for an agent that the caller may not discover, and for one that is not there. The ids are of one length.
medians times_of(std::uint16_t port, const std::string& method, const std::string& below, const std::string& body)
{
    constexpr int rounds = 400;
    http_client client{port};
    const auto time_of = [&](const std::string& id) {
        auto headers = mallory;
        headers.emplace_back("Content-Type", "application/json");
        const auto text = test_support::request_text(method, "/agents/" + id + below, headers, body);
        const auto begun = std::chrono::steady_clock::now();
        client.send(text);
        const auto answer = client.read_response();
        const auto time = std::chrono::steady_clock::now() - begun;
        REQUIRE(answer.status == 404);
        return std::chrono::duration_cast<nanoseconds>(time);
    };
    std::vector<nanoseconds> hidden;
    std::vector<nanoseconds> unknown;
    for (int i = 0; i < rounds; ++i) {
        // Each comes first as often as the other.
        if (i % 2 == 0) {
            hidden.push_back(time_of("secret"));
            unknown.push_back(time_of("absent"));
        } else {
            unknown.push_back(time_of("absent"));
            hidden.push_back(time_of("secret"));
        }
    }
    return {median(hidden), median(unknown)};
}

}  // namespace

TEST_CASE("an agent that a caller may not know of takes as long as one that does not exist")
{
    guarded_gateway with;
    const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
    const std::vector<std::vector<std::string>> requests{
        {"GET", "/.well-known/agent-card.json", ""},
        {"POST", "", call},
        {"GET", "/files/a", ""},
    };
    for (const auto& each : requests) {
        CAPTURE(each[0] + each[1]);
        // Chance makes them differ now and then, a difference in the work each time.
        bool equal = false;
        medians last{};
        for (int attempt = 0; attempt < 5 && !equal; ++attempt) {
            last = times_of(with.gateway.port(), each[0], each[1], each[2]);
            equal = last.equal();
        }
        CAPTURE(last.hidden.count());
        CAPTURE(last.unknown.count());
        CHECK(equal);
    }
}

TEST_SUITE_END();
