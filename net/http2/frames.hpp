// The frames of a peer before the library reads them: where each begins, and whether there are too many that cost us work and the peer
// nothing (CVE-2019-9511 to 9518, CVE-2023-44487, CVE-2025-8671). Private to this folder. Pure.
#pragma once

#include "core/clock.hpp"
#include "net/http2/codes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net::http2 {

// RFC 9113 section 6.
enum class frame_type : std::uint8_t {
    data,
    headers,
    priority,
    rst_stream,
    settings,
    push_promise,
    ping,
    goaway,
    window_update,
    continuation,
};
inline constexpr unsigned end_stream_flag = 1;   // of DATA and HEADERS
inline constexpr unsigned ack_flag = 1;          // of SETTINGS and PING
inline constexpr unsigned end_headers_flag = 4;  // of HEADERS and CONTINUATION

// RFC 9113 section 4.1.
struct frame_start {
    std::size_t length = 0;
    frame_type type = frame_type::data;
    unsigned flags = 0;
    std::int32_t stream = 0;
};

// Appends the frame that ends a connection (RFC 9113 section 6.8); `why` is for the peer's log.
void add_goaway(std::string& out, std::int32_t last, std::uint32_t code, std::string_view why);

// Splits the input, so that no part has bytes of two frames.
class frame_splitter {
public:
    // So many bytes come first: the preface.
    explicit frame_splitter(std::size_t before_frames) noexcept
        : left_{before_frames}
    {
    }

    struct part {
        std::optional<frame_start> begins;  // with these bytes
        std::string_view bytes;             // empty: more are needed. They hold until the next call
        std::size_t used = 0;               // of the input; at least 1
    };
    // `input` is not empty.
    part next(std::string_view input) noexcept;
    bool within_frame() const noexcept { return left_ > 0; }

private:
    static constexpr std::size_t head = 9;

    std::size_t left_;  // of the preface or of the frame at hand
    std::array<char, head> start_{};
    std::size_t start_size_ = 0;
};

// An allowance that grows by `rate` a second up to `burst` seconds of it. A rate of 0 is no limit.
class allowance {
public:
    explicit allowance(std::uint32_t rate) noexcept
        : rate_{rate}
    {
    }

    // False: it is used up.
    bool take(core::steady_time now) noexcept;

    static constexpr std::uint32_t burst = 10;

private:
    static constexpr std::uint64_t scale = 1000;  // parts of one

    std::uint64_t rate_;
    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();  // not asked yet
    core::steady_time since_{};
};

class frame_watch {
public:
    // All are those of session_settings. `window`: of a stream.
    frame_watch(std::uint32_t resets, std::uint32_t control, std::uint32_t window) noexcept
        : resets_{resets},
          control_{control},
          window_{window}
    {
    }

    enum class verdict : std::uint8_t {
        pass,
        too_much_control,
        too_many_pings,
        data_after_end,     // a fault of the stream
        headers_after_end,  // a fault of the connection
        broken_priority,    // another
    };
    // A frame begins. `open`: its stream exists; `ended`: it existed. Late frames of streams that we have reset are no fault,
    // and as many as the window of a stream lets be on their way do not count as control.
    verdict look(const frame_start& frame, bool open, bool ended, core::steady_time now) noexcept;

    // More of the frame's payload. Nobody follows priorities of RFC 7540, but a stream may not depend on itself (its section 5.3.1).
    verdict look_inside(std::string_view payload) noexcept;

    // A frame that carries nothing, as its end has shown. False: one too many.
    bool count_control(core::steady_time now) noexcept { return control_.take(now); }

    // A stream was reset before its answer ended, by the peer or for its fault. False: one too many.
    bool count_reset(core::steady_time now) noexcept { return resets_.take(now); }
    // By us, with this code. False: one too many faults.
    bool count_own_reset(error_code code, core::steady_time now) noexcept;

    // Frames of ours that went out.
    void sent_headers() noexcept { content_sent_ = true; }
    void sent_data() noexcept;
    void sent_reset(std::int32_t stream);
    void sent_ping() noexcept { ++pings_out_; }
    // GOAWAY with the last stream: the peer may not know it yet.
    void sent_end() noexcept;

private:
    static constexpr std::uint64_t updates_for_data = 10;
    static constexpr std::size_t resets_remembered = 1024;
    static constexpr std::uint64_t late_windows = 256;  // at most, of all streams
    static constexpr std::uint64_t late_others = 4;     // of one stream: head, trailers, an empty end, a reset

    verdict control(core::steady_time now) noexcept;
    verdict look_at_ended(const frame_start& frame, core::steady_time now) noexcept;
    bool is_late(std::int32_t stream) const noexcept;
    bool take_late(const frame_start& frame) noexcept;
    void expect_late(std::uint64_t streams) noexcept;

    allowance resets_;
    allowance control_;
    std::uint64_t window_;
    std::uint64_t late_bytes_ = 0;           // of content that may still come
    std::uint64_t late_frames_ = 0;          // without content
    std::vector<std::int32_t> reset_by_us_;  // the latest; a ring
    std::size_t next_reset_ = 0;
    std::uint64_t updates_allowed_ = updates_for_data;
    std::size_t pings_out_ = 0;
    bool content_sent_ = true;  // HEADERS or DATA since the peer's last PING
    bool ending_ = false;
    std::int32_t prioritized_ = 0;     // the stream of the PRIORITY at hand; 0: none
    std::size_t dependency_size_ = 0;  // what has come of the stream that it names
    std::uint32_t dependency_ = 0;
};

}  // namespace net::http2
