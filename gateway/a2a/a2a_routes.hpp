// The routes of A2A: calls over JSON-RPC and HTTP+JSON, paths that are relayed unread, cards, and push notifications. Each answers its
// requests, or passes them on to their agents. The requests outlive the routines. One thread.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "a2a/dialect/rest_target.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/a2a/a2a_route.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::a2a {

// POST /agents/<id>: a JSON-RPC call, which is read as far as the gateway has to know it.
class call_route : public a2a_route {
public:
    using a2a_route::a2a_route;

    net::routine<> serve(request_context& request);

private:
    struct read_call {
        ::a2a::method method;
        std::string_view params;  // raw
    };

    net::routine<core::scan_outcome> read_long_call(request_context& request, a2a_call& call, std::string_view body);
    std::optional<net::routine<>> check(
        request_context& request,
        a2a_call& call,
        std::string_view body,
        const core::scan_outcome& scanned,
        std::string_view unknown_agent
    ) const;
    std::optional<net::routine<>>
    prepare(request_context& request, a2a_call& call, std::string_view body, read_call said);
    void add_edits(request_context& request, a2a_call& call, ::a2a::method method) const;
    net::routine<> translate_call(request_context& request, a2a_call& call, bridged asked);
    net::routine<>
    prepare_with_steps(request_context& request, a2a_call& call, std::string_view body, core::jsonrpc_call said);
};

// Any method on /agents/<id>/rest/…: A2A over HTTP+JSON, of 0.3 below `v1/`. A request whose dialect the agent speaks passes as
// it is, below the agent's own address; any other is translated.
class rest_route : public a2a_route {
public:
    using a2a_route::a2a_route;

    // Once it is known where the request goes: from here on a caller that asks at an address of HTTP+JSON is told of failures in
    // its format, whether or not there is such an agent.
    void note_format(request_context& request) const;

    // Whether the request, which is for a path below an agent, is one: the agent is known and speaks A2A, its `relay_paths` do
    // not let the path through as it is, and no other route has it.
    bool takes(request_context& request) const;

    // After takes().
    net::routine<> serve(request_context& request);

private:
    // Where a request goes, as text of our own: the head may move when the body is read.
    struct wanted {
        std::string path;   // below the address of an interface
        std::string query;  // with its '?', or empty
        ::a2a::rest_target target;
    };

    core::result<wanted> read_target(request_context& request) const;
    net::routine<> respond_unread(request_context& request, core::error failure, std::string_view path);
    bool answers_card(
        request_context& request,
        a2a_call& call,
        const wanted& asked,
        std::optional<net::routine<>>& answer
    ) const;
    net::routine<bool>
    refuse_body(request_context& request, a2a_call& call, const wanted& asked, std::string_view body);
    net::routine<> pass_on(request_context& request, a2a_call& call, wanted asked);
    void pass_as_it_is(
        request_context& request,
        a2a_call& call,
        const wanted& asked,
        const model::agent_interface& to,
        std::string_view body
    ) const;
};

// Requests that are relayed without being read: any method and path that the agent's `relay_paths` let through.
class opaque_route : public a2a_route {
public:
    using a2a_route::a2a_route;

    net::routine<> serve(request_context& request);
};

// GET of an agent's extended card: a relay whose answer is a card.
class extended_card_route : public a2a_route {
public:
    using a2a_route::a2a_route;

    net::routine<> serve(request_context& request);

private:
    net::routine<> prepare(request_context& request, a2a_call& call);
    net::routine<> ask_in_translation(
        request_context& request,
        a2a_call& call,
        ::a2a::dialect caller,
        const model::agent_interface* through
    );
};

// GET of an agent's card: from memory while it may be served, else from the control loop.
class card_route : public request::route_base {
public:
    using route_base::route_base;

    net::routine<> serve(request_context& request);

private:
    using card_pointer = std::shared_ptr<const model::card_bytes>;

    // The result of control_services::move() for `of`, for as long as that keeps it.
    struct kept_card {
        std::weak_ptr<const model::card_bytes> of;
        std::weak_ptr<const model::card_bytes> moved;
    };

    static constexpr std::size_t most_kept = 10'000;  // over that all are forgotten: each costs one question

    net::routine<core::result<card_pointer>> at_origin(request_context& request, card_pointer bytes);
    net::routine<> send(request_context& request, const model::card_answer& found, const model::card_bytes& all);

    model::string_map<kept_card> kept_;  // by the name of the agent
};

// POST /agents/<id>/push/<sealed>: the push notifications of agents whose callers the gateway notifies itself.
class push_route : public request::route_base {
public:
    using route_base::route_base;

    // A request at an address that was not made here goes to any other path below its agent.
    void recognise(request_context& request) const;

    // 202 once the notification is in the store.
    net::routine<> serve(request_context& request);

private:
    std::optional<model::push_receiver> receiver_of(const request_context& request) const;
    bool meets_containment(request_context& request) const;
    net::routine<::a2a::translation<::a2a::push_notification>> read(request_context& request, std::string_view body);
};

}  // namespace gateway::a2a
