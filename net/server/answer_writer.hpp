// How a caller gets its answers: pieces of one, each within the write timeout, and the end of one that is cut. Belongs to a
// server_connection; one loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/chunked.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/stream.hpp"
#include "net/server/alarm.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstdint>
#include <optional>

namespace net {

class answer_writer {
public:
    // Both outlive this. While a piece waits for the caller, the deadline of `clock` is its own.
    answer_writer(stream& caller, alarm& clock, core::duration write_timeout)
        : caller_{caller},
          alarm_{clock},
          write_timeout_{write_timeout}
    {
    }

    // For the answer to the next request.
    void begin() noexcept;
    bool answered() const noexcept { return answered_; }
    std::uint64_t bytes() const noexcept { return caller_.bytes_out() - bytes_out_before_; }

    // Whether the body of this answer goes out in chunks.
    void frame(bool chunked) noexcept { chunked_ = chunked; }

    // Does what caller_exchange::try_send() promises. Fails with caller_gone, or with draining after abort().
    std::optional<core::result<>> try_send(const answer_part& part);
    routine<core::result<>> finish_send();

    // Writes an interim answer, before the first piece.
    routine<core::result<>> send_interim(pieces content);

    // From here on a piece that the caller does not take waits for a second at most.
    void hurry();

    // The answer's body ends with the connection: only a reset shows that it was cut.
    void end_with_connection() noexcept { unframed_ = true; }

    void cut() noexcept { cut_ = true; }
    bool is_cut() const noexcept { return cut_; }
    bool needs_reset() const noexcept { return cut_ && (unframed_ || caller_.write_error()); }

    // Cuts the answer and closes the connection.
    void abort();
    bool aborted() const noexcept { return aborted_; }

    // Says that nothing more is sent, unless the answer was cut: that is not said over TLS (RFC 8446 section 6.1).
    void end_sending() noexcept;

private:
    core::result<> sent();
    core::duration patience() const noexcept;
    void close_cut();

    stream& caller_;
    alarm& alarm_;
    core::duration write_timeout_;
    http1::chunk_header chunk_{0};  // of the part under way
    std::uint64_t bytes_out_before_ = 0;
    bool chunked_ = false;
    bool answered_ = false;
    bool cut_ = false;
    bool unframed_ = false;
    bool hurried_ = false;
    bool aborted_ = false;
};

}  // namespace net
