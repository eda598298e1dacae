// Requests of workers to callers' sessions with MCP servers that are programs, or that speak HTTP+SSE of 2024-11-05. The
// sessions live on the control loop; the answer to a request is read in batches, so that a caller that reads slowly bounds
// what waits for it.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/event_log.hpp"
#include "mcp/calls/incoming.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::model {

// `begin`: the client's `initialize`. `call`: a request without a session, which gets one of its own. `tell`: a notification or
// an answer. `modern`: a request of the modern era, which letting go of it cancels. `listen`: to what the server says unasked.
// `resume`: the rest of a stream of the session. `end`: of the session.
enum class program_act : std::uint8_t { begin, call, request, tell, modern, listen, resume, end };

// Whether a client may come back for what it has missed of the stream that comes of its request (MCP 2025-11-25, basic/transports,
// "Resumability and Redelivery"): `never`; `after_event`: once it has got one; `at_once`: an event without data begins the stream.
enum class resumption : std::uint8_t { never, after_event, at_once };

struct bundle_session;  // gateway/model/published_bundle.hpp

struct program_request {
    program_act act = program_act::request;
    std::string agent;            // its id
    std::string principal;        // whose session it is; empty: nobody in particular
    std::string handle;           // of the session; empty: of begin and call
    ::mcp::kept_message message;  // of begin, call, request, tell and modern; of others: none
    std::string_view version;     // of call: one of versions(era::legacy), static
    std::vector<std::pair<std::string, std::string>> fields{
    };  // of its header, that a server over HTTP gets; of modern those that repeat arguments; never logged
    std::shared_ptr<const void> held{};  // by a field that names it, until what was asked is over
    ::mcp::incoming read;  // where the parts of `message` stand in its text; `whole` is empty: it was not read
    std::string digest;    // of modern: digest_of_call(), if the server may ask during it; else empty
    resumption resumes = resumption::never;  // of request and listen
    bool answers_only =
        false;  // the caller gets no stream: one batch comes, of answers alone, and the server's questions are refused
    std::shared_ptr<const bundle_session> in_bundle{};  // of listen and modern at a bundle; null: at an agent
    std::optional<::mcp::event_position> last;          // of resume: the event behind which it goes on
};

// A message that is kept for a client that comes back.
struct program_event {
    std::string id;                           // that the client names it by; empty: it was not kept
    std::shared_ptr<const std::string> text;  // not null
};

struct program_batch {
    std::vector<std::string> texts;      // messages of the server, in order
    std::vector<program_event> events;   // instead of them, of a stream that can be resumed
    std::string place;                   // with the first of them: the id of what the client has; empty: there is none
    std::optional<core::error> failure;  // behind them, with `over`
    bool told = false;                   // the failure is the last event too
    bool over = false;                   // nothing follows: what was asked for is done, or there is a failure
    bool translated =
        false;  // the server speaks another era than the caller; of modern: its answer is one for modern_answer()
    std::string handle;  // of a session that begins, in its first batch
};

// One request, for whoever reads what comes of it; on the loop of that one. Destroying it lets go of the request, which cancels
// nothing, but a session that is still beginning ends, and so does one whose last batch of begin has not reached the caller. What
// comes of a stream that can be resumed is kept then.
class program_reader {
public:
    virtual ~program_reader() = default;

    // The batch that has come. Nothing: none has. The next one comes only after next(), and none after one that is over. That of
    // a listener comes at once, and is empty.
    virtual std::optional<program_batch> take() = 0;

    // The batch has reached the caller. After one that is over only that of begin has to be told of.
    virtual void next() = 0;

    // For a request that resumes at_once and has no batch yet: messages go out as a stream. A batch comes at once, with the
    // place where it begins, unless another one is on its way.
    virtual void stream() = 0;

    // The gateway ends: a stream of what the server says unasked, and a subscription of the modern era, has one more batch with what
    // waits there, which fails with draining. Nothing changes for a call.
    virtual void end_listening() = 0;
};

class program_port {
public:
    virtual ~program_port() = default;

    // From any loop, which is `here`; `wake` is set there when a batch has come, and outlives the reader. Batches fail as the functions of
    // mcp::programs::program_sessions do, and with session_not_found and agent_not_found; those of `modern` as
    // mcp::eras::modern_client_calls do, and those of `resume` as mcp::table::resumable_streams does. One of `resume` that is over, empty and
    // no failure says that the client has got everything.
    virtual std::unique_ptr<program_reader> open(program_request asked, net::executor here, net::signal& wake) = 0;

    // Returns when it is known which era the agent's server speaks, or that nobody can find out. Fails as
    // sessions::session_plane::find_era() does. Runs on the control loop.
    virtual net::task<core::result<>> find_era(std::string agent_id) = 0;

    // Whether clients of the legacy era have sessions here with this server, which speaks streamable HTTP, because it speaks only the
    // modern one. Runs on the control loop.
    virtual net::task<bool> translates(std::string agent_id) = 0;
};

}  // namespace gateway::model
