// One request on its way through the phases of traffic_handler::handle(): what every route needs of it. The state of one route lives
// in that route's coroutine.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "core/error.hpp"
#include "core/rare_text.hpp"
#include "gateway/access/chain_limits.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/relay/inflight_slot.hpp"
#include "gateway/relay/request_trace.hpp"
#include "gateway/request/route.hpp"
#include "net/server/caller_exchange.hpp"

#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace core {
struct principal;
}

namespace gateway::access {
class access_plan;
}

namespace gateway::model {
struct agent_entry;
struct inner_caller;
}  // namespace gateway::model

namespace gateway::relay {
class open_stream;
}

namespace gateway::grpc {
class caller_messages;
}

namespace gateway::request {

// How errors are written: for callers of A2A over JSON-RPC or HTTP+JSON, or of MCP. A caller with a session of MCP gives it up at a 5xx,
// so that a failure of its server is 200 with the JSON-RPC error. So is any failure of a member of a bundle, whose session would end with
// that of the bundle.
enum class error_format : std::uint8_t { a2a, rest, mcp, mcp_session, mcp_bundle };

// Terms of the error answers to this request.
struct error_terms {
    error_format format = error_format::a2a;
    ::a2a::generation rest_version = ::a2a::generation::v03;      // with error_format::rest
    ::a2a::error_profile profile = ::a2a::error_profile::v1_0_1;  // with the same
    bool uses_a2x_errors = false;  // a caller that needs a credential is told so as A2X says it
    bool shed = false;             // the request is refused for load alone, so that it may succeed soon
    std::string call_id{};         // the raw JSON-RPC id, which outlives the body; empty: none
};

// The agent at whose own name a request came.
struct agent_origin {
    std::shared_ptr<const model::agent_entry> agent;  // null: there is none
    std::string_view id;                              // of the agent; empty: there is none
    std::string_view host;  // the name; without an agent a view of the request head, for as long as that holds
    std::shared_ptr<const model::agent_entry> disabled{};  // without an agent: the one that is disabled; null: none is
};

using caller_identity = std::shared_ptr<const core::principal>;  // null: an anonymous caller

// The sender of the request, as far as the network and the access rules tell.
struct request_sender {
    std::shared_ptr<const model::inner_caller> inner{};      // the request comes from within; null: it does not
    bool from_proxy = false;                                 // the peer is a trusted proxy
    bool from_forbidden_page = false;                        // a web page sent it that may not
    std::shared_ptr<const access::access_plan> access{};     // null: callers need no credential
    core::result<caller_identity> owner{caller_identity{}};  // whose request it is; with `access`
};

// Texts that the record of a request points to.
struct record_texts {
    core::rare_text client{};
    core::rare_text detail{};
    core::rare_text session{};
    core::rare_text tool{};
    core::rare_text rule{};
    core::rare_text denied_method{};  // for which the caller lacks a right; not set: for any
    core::rare_text bundle{};
    core::rare_text replica{};
    std::string named_agent{};  // that a call by gRPC names
};

// A containment that the request has met: it has no other answer any more.
struct met_containment {
    model::containments_pointer in{};                   // null: none
    const model::containment_terms* terms = nullptr;    // within that
    core::errc code = core::errc::principal_contained;  // or agent_contained

    explicit operator bool() const noexcept { return in != nullptr; }
};

// Lives in handle(), which outlives every routine that gets a reference to it. One thread.
struct request_context {
    net::caller_exchange& caller;
    const route* way = nullptr;            // null: it cannot be read
    destination to{};                      // void once the body has been read: its views lie in the request head
    std::optional<agent_origin> origin{};  // nullopt: it came to the gateway's own name
    request_sender sender{};
    cached_lookup lookup{};                                // of the agent that `to` or `agent` names
    bool agent_visible = true;                             // the caller may know of the agent
    bool may_call = true;                                  // the caller may call the agent, perhaps not every method
    std::shared_ptr<const model::agent_entry> agent{};     // null: none is known
    std::shared_ptr<const model::agent_entry> hidden{};    // that the caller may not know of; null: there is none
    std::shared_ptr<const model::agent_entry> disabled{};  // that the request names, for the log; null: it is not
    relay::inflight_slot slot{};                           // among the calls of `agent`
    access::chain_places chains{};                         // that it counts in
    relay::request_trace trace{};                          // that the gateway joins
    error_terms errors{};
    std::shared_ptr<grpc::caller_messages> grpc{};  // what its answers become; null: it is no call by gRPC
    met_containment contained{};
    relay::open_stream* passing = nullptr;  // the exchange with its agent; null: none is under way
    // Among the requests that a containment may end (calls_under_way.hpp).
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> listed{};
    model::request_record record{};
    record_texts texts{};

    // Null: an anonymous caller.
    const core::principal* principal() const noexcept { return sender.owner ? sender.owner->get() : nullptr; }

    // Shares the principal with work that outlives the request.
    caller_identity shared_principal() const { return sender.owner ? *sender.owner : nullptr; }

    // The address of the caller, behind the proxies that are trusted.
    std::string_view address() const noexcept
    {
        return texts.client.has_value() ? std::string_view{texts.client} : caller.peer();
    }

    // Whether everybody may know of the agent, which is set.
    bool open_to_anyone() const;

    void set_agent(std::shared_ptr<const model::agent_entry> entry);
};

}  // namespace gateway::request
