// POST /<service>/<method> over HTTP/2: calls by gRPC. Those of A2A go to the agent that they name, as they came if it speaks their service,
// else translated; further services of the agent's pass unread, and grpc.health.v1.Health is answered. The requests outlive the routines.
// One thread.
#pragma once

#include "a2a/protobuf/fields.hpp"
#include "a2a/protobuf/methods.hpp"
#include "gateway/a2a/a2a_route.hpp"
#include "gateway/grpc/agent_choice.hpp"
#include "gateway/grpc/caller_messages.hpp"
#include "gateway/grpc/request_messages.hpp"
#include "gateway/grpc/request_shape.hpp"
#include "gateway/request/access_guard.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::a2a {

// A request of which more is to come than is held: what passes, or is gathered, is looked at.
struct coming_request {
    coming_request(std::uint64_t limit, bool one)
        : messages{limit, one}
    {
    }

    grpc::request_messages messages;
    std::string kept;                                   // of it, until the agent has it
    std::optional<::a2a::protobuf::request_scan> scan;  // of the message of A2A's
};

// Ends a call whose caller takes nothing of its answer when its time is up: all other waits know that time.
class deadline_watch final : public net::timed {
public:
    // The caller outlives the watch.
    deadline_watch(net::caller_exchange& caller, core::steady_time due)
        : caller_{caller}
    {
        caller.owner().timers().add(*this);
        set_due(due);
    }

    bool ended() const noexcept { return ended_; }
    void on_due() override;

private:
    net::caller_exchange& caller_;
    bool ended_ = false;
};

// What nobody needs any more once the call is on its way. Views of the head and of the body hold until then.
struct grpc_reading {
    struct name {
        ::a2a::protobuf::request_scan::told kind;
        std::string_view value;
    };

    std::string_view path;         // `/<service>/<method>`, of the head
    std::string_view in_metadata;  // of the head: the agent that cardea-agent names
    std::string_view framed;       // the request's message with its prefix, as far as it is held
    std::string_view message;      // without
    bool compressed = false;       // the message is
    std::optional<::a2a::protobuf::request_scan>
        scan;                 // of A2A's message, once choose() has read its beginning; nullopt: it is compressed
    std::vector<name> names;  // in that beginning
    ::a2a::protobuf::field_place tenant;  // in `message`
    grpc::agent_choice chosen;

    std::string_view service() const noexcept { return path.substr(1, path.rfind('/') - 1); }
};

// Lives in the coroutine of the route.
struct grpc_call : a2a_call {
    explicit grpc_call(const request_context& request)
        : a2a_call{request},
          kept_share{request.caller.bodies()}
    {
    }

    // The agent has got what was held of a request that passes.
    void drop_beginning();

    grpc_reading* reading = nullptr;         // null: the call is on its way
    bool whole = true;                       // all of the request is held
    bool asks_for_push = false;              // it has a configuration of push notifications with a URL
    net::budget_share kept_share;            // for `json` and what is kept of `coming`
    std::unique_ptr<deadline_watch> watch;   // with relayed.times.asked
    std::unique_ptr<coming_request> coming;  // null: the request came whole
    std::string json;                        // the message, once somebody has to read it
};

class grpc_route : public a2a_route {
public:
    // References outlive the route.
    grpc_route(
        model::control_services& control,
        const config::settings& settings,
        const request::local_snapshot& known,
        request::agent_relay& relays,
        const request::access_guard& guard
    )
        : a2a_route{control, settings, known, relays},
          guard_{guard}
    {
    }

    // Before its destination is known: whether the request is a call by gRPC, or looks so much like one that it is refused. Sets its
    // destination then, and, for a call, what its answers become.
    bool recognise(request_context& request) const;

    net::routine<> serve(request_context& request);

    // A request up to this size is held until it is whole; the beginning of a longer one, as much as its stream's first window lets come,
    // says where it goes.
    static constexpr std::uint64_t held_request = 64 * 1024;
    static constexpr std::uint64_t held_beginning = held_request - 1;

private:
    static constexpr std::uint64_t whole_request = std::numeric_limits<std::uint64_t>::max();

    // Those that are no part of another one's frame end before the wait for the agent, or few calls need them.
    [[gnu::noinline]] net::routine<bool> prepare(request_context& request, grpc_call& call);
    std::optional<core::error> read_head(const request_context& request, grpc_call& call) const;
    std::optional<core::result<>> take_message(const request_context& request, grpc_call& call) const;
    static core::steady_time end_of_time(const net::caller_exchange& caller, const grpc_call& call);
    [[gnu::noinline]] net::routine<core::result<>>
    gather_message(request_context& request, grpc_call& call, std::uint64_t enough);
    core::result<> choose(request_context& request, grpc_call& call) const;
    static core::result<> scan_beginning(const ::a2a::protobuf::message_type& type, const grpc_call& call);
    std::optional<net::routine<>> admit(request_context& request) const;
    [[gnu::noinline]] net::routine<bool> prepare_call(request_context& request, grpc_call& call);
    [[gnu::noinline]] net::routine<bool> prepare_service(request_context& request, grpc_call& call);
    [[gnu::noinline]] net::routine<> serve_health(request_context& request, grpc_call& call);
    std::optional<net::routine<>> extended_card_answer(request_context& request, grpc_call& call) const;
    [[gnu::noinline]] net::routine<bool> refuse_content(request_context& request, grpc_call& call);
    [[gnu::noinline]] net::routine<core::result<>>
    gather_rest(request_context& request, grpc_call& call, const task_guard& guard);
    static bool note_names(request_context& request, grpc_call& call, const task_guard& guard);
    static core::result<> scan_rest(request_context& request, grpc_call& call, const task_guard& guard);
    [[gnu::noinline]] net::routine<bool> read_json(request_context& request, grpc_call& call);
    [[gnu::noinline]] net::routine<::a2a::translation<>> make_json(request_context& request, grpc_call& call);
    static bool sends(const ::a2a::protobuf::service_method& method) noexcept
    {
        return method.what == ::a2a::operation::send || method.what == ::a2a::operation::stream;
    }
    static bool is_edited(const request_context& request, const grpc_call& call);
    static void pass_service(const request_context& request, grpc_call& call);
    void pass_as_it_is(request_context& request, grpc_call& call, const model::agent_interface& to) const;
    [[gnu::noinline]] net::routine<>
    translate_call(request_context& request, grpc_call& call, const model::agent_interface* to);
    static net::routine<> send_health(request_context& request, std::optional<bool> serving);

    const request::access_guard& guard_;
    const grpc::poster elsewhere_{[this](auto work) { control_.long_bodies.post(std::move(work)); }};
};

}  // namespace gateway::a2a
