// Streams of events that clients of the legacy era can resume (MCP 2025-11-25, basic/transports, "Resumability and
// Redelivery"): what went out on them is kept for a while, and what comes while nobody reads them is kept too. On the thread of
// one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/program_port.hpp"
#include "mcp/calls/event_log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::mcp::table {

// The reader of a stream for its client.
class stream_reader {
public:
    virtual ~stream_reader() = default;

    // Another one reads it from now on. What this one read it from.
    virtual std::shared_ptr<text_queue> give_up() = 0;
};

// The session, agent and principal of a stream.
struct stream_terms {
    std::string session;  // its handle
    std::string agent;    // its id
    std::string call_id;  // raw; empty: what is said unasked, of which a session has one stream
};

class resumable_streams {
public:
    // For so long what the server asks on a stream that nobody reads waits for the client: SDKs come back after 5 s (`retry`), and once
    // more after 5 s. Then it is refused, and the server's next questions go elsewhere until the client is back.
    static constexpr core::duration patience = std::chrono::seconds{15};

    resumable_streams(std::function<core::steady_time()> clock, const ::mcp::replay_limits& limits);
    resumable_streams(const resumable_streams&) = delete;
    resumable_streams& operator=(const resumable_streams&) = delete;

    // False: nothing is, and the functions below are not called.
    bool keeps() const noexcept { return keeps_; }

    // A stream for this reader, instead of the one before.
    std::uint64_t open(stream_terms terms, std::weak_ptr<stream_reader> reader);

    // The place of the stream's last event; empty: it is not known any more.
    std::string place(std::uint64_t stream) const;

    // Prepares what goes out next: makes events of the batch's texts, and of its failure. A batch that is over ends the stream, but not that of
    // what is said unasked.
    void keep(std::uint64_t stream, model::program_batch& batch);

    // The reader has gone: what comes is kept without one. Not of what is said unasked, whose queue is let go.
    void park(std::uint64_t stream, std::shared_ptr<text_queue> queue);

    struct resumed {
        std::uint64_t stream = 0;
        model::program_batch batch;         // what the client has missed; over: nothing follows
        std::shared_ptr<text_queue> queue;  // of what follows; null: it is over, or `unasked`
        bool unasked = false;
    };

    // The events that followed the event, for another reader, which is set_reader() then. Fails with events_gone: the event is not of a
    // stream of this session, or some of what followed is kept no longer. A client that has been told so of what is said unasked, and
    // asks once more, gets what comes now: no other request would bring it back.
    core::result<resumed> resume(const ::mcp::event_position& last, const std::string& session);
    void set_reader(std::uint64_t stream, std::weak_ptr<stream_reader> reader);

    // The session has ended.
    void forget(const std::string& session);

    // Drops what is late or old. Called every second.
    void sweep(core::steady_time now);

    std::size_t bytes() const noexcept { return store_.bytes(); }

private:
    struct open_stream {
        stream_terms terms;
        std::weak_ptr<stream_reader> reader;
        std::shared_ptr<text_queue> parked;      // null: somebody reads it
        core::steady_time since;                 // parked
        std::optional<std::uint64_t> told_gone;  // behind which event; of what is said unasked
    };

    void drain(std::uint64_t stream);
    static std::shared_ptr<text_queue> take_from_reader(open_stream& stream);

    std::function<core::steady_time()> clock_;
    bool keeps_;
    ::mcp::event_log store_;
    std::unordered_map<std::uint64_t, open_stream> open_;
    std::unordered_map<std::string, std::uint64_t> unasked_;  // by session
};

// All that waits there.
model::program_batch take_batch(text_queue& queue);

}  // namespace gateway::mcp::table
