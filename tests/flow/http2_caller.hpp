// A caller that speaks HTTP/2 frame by frame, however wrong, and keeps what comes back.
#pragma once

#include "tests/support/http2_frames.hpp"
#include "tests/support/http_client.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace flow {

class http2_caller {
public:
    explicit http2_caller(std::uint16_t port, std::chrono::milliseconds timeout = test_support::patience)
        : client_{port, timeout}
    {
        send(test_support::http2::client_start());
    }
    // Over TLS; ALPN offers HTTP/2.
    http2_caller(std::uint16_t port, const test_support::tls_caller& how)
        : client_{port, offering_http2(how)}
    {
        send(test_support::http2::client_start());
    }

    void send(std::string_view frames) { client_.send(frames); }
    bool try_send(std::string_view frames) { return client_.try_send(frames); }
    void close() { client_.close(); }

    // Reads frames until one holds to `wanted`, or the connection ends: false.
    template <class Wanted>
    bool until(const Wanted& wanted)
    {
        while (true) {
            for (test_support::http2::read_frame each; test_support::http2::take_frame(bytes_, each);) {
                note(each);
                if (wanted(each)) {
                    return true;
                }
            }
            const auto more = client_.read_some();
            if (more.empty()) {
                return false;
            }
            bytes_ += more;
        }
    }

    // The answer to the request on this stream is whole; false: it was reset, or the connection ended.
    bool answered(std::uint32_t stream)
    {
        namespace raw = test_support::http2;
        bool reset = false;
        const bool came = until([&](const raw::read_frame& each) {
            reset = each.stream == stream && each.type == raw::rst_stream;
            const bool content = each.type == raw::headers || each.type == raw::data;
            return reset || (each.stream == stream && content && (each.flags & raw::end_stream) != 0);
        });
        return came && !reset;
    }

    // The stream was reset with this code.
    bool was_reset(std::uint32_t stream, std::uint64_t code)
    {
        namespace raw = test_support::http2;
        return until([&](const raw::read_frame& each) {
            return each.stream == stream && each.type == raw::rst_stream && each.code() == code;
        });
    }

    // Until the gateway closes: the code of the last GOAWAY; -1: none came.
    int goaway()
    {
        until([](const auto&) { return false; });
        return goaway_;
    }

    std::string field(std::uint32_t stream, std::string_view name) const
    {
        std::string last;
        const auto found = fields_.find(stream);
        if (found != fields_.end()) {
            for (const auto& [each, value] : found->second) {
                last = each == name ? value : last;
            }
        }
        return last;
    }
    std::string body(std::uint32_t stream) const
    {
        const auto found = bodies_.find(stream);
        return found == bodies_.end() ? "" : found->second;
    }
    const std::string& goaway_text() const noexcept { return goaway_text_; }
    std::uint64_t goaway_stream() const noexcept { return goaway_stream_; }

private:
    static test_support::tls_caller offering_http2(test_support::tls_caller how)
    {
        how.protocols = "\x02h2";
        return how;
    }

    void note(const test_support::http2::read_frame& each)
    {
        namespace raw = test_support::http2;
        if (each.type == raw::headers) {
            auto& known = fields_[each.stream];
            const auto more = blocks_.read(each.payload);
            known.insert(known.end(), more.begin(), more.end());
        } else if (each.type == raw::data) {
            bodies_[each.stream] += each.payload;
        } else if (each.type == raw::goaway) {
            goaway_ = static_cast<int>(each.code());
            goaway_stream_ = raw::number_in(std::string_view{each.payload}.substr(0, 4));
            goaway_text_ = each.payload.substr(8);
        }
    }

    test_support::http_client client_;
    std::string bytes_;
    test_support::http2::block_reader blocks_;
    std::map<std::uint32_t, test_support::http2::field_lines> fields_;
    std::map<std::uint32_t, std::string> bodies_;
    int goaway_ = -1;
    std::uint64_t goaway_stream_ = 0;
    std::string goaway_text_;
};

// One of five tries takes less time than this: a busy machine delays some of them, a fault of the gateway each.
template <class Try>
bool once_within(std::chrono::milliseconds most, const Try& one)
{
    for (int i = 0; i < 5; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        one();
        if (std::chrono::steady_clock::now() - begun < most) {
            return true;
        }
    }
    return false;
}

// Fields of requests to the gateway by the name that all its addresses have.
inline test_support::http2::field_lines
http2_fields(std::string method, std::string path, const test_support::http2::field_lines& more = {})
{
    test_support::http2::field_lines out{
        {":method", std::move(method)},
        {":scheme", "http"},
        {":authority", "127.0.0.1"},
        {":path", std::move(path)}
    };
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

// The frames of a call of agent `a`.
inline std::string http2_call(std::uint32_t stream, std::string_view body, test_support::http2::field_lines more = {})
{
    namespace raw = test_support::http2;
    more.emplace_back("content-type", "application/json");
    return raw::headers_frame(stream, http2_fields("POST", "/agents/a", more), raw::end_headers) +
           raw::frame(raw::data, raw::end_stream, stream, body);
}

}  // namespace flow
