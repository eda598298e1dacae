// Clients of the modern era and servers that speak the legacy one only (MCP 2026-07-28, basic/versioning): each call has a
// session of its own, which declares what the call's client did and ends with the call. What the gateway's own session with the
// server knows is answered without one. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/translation/input_questions.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::mcp::eras {

// Clients of the modern era that listen to changes of lists.
class list_listeners {
public:
    explicit list_listeners(net::executor on)
        : on_{on}
    {
    }

    // The messages that answer a `subscriptions/listen` with this raw id: first what will be told. `wishes`: raw `notifications` of its
    // params. `known`: what the server lists now; null: the gateway does not hear of changes, and tells none.
    std::shared_ptr<table::text_queue> listen(
        const std::string& agent_id,
        std::string_view raw_id,
        std::string_view wishes,
        std::shared_ptr<const ::mcp::server_lists> known
    );

    // The lists of the agent's server have changed to this.
    void changed(const std::string& agent_id, const std::shared_ptr<const ::mcp::server_lists>& lists);

    // The agent is gone: its clients' subscriptions end in order.
    void end(const std::string& agent_id);

private:
    struct listener {
        std::string agent_id;
        std::string raw_id;
        ::mcp::list_set wanted;
        std::shared_ptr<const ::mcp::server_lists> known;
        std::weak_ptr<table::text_queue> reader;
    };

    net::executor on_;
    std::list<listener> all_;
};

class modern_client_calls;

// The request that a call is read with: the first one, or the one that the client came back with. Raw.
struct call_request {
    std::string_view id;
    std::string_view progress_token;  // empty: none
};

// The terms that stay from one request of a call to the next.
struct call_terms {
    std::string agent;
    std::string principal;
    std::string digest;  // that the state of a parked call is bound to
    ::mcp::client_method method = ::mcp::client_method::other;
    bool logs = false;  // the client wants the server's log messages
    ::mcp::client_capabilities declared;
};

// One call of a client of the modern era on a session of its own with a server of the legacy era. The server's questions go to the client
// in an answer (`input_required`), and the call is parked until the client comes back.
class modern_client_call {
public:
    // Questions of a server within this time go to the client together.
    static constexpr std::chrono::milliseconds gathers{20};

    modern_client_call(modern_client_calls& owner, programs::begun_session session, call_terms terms)
        : owner_{owner},
          session_{std::move(session)},
          terms_{std::move(terms)}
    {
    }

    // The messages of the call, for its first request or, of a parked call, for the next; letting go of them ends the call. The call may
    // be over when this returns.
    std::shared_ptr<table::text_queue> open(const call_request& request);

    // Works as open(), with the client's answers: raw `inputResponses`. If the server cannot be given that, the call is over, and
    // what comes fails as modern_client_calls::tell().
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

    modern_client_calls& owner_;
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

class modern_client_calls {
public:
    static constexpr std::size_t most_parked_of_agent = 100;
    static constexpr std::size_t most_parked = 1000;

    // References outlive it.
    modern_client_calls(const table::local_session_services& services, programs::program_sessions& sessions);

    // The messages that answer a request (model::program_act::modern); its answers still have to be made modern (modern_answer()). Fails as
    // program_sessions::call() and answer_here() do.
    core::result<std::shared_ptr<table::text_queue>>
    request(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked);

    // The answer to such a call, if the gateway has it without another session with the server. Null: the server has to be asked.
    // `server/discover` is an unknown method (`sessionless: fall_back`). Fails with session_required (`sessionless: refuse`),
    // input_expired (the client comes back to a call that does not wait for it) and invalid_params (a cursor that no page had).
    core::result<std::shared_ptr<table::text_queue>>
    answer_here(const model::agent_entry& agent, const model::program_request& asked);

    // The server's lists have changed to this; the agent is gone.
    void lists_changed(const std::string& agent_id, const std::shared_ptr<const ::mcp::server_lists>& lists);
    void forget(const std::string& agent_id) { listeners_.end(agent_id); }

    // For its calls. An answer to a question of the call's server. Fails with overloaded and body_too_large: the server does not get it.
    core::result<> tell(const modern_client_call& call, const std::string& answer);

    // The call waits for its client from now on, which comes back with what is returned. Nothing: too many calls do.
    std::optional<std::string> park(modern_client_call& call);

    // Called once; the call is destroyed within.
    void over(modern_client_call& call);
    net::executor executor() { return services_.loop.get_executor(); }

    // Calls end whose clients have not come back in time. Called every second.
    void sweep(core::steady_time now);

    std::size_t parked() const noexcept { return parked_.size(); }

private:
    struct parked_call {
        modern_client_call* call;
        core::steady_time since;
        core::place_share of_agent{};
        core::place_share of_all{};
    };

    core::result<std::shared_ptr<table::text_queue>>
    begin(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked);
    core::result<std::shared_ptr<table::text_queue>> go_on(const model::program_request& asked);

    const table::local_session_services& services_;
    programs::program_sessions& sessions_;
    std::map<const modern_client_call*, std::unique_ptr<modern_client_call>> calls_;
    std::map<::mcp::local_handle, parked_call> parked_;
    list_listeners listeners_;
};

}  // namespace gateway::mcp::eras
