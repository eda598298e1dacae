// Speaks HTTP/2 for a client that is written for HTTP/1.1: what it sends becomes streams, their answers become text of HTTP/1.1 again, in the
// order of the requests. So the tests of what a gateway does run over both versions. GOAWAY is `Connection: close` in the answers that are
// not yet read; a request with that field ends the connection after its answer, as its client would.
#pragma once

#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"
#include "net/http2/session.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace test_support {

class http2_voice final : net::http2::session_user {
public:
    explicit http2_voice(bool secure);
    ~http2_voice();

    // Bytes of requests of HTTP/1.1. False: they are none that HTTP/2 can say.
    bool say(std::string_view text);

    // Frames of the peer. What they say of the first request that is not answered yet, and then of the next, goes to `text`.
    void hear(std::string_view frames, std::string& text);

    // Frames to be sent now.
    std::string take_frames();

    // A part of a body waits for the peer's credit.
    bool waits_for_credit() const noexcept;

    // The peer has sent GOAWAY: no request can begin.
    bool leaving() const noexcept { return leaving_; }

    // The connection has ended, or an answer was cut: nothing comes after `text`.
    bool ended() const noexcept { return ended_; }

private:
    struct call;

    net::http2::stream_user* on_request(std::int32_t, net::http2::received_head) override { return nullptr; }
    void on_goaway(std::int32_t, net::http2::error_code) override { leaving_ = true; }
    void count_reset(net::http2::by, net::http2::error_code) noexcept override {}
    void count_goaway(net::http2::by, net::http2::error_code) noexcept override {}
    void count_refused(net::http2::limit) noexcept override {}

    bool begin_call();
    bool begin_refused_call();
    void say_body();

    net::http2::session session_;
    net::http1::request_parser parser_;
    net::http1::chunked_decoder decoder_;
    std::string said_;  // not yet sent
    std::deque<std::unique_ptr<call>> calls_;
    call* saying_ = nullptr;       // whose body comes
    std::uint64_t body_left_ = 0;  // of a body with a length
    bool chunked_ = false;
    bool leaving_ = false;
    bool ended_ = false;
};

}  // namespace test_support
