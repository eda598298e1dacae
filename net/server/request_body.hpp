// The body of the request that a caller's connection is at. It is decoded in the connection's buffer, behind the head, and comes
// whole or in pieces, within its deadline, the least rate and the memory that all bodies share. Belongs to a server_connection;
// one loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/chunked.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/loop/stream.hpp"
#include "net/server/alarm.hpp"
#include "net/server/answer_writer.hpp"
#include "net/server/request_buffers.hpp"
#include "net/server/server_settings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace net {

class request_body {
public:
    // All outlive this; `space` has the parser of the request's head and the decoder from begin() to finish().
    request_body(
        const server_settings& settings,
        stream& caller,
        alarm& clock,
        const request_buffer_pool::lent& space,
        answer_writer& answer
    );

    // The next request begins with what was received, and its head is not known yet.
    void expect_head() noexcept;

    // Its head is parsed, and has `head_length` of the bytes received.
    void begin(std::size_t head_length) noexcept;

    // Nothing of the body is left to read.
    bool whole() const noexcept { return whole_; }

    // Whether nothing more of this request is to come, read or dropped, as far as its length says.
    bool has_come() const noexcept;

    // The bytes of the request that have been read.
    std::uint64_t request_bytes() const noexcept
    {
        return released_ + head_length_ + std::max(taken_, request_length_ - head_length_);
    }

    // Bytes received behind the request, if it is whole.
    std::size_t bytes_behind() const noexcept { return caller_.received().size() - request_length_; }

    // These functions are those of caller_exchange: read_body(), body_at_hand(), hold_body(), take_piece(), body_due(), waited_for_body().
    routine<core::result<std::string_view>> read(std::uint64_t limit);
    core::result<std::string_view> at_hand(std::uint64_t limit);
    routine<core::result<bool>> hold(std::uint64_t enough, std::uint64_t limit);
    core::result<request_piece> take_piece(std::uint64_t limit);
    core::steady_time due(core::steady_time until, core::steady_time now) noexcept;
    void waited(core::steady_time since) noexcept;

    // Drops the request, which is whole; request_bytes() stays.
    void release();

    // Drops the request; what came behind it is the next.
    void finish();

    // Gives back the share of the memory.
    void give_room() noexcept { share_.set(0); }

private:
    std::string_view decoded() const noexcept { return caller_.received().substr(head_length_, held_); }
    routine<core::result<>> need(std::size_t bytes);
    routine<core::result<>> read_sized();
    routine<core::result<>> gather_chunks(std::uint64_t enough, std::uint64_t limit);
    core::result<std::string_view> decode_chunk(std::uint64_t decoded_before, std::uint64_t limit);
    void end_at(std::size_t request_length) noexcept;
    void make_room();
    void keep_watching();

    const server_settings& settings_;
    stream& caller_;
    alarm& alarm_;
    const request_buffer_pool::lent& space_;
    answer_writer& answer_;
    budget_share share_;
    std::size_t head_length_ = 0;
    std::size_t request_length_ = 0;  // head and body, as far as it has been read
    std::size_t held_ = 0;            // decoded bytes behind the head, not yet given as a piece
    std::size_t coded_at_ = 0;        // where what is still coded begins, in what was received
    std::uint64_t taken_ = 0;         // of the body, in pieces
    std::uint64_t released_ = 0;      // bytes of the request that release() gave up
    std::uint64_t begun_at_ = 0;      // the request's first byte, in bytes_in() of the caller
    std::uint64_t counted_ = 0;       // bytes that have made up for waiting
    core::steady_time until_{};
    core::steady_time::duration credit_{};
    bool whole_ = false;
};

}  // namespace net
