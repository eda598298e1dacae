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
    auto* const to = user.on_request(id, {heads.text(), last, refused ? &*refused : nullptr});
    working -= to == nullptr ? 1 : 0;
    return to;
}

void session_state::tell_head(stream_user& to, bool last)
{
    heads.finish(last);
    if (heads.of() == head_builder::kind::answer) {
        to.on_head({heads.text(), last, nullptr});
    } else {
        to.on_trailers(heads.text());
    }
    if (last) {
        to.on_end();
    }
}

}  // namespace net::http2
