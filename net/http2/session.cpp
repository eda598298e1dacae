#include "net/http2/session.hpp"

#include "net/http2/session_state.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace net::http2 {
namespace {

constexpr std::size_t frame_head = 9;  // RFC 9113 section 4.1
constexpr std::size_t most_header_block = 4 * 1024 * 1024;
constexpr auto any_number = std::numeric_limits<std::uint64_t>::max() / 2;
constexpr std::int32_t no_stream_yet = std::numeric_limits<std::int32_t>::max();

std::string_view view(const std::uint8_t* bytes, std::size_t size) noexcept
{
    return {reinterpret_cast<const char*>(bytes), size};  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

nghttp2_nv field_of(std::string_view name, std::string_view value, bool secret) noexcept
{
    // The library copies both and only reads them.
    const auto bytes = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // NOLINT
    };
    const auto flags = secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    return {bytes(name), bytes(value), name.size(), value.size(), static_cast<std::uint8_t>(flags)};
}

}  // namespace

struct session::library : session_state {
    library(const session_settings& of, session_user& told);
    ~library() { ::nghttp2_session_del(native); }

    static const nghttp2_session_callbacks& calls();
    void create();
    void begin();

    void feed(std::string_view bytes);
    void hand_over(std::string_view bytes);
    void drain();
    bool look(const frame_start& frame);

    // Callbacks of the library. False: the connection has failed.
    using bytes = const std::uint8_t*;
    bool begin_headers(const nghttp2_frame* frame);
    bool
    take_field(const nghttp2_frame*, bytes name, std::size_t name_size, bytes value, std::size_t size, std::uint8_t);
    bool take_body(std::uint8_t flags, std::int32_t id, bytes data, std::size_t size);
    bool received(const nghttp2_frame* frame);
    bool send_body(nghttp2_frame* frame, bytes start, std::size_t size, nghttp2_data_source* source);
    bool sent(const nghttp2_frame* frame);
    bool not_sent(const nghttp2_frame* frame, int failure);
    bool closed(std::int32_t id, std::uint32_t code);
    ssize_t read(std::int32_t id, std::size_t most, std::uint32_t& flags);
    static nghttp2_data_provider body() noexcept;

    void end_headers(const nghttp2_frame& frame);
    void tell_sent(const nghttp2_frame& frame);
    void end_request(std::int32_t id, bool last);
    void add_fields(std::string_view lines);
    void fill_answer(std::string_view head);
    stream_user* user_of(std::int32_t id) const noexcept
    {
        return static_cast<stream_user*>(::nghttp2_session_get_stream_user_data(native, id));
    }
    void submit_reset(std::int32_t id, error_code code)
    {
        ::nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, id, static_cast<std::uint32_t>(code));
    }

    nghttp2_session* native = nullptr;
    std::vector<nghttp2_nv> fields;  // scratch
};

namespace {

using library_calls = std::unique_ptr<nghttp2_session_callbacks, decltype(&::nghttp2_session_callbacks_del)>;

// A callback of the library, which no exception may pass: runs `Member` of the session's own part.
template <auto Member, class Part, class... Given>
int forward(nghttp2_session* /*native*/, Given... given, void* part) noexcept
{
    try {
        return (static_cast<Part*>(part)->*Member)(given...) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    } catch (...) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
}

}  // namespace

session::library::library(const session_settings& of, session_user& told)
    : session_state{of, told}
{
    create();
    begin();
}

const nghttp2_session_callbacks& session::library::calls()
{
    static const library_calls all = [] {
        using lib = session::library;
        using frame = const nghttp2_frame*;
        nghttp2_session_callbacks* made = nullptr;
        if (::nghttp2_session_callbacks_new(&made) != 0) {
            throw std::bad_alloc{};
        }
        ::nghttp2_session_callbacks_set_on_begin_headers_callback(made, &forward<&lib::begin_headers, lib, frame>);
        ::nghttp2_session_callbacks_set_on_header_callback(made, &forward<&lib::take_field, lib, frame, bytes, std::size_t, bytes, std::size_t, std::uint8_t>);
        // Otherwise the library drops the field and goes on.
        ::nghttp2_session_callbacks_set_on_invalid_header_callback(made, [](auto...) -> int {
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        });
        ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, &forward<&lib::take_body, lib, std::uint8_t, std::int32_t, bytes, std::size_t>);
        ::nghttp2_session_callbacks_set_on_frame_recv_callback(made, &forward<&lib::received, lib, frame>);
        ::nghttp2_session_callbacks_set_on_frame_send_callback(made, &forward<&lib::sent, lib, frame>);
        ::nghttp2_session_callbacks_set_on_frame_not_send_callback(made, &forward<&lib::not_sent, lib, frame, int>);
        ::nghttp2_session_callbacks_set_on_stream_close_callback(made, &forward<&lib::closed, lib, std::int32_t, std::uint32_t>);
        ::nghttp2_session_callbacks_set_send_data_callback(made, &forward<&lib::send_body, lib, nghttp2_frame*, bytes, std::size_t, nghttp2_data_source*>);
        return library_calls{made, &::nghttp2_session_callbacks_del};
    }();
    return *all;
}

void session::library::create()
{
    nghttp2_option* options = nullptr;
    if (::nghttp2_option_new(&options) != 0) {
        throw std::bad_alloc{};
    }
    ::nghttp2_option_set_no_auto_window_update(options, 1);
    ::nghttp2_option_set_no_closed_streams(options, 1);
    ::nghttp2_option_set_stream_reset_rate_limit(options, any_number, any_number);  // the session counts them itself
    ::nghttp2_option_set_max_send_header_block_length(options, most_header_block);
    const auto create_it = serves() ? &::nghttp2_session_server_new2 : &::nghttp2_session_client_new2;
    const int failure = create_it(&native, &calls(), this, options);
    ::nghttp2_option_del(options);
    if (failure != 0) {
        throw std::bad_alloc{};
    }
}

void session::library::begin()
{
    std::vector<nghttp2_settings_entry> entries{
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(settings.head.bytes)},
    };
    if (serves()) {
        entries.push_back({NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<std::uint32_t>(settings.streams)});
        entries.push_back({NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1});
    } else {
        entries.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
    }
    const auto window = static_cast<std::int32_t>(settings.connection_window);
    if (::nghttp2_submit_settings(native, NGHTTP2_FLAG_NONE, entries.data(), entries.size()) != 0 ||
        ::nghttp2_session_set_local_window_size(native, NGHTTP2_FLAG_NONE, 0, window) != 0) {
        throw std::bad_alloc{};
    }
    drain();
}

// Frame by frame, so that each is looked at before the library does: it is silent about those that it ignores.
void session::library::feed(std::string_view bytes)
{
    while (!bytes.empty() && !failed) {
        const auto part = splitter.next(bytes);
        bytes.remove_prefix(part.used);
        const auto payload = part.begins ? part.bytes.substr(std::min(frame_head, part.bytes.size())) : part.bytes;
        if ((!part.begins || look(*part.begins)) && accept(watch.look_inside(payload)) && !part.bytes.empty()) {
            hand_over(part.bytes);
        }
    }
}

void session::library::hand_over(std::string_view bytes)
{
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    const auto taken =
        ::nghttp2_session_mem_recv(native, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (failed) {
        return;
    }
    if (taken == NGHTTP2_ERR_FLOODED) {
        exceed(limit::control, "too many frames to acknowledge");
    } else if (taken == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
        exceed(limit::continuations, "too many CONTINUATION frames");
    } else if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
        fail(error_code::protocol_error, "no preface");
    } else if (taken < 0) {
        fail(error_code::internal_error, {});
    } else if (::nghttp2_session_get_outbound_queue_size(native) > 0) {
        // At once, so that a GOAWAY of the library's own is seen: it gets no more bytes after it.
        no_data = true;
        drain();
        no_data = false;
    }
}

void session::library::drain()
{
    while (!failed) {
        const std::uint8_t* bytes = nullptr;
        const auto size = ::nghttp2_session_mem_send(native, &bytes);
        if (size > 0) {
            out.append(view(bytes, static_cast<std::size_t>(size)));
        }
        if (size < 0 && !failed) {
            fail(error_code::internal_error, {});
        }
        if (size <= 0) {
            return;
        }
    }
}

// False: the connection has failed.
bool session::library::look(const frame_start& frame)
{
    const bool open = ::nghttp2_session_find_stream(native, frame.stream) != nullptr;
    const auto next = static_cast<std::int32_t>(::nghttp2_session_get_next_stream_id(native));
    const auto latest = serves() ? last_begun : next - 2;
    const bool ended = !open && frame.stream % 2 == 1 && frame.stream <= latest;
    if (serves() && frame.type == frame_type::headers) {
        last_begun = std::max(last_begun, frame.stream);
    }
    const auto verdict = watch.look(frame, open, ended, now);
    if (verdict == frame_watch::verdict::data_after_end) {
        submit_reset(frame.stream, error_code::stream_closed);
    }
    return accept(verdict);
}

bool session::library::begin_headers(const nghttp2_frame* frame)
{
    const bool is_request = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    heads.begin(is_request ? head_builder::kind::request : head_builder::kind::trailers);
    return true;
}

bool session::library::take_field(
    const nghttp2_frame*,
    bytes name,
    std::size_t name_size,
    bytes value,
    std::size_t size,
    std::uint8_t
)
{
    return session_state::take_field(view(name, name_size), view(value, size));
}

void session::library::end_headers(const nghttp2_frame& frame)
{
    const auto id = frame.hd.stream_id;
    const bool last = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (heads.of() == head_builder::kind::request) {
        end_request(id, last);
    } else if (head_is_over_limit()) {
        count_head();
        if (auto* const to =
                user_of(id)) {  // at once: with the end of a stream the library closes it before it sends the reset
            ::nghttp2_session_set_stream_user_data(native, id, nullptr);
            to->on_closed(error_code::enhance_your_calm, by::us);
        }
        submit_reset(id, error_code::enhance_your_calm);
    } else if (auto* const to = user_of(id)) {
        tell_head(*to, last);
    }
    heads.rest();
}

void session::library::end_request(std::int32_t id, bool last)
{
    auto* const to = begin_request(id, last);
    if (to == nullptr) {
        submit_reset(id, error_code::refused_stream);
        return;
    }
    ::nghttp2_session_set_stream_user_data(native, id, to);
    // In turns: by default (RFC 9218 section 10) a long answer would go out before all later ones.
    const nghttp2_extpri turns{NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
    ::nghttp2_session_change_extpri_stream_priority(native, id, &turns, /*ignore_client_signal=*/1);
    if (last) {
        to->on_end();
    }
}

bool session::library::take_body(std::uint8_t /*flags*/, std::int32_t id, bytes data, std::size_t size)
{
    if (auto* const to = user_of(id)) {
        to->on_body(view(data, size));
    } else {
        ::nghttp2_session_consume_connection(native, size);
    }
    return true;
}

bool session::library::send_body(nghttp2_frame* frame, bytes start, std::size_t size, nghttp2_data_source* /*source*/)
{
    out.append(view(start, frame_head));
    auto* const from = user_of(frame->hd.stream_id);
    if (from != nullptr && size > 0) {
        from->take(size, out);
    }
    return true;
}

bool session::library::received(const nghttp2_frame* frame)
{
    const auto id = frame->hd.stream_id;
    switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
            end_headers(*frame);
            break;
        case NGHTTP2_DATA:
            if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
                if (auto* const to = user_of(id)) {
                    to->on_end();
                }
            } else if (frame->hd.length > 0 && frame->hd.length == frame->data.padlen) {
                return count_empty();
            }
            break;
        case NGHTTP2_RST_STREAM:
            received_reset = id;
            user.count_reset(by::peer, static_cast<error_code>(frame->rst_stream.error_code));
            if (::nghttp2_session_get_stream_local_close(native, id) == 0 && !watch.count_reset(now)) {
                return exceed(limit::resets, "too many streams reset");
            }
            break;
        case NGHTTP2_SETTINGS:
            if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0 && !std::exchange(settled, true)) {
                user.on_settings();
            }
            break;
        case NGHTTP2_GOAWAY:
            user.count_goaway(by::peer, static_cast<error_code>(frame->goaway.error_code));
            user.on_goaway(frame->goaway.last_stream_id, static_cast<error_code>(frame->goaway.error_code));
            break;
        default:
            break;
    }
    return true;
}

void session::library::tell_sent(const nghttp2_frame& frame)
{
    if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        if (auto* const from = user_of(frame.hd.stream_id)) {
            from->on_sent_all();
        }
    }
}

bool session::library::sent(const nghttp2_frame* frame)
{
    const auto id = frame->hd.stream_id;
    switch (frame->hd.type) {
        case NGHTTP2_DATA:
            watch.sent_data();
            tell_sent(*frame);
            break;
        case NGHTTP2_HEADERS:
            watch.sent_headers();
            tell_sent(*frame);
            break;
        case NGHTTP2_RST_STREAM:
            sending_reset = id;
            watch.sent_reset(id);
            if (frame->rst_stream.error_code == NGHTTP2_REFUSED_STREAM) {  // by us, or by the library
                user.count_refused(limit::streams);
            }
            user.count_reset(by::us, static_cast<error_code>(frame->rst_stream.error_code));
            if (!watch.count_own_reset(static_cast<error_code>(frame->rst_stream.error_code), now)) {
                return exceed(limit::resets, "too many faults of streams");
            }
            break;
        case NGHTTP2_GOAWAY:
            if (frame->goaway.error_code != NGHTTP2_NO_ERROR) {
                failed = true;
            }
            if (failed || frame->goaway.last_stream_id != no_stream_yet) {
                user.count_goaway(by::us, static_cast<error_code>(frame->goaway.error_code));
            }
            break;
        default:
            break;
    }
    return true;
}

// A head that the library refuses to send, such as one over most_header_block: the stream would wait for ever. It ends requests itself.
bool session::library::not_sent(const nghttp2_frame* frame, int /*failure*/)
{
    const bool head = frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat != NGHTTP2_HCAT_REQUEST;
    if (head && user_of(frame->hd.stream_id) != nullptr) {
        submit_reset(frame->hd.stream_id, error_code::internal_error);
    }
    return true;
}

bool session::library::closed(std::int32_t id, std::uint32_t code)
{
    const bool by_peer = std::exchange(received_reset, 0) == id;
    const bool by_us = !by_peer && (std::exchange(sending_reset, 0) == id || code == NGHTTP2_NO_ERROR);
    auto* const told = user_of(id);
    open_requests -= serves() ? 0 : 1;
    if (told != nullptr) {
        told->on_closed(static_cast<error_code>(code), by_us ? by::us : by::peer);
    }
    return true;
}

ssize_t session::library::read(std::int32_t id, std::size_t most, std::uint32_t& flags)
{
    auto* const from = user_of(id);
    if (from == nullptr) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (no_data || out.size() + under_way >= most_unsent) {
        return NGHTTP2_ERR_PAUSE;
    }
    const auto next = from->next();
    const auto size = std::min(next.size, most);
    if (size == 0 && !next.last) {
        return NGHTTP2_ERR_DEFERRED;
    }
    flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (next.last && size == next.size) {
        flags |= NGHTTP2_DATA_FLAG_EOF;
        if (!next.trailers.empty()) {
            flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            fields.clear();
            add_fields(next.trailers);
            if (::nghttp2_submit_trailer(native, id, fields.data(), fields.size()) != 0) {
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
            }
        }
    }
    return static_cast<ssize_t>(size);
}

void session::library::add_fields(std::string_view lines)
{
    for_each_field(lines, [this](std::string_view name, std::string_view value, http1::field_name id) {
        fields.push_back(field_of(name, value, is_secret(name, id, settings.as)));
    });
}

// `head` begins with "HTTP/1.1 " and three digits.
void session::library::fill_answer(std::string_view head)
{
    auto lines = head;
    const auto first = take_line(lines);
    fields.clear();
    fields.push_back(field_of(":status", first.substr(std::min<std::size_t>(first.size(), 9), 3), false));
    add_fields(lines);
}

nghttp2_data_provider session::library::body() noexcept
{
    return {{}, [](auto*, auto id, auto*, auto most, auto* flags, auto*, void* self) {
                return static_cast<library*>(self)->read(id, most, *flags);
            }};
}

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
    const auto parts = split_request(head);
    lib.fields.clear();
    lib.fields.push_back(field_of(":method", parts.verb, false));
    lib.fields.push_back(field_of(":scheme", lib.settings.secure ? "https" : "http", false));
    lib.fields.push_back(field_of(":authority", parts.host, false));
    lib.fields.push_back(field_of(":path", parts.target, false));
    lib.add_fields(parts.lines);
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
    ::nghttp2_session_set_stream_user_data(library_->native, id, nullptr);
    library_->submit_reset(id, code);
}

void session::detach(std::int32_t id)
{
    ::nghttp2_session_set_stream_user_data(library_->native, id, nullptr);
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
