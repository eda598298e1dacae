// What the tests of calls and streams share: a gateway in front of one scripted agent `a`, the texts of calls, and the
// answers that the gateway gives in its own name, written out here and not taken from its code.
#pragma once

#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow {

struct relayed {
    using adjustment = std::function<void(config::settings&)>;  // agents[0] is `a`

    explicit relayed(
        test_support::handler by_default,
        const adjustment& adjust = {},
        test_support::agent_options options = {}
    );
    explicit relayed(
        test_support::script always,
        const adjustment& adjust = {},
        test_support::agent_options options = {}
    );

    std::uint16_t port() const noexcept { return gateway.port(); }

    test_support::scripted_agent agent;
    running_gateway gateway;
};

// A JSON-RPC request; `id` is JSON text.
std::string call_body(std::string_view id = "1", std::string_view method = "message/send");

// POST /agents/a with application/json and these further fields.
std::string call_text(std::string_view body, const test_support::field_list& further = {});

// The same on a connection of its own.
test_support::http_response call(std::uint16_t port, std::string_view body);

struct error_answer {
    unsigned status;
    int code;
    std::string_view name;
    std::string_view message;
    bool retryable;
};

inline constexpr error_answer
    unresolved{502, -32603, "upstream_unresolved", "The agent's host name could not be resolved.", true};
inline constexpr error_answer refused{502, -32603, "upstream_refused", "The agent could not be reached.", true};
inline constexpr error_answer tls_failed{502, -32603, "upstream_tls", "The TLS connection to the agent failed.", false};
inline constexpr error_answer
    cut_off{502, -32603, "upstream_reset", "The agent closed the connection before its answer was complete.", true};
inline constexpr error_answer
    not_http{502, -32603, "upstream_protocol", "The agent's answer does not follow its protocol.", false};
inline constexpr error_answer
    bad_status{502, -32603, "upstream_status", "The agent answered with a status that cannot be used.", false};
inline constexpr error_answer late{504, -32603, "upstream_timeout", "The agent did not answer in time.", true};
inline constexpr error_answer no_agent{404, -31404, "agent_not_found", "No such agent.", false};
inline constexpr error_answer not_json{200, -32700, "parse_error", "The body is not valid JSON.", false};
inline constexpr error_answer
    not_a_call{200, -32600, "invalid_request", "The body is not a JSON-RPC 2.0 request.", false};

// The whole body of that answer to a JSON-RPC call, and to anything else. `agent` empty: not named.
std::string jsonrpc_body(const error_answer& what, std::string_view id, std::string_view agent = "a");
std::string plain_body(const error_answer& what, std::string_view agent = {});

void check_jsonrpc_error(
    const test_support::http_response& got,
    const error_answer& what,
    std::string_view id,
    std::string_view agent = "a"
);
void check_plain_error(const test_support::http_response& got, const error_answer& what, std::string_view agent = {});

// The same to a caller of HTTP+JSON, of 1.0 or of 0.3.
void check_rest_error(
    const test_support::http_response& got,
    const error_answer& what,
    bool of_1,
    std::string_view agent = {}
);

// What http_client::read_response throws for an answer that does not end as its head says.
inline constexpr const char* cut_answer = "http_client: closed before the end of the response";

// The access lines so far, once there are `count`; fewer if they do not come. What differs from run to run is emptied:
// ts, id, ttfb_ms, ms; trace_id and span_id, which each of them has, are left out.
std::vector<std::string> access_lines(const running_gateway& gateway, std::size_t count);

// `data` as chunks of `size` bytes, with the last chunk.
std::string chunked(std::string_view data, std::size_t size);

// `size` bytes of test_support::pattern_byte.
std::string pattern_text(std::size_t size);

}  // namespace flow
