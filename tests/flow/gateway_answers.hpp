// What tests ask of a running gateway, and what its own answers must look like.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace flow {

std::string card_target(std::string_view agent);

test_support::http_response
get_card(const running_gateway& gateway, std::string_view agent, const test_support::field_list& headers = {});

// A whole card of 0.3 whose endpoint is `url`.
std::string card_text(std::string_view name, std::string_view url);

// What a bridged agent's card declares of the gateway, as JSON.
std::string own_extension(std::string_view agent);

// `additionalInterfaces` of a bridged agent's card of 0.3 whose calls go to `base`, as JSON.
std::string both_bindings(const std::string& base);

// The text is JSON, or the test has failed.
core::json parsed(std::string_view text);

// {"error":{"code","message","agent","retryable"}} and no more, with Cardea-Error; without `agent` if that is empty.
void check_refusal(
    const test_support::http_response& answer,
    unsigned status,
    std::string_view code,
    std::string_view agent
);

// A JSON-RPC body to an address of the gateway.
test_support::http_response post_json(std::uint16_t port, std::string_view target, std::string_view body);

// The result of a management method, or the test has failed.
core::json manage(const running_gateway& gateway, std::string_view method, const core::json& params);

// The body of a call of a management method; `params` is JSON.
std::string managing(std::string_view method, std::string_view params);

// The error member of the answer, which is 200; null if there is none.
core::json error_of(const running_gateway& gateway, std::string_view method, std::string_view params);

// Asks again until it is so; false: it was not within the patience of tests.
bool becomes_true(const std::function<bool()>& question);

// Of a Cache-Control field that is exactly `public, max-age=<n>`; else -1.
long max_age_of(const test_support::http_response& answer);

}  // namespace flow
