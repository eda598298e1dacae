// One call passed on to an agent and its answer passed back, bytes untouched, framing made again in both directions,
// events as they come. Back-pressure is the loop itself: the agent is read again when the caller has taken what came.
#pragma once

#include "core/error.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/traffic/event_stream.hpp"
#include "gateway/traffic/forwarding.hpp"
#include "net/http1/chunked.hpp"
#include "net/server/server_connection.hpp"
#include "net/sse/sse_events.hpp"
#include "net/upstream/upstream.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::model {
class control_services;
}

namespace gateway::traffic {

class relay;

// Told when an answer turns out to be a stream of events, so that a shutdown can end it.
class stream_observer {
public:
    virtual ~stream_observer() = default;
    // False: it is one too many, and is not passed on.
    virtual bool stream_began(relay& which) = 0;
    virtual void stream_ended() = 0;  // one that began
};

struct relay_settings {
    core::duration connect{};
    core::duration upstream_idle{};
    core::duration body{};                       // between two pieces of a caller's body that is passed through
    std::uint64_t stream_body = 0;               // limit of such a body
    core::duration keep_alive{};                 // a stream's caller gets a comment after so long a silence; 0: never
    std::uint64_t sse_event = 0;                 // limit of one event of a stream
    stream_observer* observer = nullptr;         // outlives the relay; null: nobody
    std::uint64_t card_answer = 0;               // limit of an answer that holds a card
    model::control_services* control = nullptr;  // edits such answers; outlives the relay; only with relay_call::card
};

struct relay_call {
    std::shared_ptr<const model::agent_entry> agent;
    net::http1::method verb = net::http1::method::post;
    std::string_view head;                       // request line and fixed fields; outlives the relay
    std::string_view body;                       // held by the caller's connection, whole
    bool passed = false;                         // instead of `body`: what the caller sends, piece by piece as it comes
    bool repeatable = false;                     // may be sent again even if it may have been processed
    bool from_proxy = false;                     // the caller is a trusted proxy
    bool streaming = false;                      // may be answered with events: a caller that closes its half has left
    std::optional<model::card_position> card{};  // the answer holds one, which callers may not see as it is
};

struct relay_outcome {
    std::optional<core::error> failure;           // nullopt: the whole answer is out
    bool answered = false;                        // a head went to the caller; with a failure, the answer was cut
    unsigned status = 0;                          // of that head
    std::optional<model::stream_end> stream;      // the answer was an event stream
    std::optional<core::steady_time> first_byte;  // of the agent's answer
    bool reused = false;                          // on a connection that had carried a call before
};

// One exchange; made per call, on the loop of its caller. The observer may keep it in a list for as long as it lives.
class relay : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    // References outlive the relay.
    relay(net::server_connection& caller, net::upstream_pool& pool, relay_settings settings, relay_call call);
    ~relay();

    net::routine<relay_outcome> run();

    // An answer that is a stream of events is cut, once the caller has taken what came of it or takes nothing more.
    void end_stream();
    const model::agent_entry& agent() const noexcept { return *call_.agent; }

private:
    enum class woken { by_event, late, caller_gone, ended };

    bool take_connection();
    net::routine<core::result<>> make_connection();
    bool begin_request();
    net::routine<core::result<>> finish_request();
    net::routine<core::result<>> pass_request_body();
    net::routine<core::result<bool>> write_piece(net::server_connection::request_piece piece, bool chunked);
    core::result<bool> answer_begun();
    net::routine<core::result<>> read_head();
    net::routine<core::result<>> exchange_head();
    net::routine<core::result<>> pass_answer();
    net::routine<core::result<>> pass_body(net::pieces first);
    net::routine<core::result<>> edit_answer();
    net::routine<core::result<>> edit_whole();
    net::routine<core::result<>> edit_events();
    net::routine<core::result<>> pass_events(net::sse_splitter& events, std::string& held);
    net::routine<core::result<>> send_events(std::string text, bool last);
    net::routine<core::result<model::edited_answer>> edit(std::string text);
    net::routine<core::result<std::optional<std::string>>> read_text(core::steady_time until);
    core::result<std::size_t> take_text(std::string& text, std::string_view received);
    net::routine<core::result<>> send_whole(std::string head, std::string body);
    std::string answer_head(body_care body);
    net::routine<woken> wait(core::steady_time until);
    core::error interrupted(woken how, std::string_view where) const;
    core::error upstream_ended() const;
    void write_answer_head();
    bool expect_events();
    bool add_data(net::pieces& out, net::http1::chunk_header& size, std::string_view data);
    void add_comment(net::pieces& out);
    core::result<std::size_t> take_body(net::pieces& out);
    core::result<std::size_t> take_pieces(net::pieces& out, std::string_view received);
    void finish_connection(bool clean);

    net::server_connection& caller_;
    net::upstream_pool& pool_;
    relay_settings settings_;
    relay_call call_;
    relay_outcome outcome_;
    net::upstream_lease lease_;
    net::http1::chunked_decoder decoder_;
    std::array<net::http1::chunk_header, 2> chunk_headers_{net::http1::chunk_header{0}, net::http1::chunk_header{0}};
    net::http1::chunk_header request_chunk_{0};
    std::optional<core::steady_time> caller_left_at_;
    std::optional<event_stream> events_;
    std::optional<core::error> body_broken_;
    std::size_t head_length_ = 0;    // of the answer
    std::uint64_t sent_before_ = 0;  // bytes written on the connection before this call
    std::uint64_t remaining_ = 0;    // of a body with a length
    bool rechunk_ = false;           // the caller gets chunks
    int interim_ = 0;                // answers before the final one
    bool answer_begun_ = false;      // the head of the final answer has come
    bool request_done_ = false;      // all of it is with the agent
    bool body_done_ = false;
    bool end_stream_ = false;
    bool announced_ = false;  // to the observer
};

}  // namespace gateway::traffic
