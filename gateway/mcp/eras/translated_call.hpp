// One call of a client of the modern era on a session of its own with a server of the legacy era: what the server says goes on to
// whoever reads the call now. What it asks is put to the client in an answer (`input_required`), and the call is parked until
// the client comes back. On the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/translation/input_questions.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::mcp::eras {

class translated_call;

class call_owner {
public:
    virtual ~call_owner() = default;
    virtual net::executor executor() = 0;

    // An answer to a question of the call's server. Fails with overloaded and body_too_large: the server does not get it.
    virtual core::result<> tell(const translated_call& call, const std::string& answer) = 0;

    // The call waits for its client from now on, which comes back with what is returned. Nothing: too many calls do.
    virtual std::optional<std::string> park(translated_call& call) = 0;

    // Called once; the call is destroyed within.
    virtual void over(translated_call& call) = 0;
};

// The request that a call is read with: the first one, or the one that the client came back with. Raw.
struct call_request {
    std::string_view id;
    std::string_view progress_token;  // empty: none
};

// What does not change from one request of a call to the next.
struct call_terms {
    std::string agent;
    std::string principal;
    std::string digest;  // that the state of a parked call is bound to
    ::mcp::client_method method = ::mcp::client_method::other;
    bool logs = false;  // the client wants the server's log messages
    ::mcp::client_capabilities declared;
};

class translated_call {
public:
    // Of what a server asks, what comes within this time goes to the client together.
    static constexpr std::chrono::milliseconds gathers{20};

    translated_call(call_owner& owner, programs::begun_session session, call_terms terms)
        : owner_{owner},
          session_{std::move(session)},
          terms_{std::move(terms)}
    {
    }

    // What comes of it, for its first request or, of a parked call, for the next; letting go of it ends the call. The call may
    // be over when this returns.
    std::shared_ptr<table::text_queue> open(const call_request& request);

    // The same with what the client was asked for: raw `inputResponses`. If the server cannot be given that, the call is over, and
    // what comes fails as call_owner::tell().
    std::shared_ptr<table::text_queue> go_on(const call_request& request, std::string_view responses);

    const call_terms& terms() const noexcept { return terms_; }
    const std::string& handle() const noexcept { return session_.handle; }

private:
    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    void look();
    void came(table::text_queue& reader, std::string text);
    void ask(const ::mcp::message& question);
    void refuse(const std::string& answer);
    void gather();
    void ask_client();
    void finish(table::text_queue& reader, std::string answer);

    call_owner& owner_;
    programs::begun_session session_;
    call_terms terms_;
    std::string id_;                           // of the request that it is read with
    std::string token_;                        // the same
    bool again_ = false;                       // that is not the first one
    std::weak_ptr<table::text_queue> reader_;  // none: it is parked
    ::mcp::input_questions questions_;
    std::optional<timer> gathering_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::eras
