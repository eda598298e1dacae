#include "net/http2/session_state.hpp"

namespace net::http2 {

// The frame is written here: the library may be in the middle of something, and gets no more bytes.
void session_state::fail(error_code code, std::string_view why)
{
    if (failed) {
        return;
    }
    failed = true;
    add_goaway(out, last_begun, static_cast<std::uint32_t>(code), why);
    user.count_goaway(by::us, code);
}

bool session_state::exceed(limit which, std::string_view why)
{
    if (!failed) {
        user.count_refused(which);
        fail(error_code::enhance_your_calm, why);
    }
    return false;
}

bool session_state::accept(frame_watch::verdict verdict)
{
    switch (verdict) {
        case frame_watch::verdict::pass:
        case frame_watch::verdict::data_after_end:
            return true;
        case frame_watch::verdict::too_much_control:
            return exceed_control();
        case frame_watch::verdict::too_many_pings:
            return exceed(limit::pings, "too_many_pings");  // by this text clients of gRPC ping less often
        case frame_watch::verdict::headers_after_end:
            fail(error_code::stream_closed, "HEADERS on a stream that has ended");
            return false;
        case frame_watch::verdict::broken_priority:
            fail(error_code::protocol_error, "PRIORITY of no stream, or of one that depends on itself");
            return false;
    }
    return true;
}

bool session_state::take_field(std::string_view name, std::string_view value)
{
    return heads.add(name, value) || exceed(over_limit(), "a header list far over the limit");
}

stream_user* session_state::begin_request(std::int32_t id, bool last)
{
    if (working >= settings.streams) {
        return nullptr;
    }
    const auto refused = heads.finish(last);
    if (head_is_over_limit()) {
        count_head();
    }
    ++working;
    auto* const to = user.on_request(id, {heads.text(), heads.lines(), last, refused ? &*refused : nullptr});
    working -= to == nullptr ? 1 : 0;
    return to;
}

void session_state::tell_head(stream_user& to, bool last)
{
    heads.finish(last);
    if (heads.of() == head_builder::kind::answer) {
        to.on_head({heads.text(), heads.lines(), last, nullptr});
    } else {
        to.on_trailers(heads.text());
    }
    if (last) {
        to.on_end();
    }
}

std::string& session::output() noexcept
{
    return state_.out;
}

const std::string& session::output() const noexcept
{
    return state_.out;
}

bool session::settled() const noexcept
{
    return state_.settled;
}

std::optional<core::steady_time> session::head_since() const noexcept
{
    return state_.head_since;
}

void session::end_work() noexcept
{
    --state_.working;
}

std::size_t session::working() const noexcept
{
    return state_.working;
}

void session::fail(error_code code, std::string_view why)
{
    state_.fail(code, why);
}

}  // namespace net::http2
