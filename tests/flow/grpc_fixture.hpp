// A gateway in front of one agent `a` by gRPC, and what its callers send and read, byte for byte.
#pragma once

#include "tests/flow/http2_caller.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http2_agent.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace flow {

// A field of protocol buffers that is a text or a message, shorter than 128 bytes, or of any size.
inline std::string pb_field(unsigned number, std::string_view text)
{
    std::string out(1, static_cast<char>(number << 3U | 2U));
    auto size = text.size();
    for (; size > 127; size >>= 7U) {
        out += static_cast<char>((size & 127U) | 128U);
    }
    out += static_cast<char>(size);
    return out.append(text);
}

// A message with its prefix.
inline std::string grpc_message(std::string_view bytes, char flag = '\0')
{
    return flag + test_support::http2::number(bytes.size(), 4) + std::string{bytes};
}

inline constexpr std::string_view v1_get = "/lf.a2a.v1.A2AService/GetTask";
inline constexpr std::string_view v1_stream = "/lf.a2a.v1.A2AService/SendStreamingMessage";

// A GetTaskRequest of 1.0.
inline std::string get_request(std::string_view tenant, std::string_view id = "t-1")
{
    return (tenant.empty() ? "" : pb_field(1, tenant)) + pb_field(2, id);
}

// A StreamResponse of 1.0 with a status update of this task, which works.
inline std::string working(std::string_view id)
{
    const auto status = std::string("\x08\x02", 2);
    return pb_field(3, pb_field(1, id) + pb_field(2, "c") + pb_field(3, status));
}

// At a name that the gateway answers to.
inline test_support::http2::field_lines at_gateway(test_support::http2::field_lines fields)
{
    fields[2].second = "127.0.0.1";
    return fields;
}

inline test_support::http2::field_lines grpc_fields(std::string_view path, test_support::http2::field_lines more = {})
{
    more.emplace_back("content-type", "application/grpc");
    more.emplace_back("te", "trailers");
    return at_gateway(test_support::http2::post(std::string{path}, std::move(more)));
}

inline std::string grpc_call(
    std::uint32_t stream,
    std::string_view path,
    std::string_view body,
    test_support::http2::field_lines more = {}
)
{
    namespace raw = test_support::http2;
    return raw::headers_frame(stream, grpc_fields(path, std::move(more)), raw::end_headers) +
           raw::frame(raw::data, raw::end_stream, stream, body);
}

// The answers of agents.
inline test_support::h2::script grpc_answer(
    std::string body,
    test_support::field_list trailers = {{"grpc-status", "0"}},
    test_support::field_list more = {}
)
{
    test_support::field_list head{{":status", "200"}, {"content-type", "application/grpc"}};
    head.insert(head.end(), more.begin(), more.end());
    return {
        test_support::h2::head{std::move(head)},
        test_support::h2::data{std::move(body)},
        test_support::h2::trailers{std::move(trailers)}
    };
}

inline test_support::h2::script grpc_failure(std::string code, std::string message = {})
{
    return {test_support::h2::head{
        {{":status", "200"},
         {"content-type", "application/grpc"},
         {"grpc-status", std::move(code)},
         {"grpc-message", std::move(message)}},
        true
    }};
}

struct grpc_relayed {
    using adjustment = std::function<void(config::settings&)>;  // agents[0] is `a`

    explicit grpc_relayed(
        test_support::http2_agent::handler by_default,
        const adjustment& adjust = {},
        test_support::http2_agent_options options = {}
    )
        : agent{std::move(by_default), std::move(options)},
          gateway{settings_for(agent, adjust)}
    {
    }

    std::uint16_t port() const noexcept { return gateway.port(); }

    test_support::http2_agent agent;
    running_gateway gateway;

private:
    static config::settings settings_for(const test_support::http2_agent& agent, const adjustment& adjust)
    {
        auto settings = quick_settings();
        settings.agents.push_back(a2a_agent("a", "grpc://127.0.0.1:" + std::to_string(agent.port())));
        settings.agents[0].dialects = {core::a2a_dialect::v1_grpc};
        settings.grpc.default_agent = "a";
        if (adjust) {
            adjust(settings);
        }
        return settings;
    }
};

// One call on a connection of its own: the status, then the message of the error.
inline std::string
status_of(std::uint16_t port, std::string_view path, std::string_view body, test_support::http2::field_lines more = {})
{
    http2_caller caller{port};
    caller.send(grpc_call(1, path, body, std::move(more)));
    return caller.answered(1) ? caller.field(1, "grpc-status") : "reset";
}

}  // namespace flow
