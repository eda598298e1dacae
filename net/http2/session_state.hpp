// The part of a session beside the library: the input as far as it has come, the head at hand, the counters, the output. Private to this
// folder. Pure.
#pragma once

#include "net/http2/frames.hpp"
#include "net/http2/heads.hpp"
#include "net/http2/session.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace net::http2 {

struct session_state {
    session_state(const session_settings& of, session_user& told)
        : settings{of},
          user{told},
          heads{settings.head},
          splitter{of.as == role::server ? preface.size() : 0},
          watch{of.resets, of.control, of.stream_window}
    {
    }
    session_state(const session_state&) = delete;
    session_state& operator=(const session_state&) = delete;

    bool serves() const noexcept { return settings.as == role::server; }

    // The connection ends for this reason.
    void fail(error_code code, std::string_view why);
    // A limit is exceeded for good. False, for callbacks.
    bool exceed(limit which, std::string_view why);

    // False: the connection has failed over it.
    bool accept(frame_watch::verdict verdict);
    bool take_field(std::string_view name, std::string_view value);
    bool count_empty() { return watch.count_control(now) || exceed_control(); }
    bool exceed_control() { return exceed(limit::control, "too many frames that carry nothing"); }
    bool head_is_over_limit() const noexcept { return heads.too_large() || heads.too_many(); }
    void count_head() { user.count_refused(over_limit()); }

    // The head of a request is whole. Null: it is to be refused.
    stream_user* begin_request(std::int32_t id, bool last);
    // A head or trailers of a stream that exists are whole.
    void tell_head(stream_user& to, bool last);

    const session_settings settings;
    session_user& user;
    head_builder heads;
    std::string out;
    std::size_t under_way = 0;
    std::size_t working = 0;
    core::steady_time now{};
    frame_splitter splitter;
    frame_watch watch;
    std::optional<core::steady_time> head_since;  // of the peer, whose frames have not ended
    bool head_ends = false;                       // with the frame at hand
    std::int32_t last_begun = 0;                  // the latest stream of the client
    std::int32_t sending_reset = 0;               // the stream of the RST_STREAM that is being sent, or was read
    std::int32_t received_reset = 0;
    std::size_t open_requests = 0;
    bool settled = false;
    bool no_data = false;
    bool failed = false;

private:
    limit over_limit() const noexcept { return heads.too_large() ? limit::header : limit::header_fields; }
};

}  // namespace net::http2
