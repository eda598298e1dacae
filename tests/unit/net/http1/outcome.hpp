// What a parser makes of bytes that arrive in pieces, written out as text so that two readings can be compared.
#pragma once

#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

// Where the pieces end, ascending; the last piece ends with the bytes.
using cuts = std::vector<std::size_t>;

inline cuts every_byte(std::string_view bytes)
{
    cuts all;
    for (std::size_t at = 1; at < bytes.size(); ++at) {
        all.push_back(at);
    }
    return all;
}

inline std::string describe(const core::error& failure)
{
    return std::string{core::name(failure.code)} + " of " + std::string{core::name(failure.from)} + ": " +
           failure.detail;
}

inline std::string describe(const net::http1::field_list& fields)
{
    std::string text;
    for (const auto& line : fields) {
        text += "\n" + std::to_string(static_cast<int>(line.id)) + " " + std::string{line.name} + ":" +
                std::string{line.value};
    }
    return text;
}

inline std::string describe(const net::http1::request_head& head)
{
    return std::string{net::http1::name(head.verb)} + " " + std::string{head.target} + " at " +
           std::string{head.authority} + " HTTP/1." + std::to_string(head.minor_version) + " body " +
           std::to_string(static_cast<int>(head.body)) + " of " + std::to_string(head.content_length) +
           (head.keep_alive ? " kept" : " closed") + (head.expect_continue ? " waits" : "") + describe(head.fields);
}

inline std::string describe(const net::http1::response_head& head)
{
    return std::to_string(head.status) + " HTTP/1." + std::to_string(head.minor_version) + " body " +
           std::to_string(static_cast<int>(head.body)) + " of " + std::to_string(head.content_length) +
           (head.keep_alive ? " kept" : " closed") + describe(head.fields);
}

enum class buffer {
    moving,  // each call sees the bytes at another place, in an allocation that ends with them
    still,   // each call sees more bytes at the same place
};

// `parse` is called with all that has arrived after each piece; `head` gives the parser's head.
template <class Parse, class Head>
std::string read_head(std::string_view bytes, const cuts& pieces, buffer where, Parse parse, Head head)
{
    std::vector<std::unique_ptr<char[]>> copies;  // kept: an address must not come back with other bytes at it
    for (std::size_t piece = 0; piece <= pieces.size(); ++piece) {
        const auto size = piece < pieces.size() ? pieces[piece] : bytes.size();
        auto received = bytes.substr(0, size);
        if (where == buffer::moving && size > 0) {
            copies.push_back(std::make_unique<char[]>(size));
            received.copy(copies.back().get(), size);
            received = {copies.back().get(), size};
        }
        const core::result<std::size_t> parsed = parse(received);
        if (parsed.has_error()) {
            return describe(parsed.error());
        }
        if (*parsed != 0) {
            return "head of " + std::to_string(*parsed) + " bytes: " + describe(head());
        }
    }
    return "waiting";
}

inline std::string read_request(
    std::string_view bytes,
    const cuts& pieces = {},
    buffer where = buffer::moving,
    net::http1::head_limits limits = {}
)
{
    net::http1::request_parser parser{limits};
    return read_head(
        bytes,
        pieces,
        where,
        [&](std::string_view received) { return parser.parse(received); },
        [&]() -> const net::http1::request_head& { return parser.head(); }
    );
}

inline std::string read_response(
    std::string_view bytes,
    net::http1::method to,
    const cuts& pieces = {},
    buffer where = buffer::moving,
    net::http1::head_limits limits = {}
)
{
    net::http1::response_parser parser{limits};
    return read_head(
        bytes,
        pieces,
        where,
        [&](std::string_view received) { return parser.parse(received, to); },
        [&]() -> const net::http1::response_head& { return parser.head(); }
    );
}

struct chunked_outcome {
    std::string data;
    std::string end;           // "over", "waiting", or the failure
    std::size_t consumed = 0;  // unless it failed

    bool operator==(const chunked_outcome&) const = default;
};

inline chunked_outcome
read_chunked(std::string_view bytes, const cuts& pieces = {}, net::http1::chunk_limits limits = {})
{
    net::http1::chunked_decoder decoder{limits};
    chunked_outcome outcome;
    std::size_t begin = 0;
    for (std::size_t piece = 0; piece <= pieces.size(); ++piece) {
        const auto end = piece < pieces.size() ? pieces[piece] : bytes.size();
        const std::vector<char> copy{
            bytes.begin() + static_cast<std::ptrdiff_t>(begin),
            bytes.begin() + static_cast<std::ptrdiff_t>(end)
        };
        std::string_view rest{copy.data(), copy.size()};
        while (!rest.empty()) {
            const auto step = decoder.decode(rest);
            if (step.has_error()) {
                outcome.end = describe(step.error());
                outcome.consumed = 0;
                return outcome;
            }
            outcome.data += step->data;
            outcome.consumed += step->consumed;
            if (step->finished) {
                outcome.end = "over";
                return outcome;
            }
            if (step->consumed == 0) {
                outcome.end = "stuck";
                return outcome;
            }
            rest.remove_prefix(step->consumed);
        }
        begin = end;
    }
    outcome.end = "waiting";
    return outcome;
}

}  // namespace tests
