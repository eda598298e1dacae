// What workers ask of the sessions of callers with MCP servers that are programs, or that speak HTTP+SSE of 2024-11-05. The
// sessions live on the control loop; what comes of a request is read in batches, so that a caller that reads slowly bounds
// what waits for it.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_message.hpp"
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
// an answer. `modern`: a request of the modern era, which letting go of it cancels. `listen`: to what the server says unasked. `end`: of the session.
enum class program_act : std::uint8_t { begin, call, request, tell, modern, listen, end };

struct program_request {
    program_act act = program_act::request;
    std::string agent;                         // its id
    std::string principal;                     // whose session it is; empty: nobody in particular
    std::string handle;                        // of the session; empty: of begin and call
    std::optional<mcp::kept_message> message;  // of begin, call, request, tell and modern
    std::string_view version;                  // of call: one of versions(era::legacy), static
    std::vector<std::pair<std::string, std::string>> fields{
    };  // of its header, that a server over HTTP gets; never logged
    std::optional<mcp::incoming>
        read;            // of begin, call, request, tell and modern: where the parts of `message` stand in its text
    std::string digest;  // of modern: digest_of_call(), if the server may ask during it; else empty
};

struct program_batch {
    std::vector<std::string> texts;      // messages of the server, in order
    std::optional<core::error> failure;  // behind them, with `over`
    bool over = false;                   // nothing follows: what was asked for is done, or there is a failure
    bool translated = false;  // of modern: the answer is what a server of the legacy era said, see modern_answer()
    std::string handle;       // of a session that begins, in its first batch
};

// One request, for whoever reads what comes of it; on the loop of that one. Destroying it lets go of the request, which cancels
// nothing, but a session that is still beginning ends, and so does one whose last batch of begin has not reached the caller.
class program_reader {
public:
    virtual ~program_reader() = default;

    // The batch that has come. Nothing: none has. The next one comes only after next(), and none after one that is over. That of
    // a listener comes at once, and is empty.
    virtual std::optional<program_batch> take() = 0;

    // The batch has reached the caller. After one that is over only that of begin has to be told of.
    virtual void next() = 0;
};

class program_port {
public:
    virtual ~program_port() = default;

    // From any loop, which is `here`; `wake` is set there when a batch has come, and outlives the reader. Batches fail as the functions of
    // mcp_path::program_sessions do, and with session_not_found and agent_not_found; those of `modern` as
    // mcp_path::translated_calls do.
    virtual std::unique_ptr<program_reader> open(program_request asked, net::executor here, net::signal& wake) = 0;

    // Whether clients of the legacy era have sessions here with this server, which speaks streamable HTTP, because it speaks only the
    // modern one. Runs on the control loop.
    virtual net::task<bool> translates(std::string agent_id) = 0;
};

}  // namespace gateway::model
