// Calls, answers and events as the rows of tests/data/dialect write them:
//   request   JSON-RPC {"params":…}; HTTP+JSON {"verb":…,"target":…,"body":…}
//   answer    JSON-RPC {"result":…} or {"error":…}; HTTP+JSON {"status":…,"body":…}
//   event     JSON-RPC {"result":…} or {"error":…}; HTTP+JSON the event itself
// Translated texts come back in the same form, without white space outside of strings.
#pragma once

#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/request.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tests {

// `0.3/jsonrpc`, `0.3/rest`, `1.0/jsonrpc`, `1.0/rest`.
a2a::dialect dialect_called(std::string_view name);

// Without white space outside of strings.
std::string compact(std::string_view json);

// The raw value of a member; empty: there is none.
std::string_view member_of(std::string_view object, std::string_view name);

// The text of a raw string.
std::string text_of(std::string_view raw);

struct outcome {
    std::string text;  // in the form above; empty if there is none
    std::size_t lost = 0;
    int code = 0;        // of a refusal
    std::string member;  // of a refusal
    a2a::event_facts facts;
    a2a::exchange how;
};

outcome translated_request(
    a2a::dialect caller,
    a2a::dialect agent,
    a2a::operation what,
    std::string_view row,
    const a2a::request_options& options = {}
);

outcome translated_answer(
    const a2a::exchange& how,
    std::string_view row,
    a2a::error_profile profile = a2a::error_profile::v1_0_1
);

outcome translated_event(const a2a::exchange& how, std::string_view row);

}  // namespace tests
