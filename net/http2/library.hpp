// A session's calls to libnghttp2 and the callbacks from it. Private to this folder. Pure.
#pragma once

#include "net/http2/session_state.hpp"

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace net::http2 {

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
    std::string_view begin_fields(std::string_view head);
    void add_field(std::string_view name, std::string_view value, unsigned flags = 0);
    void add_fields(std::string_view lines);
    void fill_answer(std::string_view head);
    void fill_request(std::string_view head);
    stream_user* user_of(std::int32_t id) noexcept
    {
        if (id != asked_id || asked == nullptr) {
            asked_id = id;
            asked = static_cast<stream_user*>(::nghttp2_session_get_stream_user_data(native, id));
        }
        return asked;
    }
    void set_user(std::int32_t id, stream_user* user) noexcept
    {
        asked = nullptr;
        ::nghttp2_session_set_stream_user_data(native, id, user);
    }
    void submit_reset(std::int32_t id, error_code code)
    {
        ::nghttp2_submit_rst_stream(native, NGHTTP2_FLAG_NONE, id, static_cast<std::uint32_t>(code));
    }

    nghttp2_session* native = nullptr;
    std::int32_t asked_id = 0;       // whose user was asked for last
    stream_user* asked = nullptr;    // that; null: none
    std::vector<nghttp2_nv> fields;  // scratch
    std::string text;                // of the fields; the library reads it when it makes the frame
    std::string spare;               // in place of it while it waits for that
    std::string_view host;           // of the fields
    bool copied = false;             // by the library: these are in `spare`
    bool waits = false;              // `text`, unless the library's queue is empty
};

}  // namespace net::http2
