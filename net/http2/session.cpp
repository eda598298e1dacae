#include "net/http2/library.hpp"

#include <algorithm>
#include <memory>

namespace net::http2 {

session::session(const session_settings& settings, session_user& user)
    : library_{std::make_unique<library>(settings, user)},
      state_{*library_}
{
}

session::~session() = default;

void session::feed(std::string_view bytes, core::steady_time now)
{
    library_->now = now;
    library_->feed(bytes);
}

void session::produce(std::size_t under_way)
{
    library_->under_way = under_way;
    library_->drain();
}

bool session::done() const noexcept
{
    auto* const native = library_->native;
    return library_->failed || (::nghttp2_session_want_read(native) == 0 && ::nghttp2_session_want_write(native) == 0);
}

core::result<std::int32_t> session::request(std::string_view head, stream_user& user, bool last)
{
    auto& lib = *library_;
    lib.fill_request(head);
    const auto body = library::body();
    const auto count = lib.fields.size();
    const bool allowed = !lib.failed && ::nghttp2_session_check_request_allowed(lib.native) != 0;
    const auto* const sends = last ? nullptr : &body;
    const auto id =
        allowed ? ::nghttp2_submit_request(lib.native, nullptr, lib.fields.data(), count, sends, &user) : -1;
    if (id < 0) {
        return core::upstream_error(core::errc::upstream_reset, "no more streams");
    }
    ++lib.open_requests;
    return id;
}

std::size_t session::room_for_requests() const noexcept
{
    const auto& lib = *library_;
    if (lib.failed || ::nghttp2_session_check_request_allowed(lib.native) == 0) {
        return 0;
    }
    const std::size_t most = ::nghttp2_session_get_remote_settings(lib.native, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    return most - std::min(most, lib.open_requests);
}

void session::answer(std::int32_t id, std::string_view head, bool last)
{
    auto& lib = *library_;
    const auto body = library::body();
    lib.fill_answer(head);
    ::nghttp2_submit_response(lib.native, id, lib.fields.data(), lib.fields.size(), last ? nullptr : &body);
}

void session::interim(std::int32_t id, std::string_view head)
{
    auto& lib = *library_;
    lib.fill_answer(head);
    ::nghttp2_submit_headers(lib.native, 0, id, nullptr, lib.fields.data(), lib.fields.size(), nullptr);
}

void session::resume(std::int32_t id)
{
    ::nghttp2_session_resume_data(library_->native, id);
}

void session::consume(std::int32_t id, std::size_t bytes)
{
    if (id == 0) {  // the stream is gone: the library takes no such number
        ::nghttp2_session_consume_connection(library_->native, bytes);
    } else if (!library_->failed) {
        ::nghttp2_session_consume(library_->native, id, bytes);
    }
}

void session::reset(std::int32_t id, error_code code)
{
    library_->set_user(id, nullptr);
    library_->submit_reset(id, code);
}

void session::detach(std::int32_t id)
{
    library_->set_user(id, nullptr);
}

bool session::is_open(std::int32_t id) const noexcept
{
    return ::nghttp2_session_find_stream(library_->native, id) != nullptr;
}

void session::announce_end()
{
    ::nghttp2_submit_shutdown_notice(library_->native);
}

void session::end()
{
    auto* const native = library_->native;
    library_->watch.sent_end();
    const auto last = std::max(::nghttp2_session_get_last_proc_stream_id(native), 0);
    ::nghttp2_submit_goaway(native, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
}

void session::ping()
{
    if (::nghttp2_submit_ping(library_->native, NGHTTP2_FLAG_NONE, nullptr) == 0) {
        library_->watch.sent_ping();
    }
}

}  // namespace net::http2
