#include "net/http2/library.hpp"

#include "net/loop/routine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace net::http2 {
namespace {

constexpr std::size_t frame_head = 9;  // RFC 9113 section 4.1
constexpr std::size_t most_kept_text = 4096;
constexpr std::size_t most_header_block = 4 * 1024 * 1024;
constexpr auto any_number = std::numeric_limits<std::uint64_t>::max() / 2;
constexpr std::int32_t no_stream_yet = std::numeric_limits<std::int32_t>::max();

std::string_view view(const std::uint8_t* bytes, std::size_t size) noexcept
{
    return {reinterpret_cast<const char*>(bytes), size};  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

// The library copies both if the flags say so, and only reads them.
nghttp2_nv field_of(std::string_view name, std::string_view value, unsigned flags) noexcept
{
    const auto bytes = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // NOLINT
    };
    return {bytes(name), bytes(value), name.size(), value.size(), static_cast<std::uint8_t>(flags)};
}

// Memory of the library: it comes and goes a dozen times a call, in few sizes. Before each piece, which holds nothing wider than a
// pointer, stands its size.
constexpr std::size_t before_piece = sizeof(std::size_t);

void* take_memory(std::size_t size, void* /*user*/) noexcept
{
    if (size > std::numeric_limits<std::size_t>::max() - before_piece) {
        return nullptr;
    }
    try {
        auto* const whole = static_cast<char*>(frame_pool::take(size + before_piece));
        *new (whole) std::size_t = size;
        return whole + before_piece;
    } catch (...) {
        return nullptr;
    }
}

std::size_t size_of_memory(const void* piece) noexcept
{
    std::size_t size = 0;
    std::memcpy(&size, static_cast<const char*>(piece) - before_piece, sizeof size);
    return size;
}

void give_memory(void* piece, void* /*user*/) noexcept
{
    if (piece != nullptr) {
        frame_pool::give(static_cast<char*>(piece) - before_piece, size_of_memory(piece) + before_piece);
    }
}

void* take_zeros(std::size_t count, std::size_t size, void* user) noexcept
{
    if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) {
        return nullptr;
    }
    auto* const piece = take_memory(count * size, user);
    return piece == nullptr ? nullptr : std::memset(piece, 0, count * size);
}

void* change_memory(void* piece, std::size_t size, void* user) noexcept
{
    auto* const made = take_memory(size, user);
    if (made != nullptr && piece != nullptr) {
        std::memcpy(made, piece, std::min(size, size_of_memory(piece)));
        give_memory(piece, user);
    }
    return made;
}

}  // namespace

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
    const auto create_it = serves() ? &::nghttp2_session_server_new3 : &::nghttp2_session_client_new3;
    nghttp2_mem memory{nullptr, take_memory, give_memory, take_zeros, change_memory};
    const int failure = create_it(&native, &calls(), this, options, &memory);
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
        if (head_ends && !splitter.within_frame()) {
            head_ends = false;
            head_since.reset();
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
    if (frame.type == frame_type::headers) {
        head_since = now;
    }
    const bool of_head = frame.type == frame_type::headers || frame.type == frame_type::continuation;
    head_ends = of_head && (frame.flags & end_headers_flag) != 0;
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
            set_user(id, nullptr);
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
    set_user(id, to);
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
    asked = nullptr;
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
            add_fields(begin_fields(next.trailers));
            if (::nghttp2_submit_trailer(native, id, fields.data(), fields.size()) != 0) {
                return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
            }
        }
    }
    return static_cast<ssize_t>(size);
}

// Takes the text of a head: the fields that are added then are views into the copy.
std::string_view session::library::begin_fields(std::string_view head)
{
    fields.clear();
    host = {};
    copied = waits && ::nghttp2_session_get_outbound_queue_size(native) > 0;
    waits = true;
    auto& place = copied ? spare : text;
    if (place.capacity() > most_kept_text && head.size() <= most_kept_text) {
        std::string{}.swap(place);
    }
    place = head;
    return place;
}

void session::library::add_field(std::string_view name, std::string_view value, unsigned flags)
{
    const unsigned views = copied ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    fields.push_back(field_of(name, value, views | flags));
}

void session::library::add_fields(std::string_view lines)
{
    auto& place = copied ? spare : text;
    auto* const begin = place.data() + (lines.data() - place.data());
    for_each_field(begin, begin + lines.size(), [this](auto name, auto value, const field_facts& facts) {
        if (facts.id == http1::field_name::host && host.empty()) {
            host = value;
        }
        if (!facts.of_http1 || (facts.id == http1::field_name::te && core::equal_ignoring_case(value, "trailers"))) {
            const bool secret = serves() ? facts.secret_of_answers : facts.secret_of_requests;
            add_field(name, value, secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE);
        }
    });
}

// `head` begins with "HTTP/1.1 " and three digits.
void session::library::fill_answer(std::string_view head)
{
    auto lines = begin_fields(head);
    const auto first = take_line(lines);
    add_field(":status", first.substr(std::min<std::size_t>(first.size(), 9), 3));
    add_fields(lines);
}

// `head` is text of HTTP/1.1 from its request line on.
void session::library::fill_request(std::string_view head)
{
    auto lines = begin_fields(head);
    const auto first = split_request_line(take_line(lines));
    add_field(":method", first.verb);
    add_field(":scheme", settings.secure ? "https" : "http");
    const auto authority = fields.size();
    add_field(":authority", {});
    add_field(":path", first.target);
    add_fields(lines);
    fields[authority] = field_of(":authority", host, fields[authority].flags);
}

nghttp2_data_provider session::library::body() noexcept
{
    return {{}, [](auto*, auto id, auto*, auto most, auto* flags, auto*, void* self) {
                return static_cast<library*>(self)->read(id, most, *flags);
            }};
}

}  // namespace net::http2
