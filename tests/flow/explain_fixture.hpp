// What the tests of explanations share.
#pragma once

#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace flow {

// The answer of access/explain on the admin listener.
inline core::json explained(std::uint16_t admin, core::json params)
{
    const core::json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "access/explain"}, {"params", std::move(params)}};
    const auto got = request(admin, "POST", "/rpc", {{"Content-Type", "application/json"}}, body.dump());
    CHECK(got.status == 200);
    return parsed(got.body);
}

// The line of a text, from 1.
inline std::string line_of(const std::string& text, unsigned number)
{
    std::size_t begin = 0;
    for (unsigned i = 1; i < number; ++i) {
        begin = text.find('\n', begin) + 1;
    }
    return text.substr(begin, text.find('\n', begin) - begin);
}

// The policy that a rule is of, such as `agents.words.call`.
inline std::string policy_of(const std::string& rule)
{
    const auto path = rule.substr(rule.find(' ') + 1);
    return path.ends_with(']') ? path.substr(0, path.rfind('[')) : path;
}

}  // namespace flow
