// Callers who say how long they wait, at the agents of access_fixture.hpp.
#pragma once

#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace flow {

// As call(), without waiting for the answer.
inline std::unique_ptr<test_support::http_client>
begin_call(std::uint16_t port, std::string_view id, field_list headers)
{
    headers.emplace_back("Content-Type", "application/json");
    constexpr std::string_view body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
    auto text = "POST /agents/" + std::string{id} + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const auto& [name, value] : headers) {
        text += name + ": " + value + "\r\n";
    }
    auto caller = std::make_unique<test_support::http_client>(port);
    caller->send(text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string{body});
    return caller;
}

inline field_list with_deadline(field_list headers, std::chrono::milliseconds time)
{
    headers.emplace_back("X-Request-Timeout-Ms", std::to_string(time.count()));
    return headers;
}

// The answer of a caller that has begun to wait just now for less time than anything else takes.
inline void check_deadline(const running_gateway& gateway, test_support::http_client& caller)
{
    const auto begun = std::chrono::steady_clock::now();
    const auto got = caller.read_response();
    CHECK(got.status == 504);
    CHECK(got.header("Cardea-Error") == "upstream_timeout");
    CHECK(std::chrono::steady_clock::now() - begun < test_support::patience / 2);
    const auto line =
        gateway.log().wait_for([](std::string_view each) { return each.find(R"("detail":"deadline")") != each.npos; });
    CHECK(line.has_value());
}

}  // namespace flow
