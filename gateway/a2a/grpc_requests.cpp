// The request of a call by gRPC. One that is small is held until it is whole. Of a longer one the beginning says which agent it is for; then
// its rest passes as it comes, or is gathered where somebody has to know all of it.
#include "gateway/a2a/grpc_route.hpp"
#include "gateway/relay/call_wait.hpp"
#include "net/grpc/messages.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace gateway::a2a {
namespace {

using ::a2a::protobuf::request_scan;
using core::errc;
using grpc::converted_at_once;

// The part of a message that says where it goes.
constexpr std::size_t beginning = grpc_route::held_beginning - net::grpc::prefix_size;

const ::a2a::refusal cut_off{::a2a::rpc_code::parse_error, {}, "is cut off"};

core::error told(const ::a2a::refusal& why)
{
    const bool broken = why.code == ::a2a::rpc_code::parse_error;
    return core::caller_error(
        broken ? errc::parse_error : errc::invalid_params,
        why.member + ' ' + std::string{why.why}
    );
}

// Notes what the message names. False: it is refused for that.
bool note_name(
    request_context& request,
    grpc_call& call,
    const task_guard& guard,
    request_scan::told kind,
    std::string_view value
)
{
    if (kind == request_scan::told::push_url) {
        call.asks_for_push = call.asks_for_push || !value.empty();
        return true;
    }
    if (value.empty()) {
        return true;  // absent
    }
    const bool context = kind == request_scan::told::context;
    if (context) {
        note_conversation_at(request, value);
    }
    const auto what = request.grpc->method()->what;
    return guard.note_named(context ? ::a2a::named::context : ::a2a::named::task, value, what, call.named);
}

}  // namespace

void grpc_call::drop_beginning()
{
    relayed.request.body = {};
    std::string{}.swap(coming->kept);
    kept_share.set(0);
    std::string{}.swap(edited_body);
    edited_share.set(0);
}

// The request, if it is held and whole. Fails with body_too_large, by its prefix, and bad_request. Nothing: gather_message().
std::optional<core::result<>> grpc_route::take_message(const request_context& request, grpc_call& call) const
{
    const auto whole = request.caller.body_at_hand(held_request);
    if (!whole) {
        return std::nullopt;
    }
    grpc::request_messages one{settings_.limits.grpc_message, true};
    auto good = one.add(*whole, true);
    if (good) {
        call.reading->framed = *whole;
        call.reading->message = whole->substr(net::grpc::prefix_size);
        call.reading->compressed = one.compressed();
    }
    return good;
}

// When the caller waits no longer; the end of time: it does not say.
core::steady_time grpc_route::end_of_time(const net::caller_exchange& caller, const grpc_call& call)
{
    const auto asked = call.relayed.times.asked;
    return asked > core::duration{} ? caller.started() + asked : core::steady_time::max();
}

// Until the request is whole or has `enough` bytes. Again: goes on. Fails as take_message(), and as the body does.
net::routine<core::result<>> grpc_route::gather_message(request_context& request, grpc_call& call, std::uint64_t enough)
{
    auto& caller = request.caller;
    const auto limit = settings_.limits.grpc_message + net::grpc::prefix_size;
    if (call.coming == nullptr) {
        call.coming = std::make_unique<coming_request>(settings_.limits.grpc_message, true);
        call.whole = false;
    }
    auto& kept = call.coming->kept;
    if (caller.head().expect_continue && kept.empty()) {
        auto held = co_await caller.hold_body(0, limit);  // which says `100 Continue`
        if (!held) {
            co_return std::move(held).error();
        }
    }
    relay::exchange_wait waiting{caller, false};
    const auto until = end_of_time(caller, call);
    while (!call.whole && kept.size() < enough) {
        const auto piece = caller.take_piece(limit);
        if (!piece) {
            co_return piece.error();
        }
        if (auto good = call.coming->messages.add(piece->data, piece->last); !good) {
            co_return good;
        }
        kept += piece->data;
        if (!call.kept_share.set(kept.capacity())) {
            co_return core::gateway_error(errc::overloaded, "bodies");
        }
        call.whole = piece->last;
        if (call.whole || !piece->data.empty()) {
            continue;
        }
        const auto now = caller.owner().now();
        const auto due = caller.body_due(now + settings_.timeouts.body, now);
        caller.watch_caller();
        const auto how = co_await waiting.until(std::min(due, until));
        caller.waited_for_body(now);
        caller.clock().stop();
        if (how == relay::woken::late) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        if (how != relay::woken::by_event) {
            co_return relay::interrupted(how, "body");
        }
    }
    call.reading->framed = kept;
    call.reading->message = call.reading->framed.substr(net::grpc::prefix_size);
    call.reading->compressed = call.coming->messages.compressed();
    co_return core::result<>{};
}

// Reads the message for the one time, as far as it may say where it goes.
core::result<> grpc_route::scan_beginning(const ::a2a::protobuf::message_type& type, const grpc_call& call)
{
    auto& reading = *call.reading;
    auto& scan = reading.scan.emplace(type);
    const auto note = [&names = reading.names](request_scan::told kind, std::string_view value) {
        if (!value.empty()) {
            names.push_back({kind, value});
        }
        return true;
    };
    if (auto read = scan.feed(reading.message.substr(0, beginning), note); !read) {
        return told(read.error());
    }
    if (call.whole && reading.message.size() <= beginning && !scan.whole()) {
        return told(cut_off);
    }
    scan.settle();
    return {};
}

// Sets the agent that the call names as its destination's.
core::result<> grpc_route::choose(request_context& request, grpc_call& call) const
{
    if (request.origin && request.origin->id.empty()) {
        return core::caller_error(errc::agent_not_found);
    }
    auto& reading = *call.reading;
    grpc::named_agents named{
        .host = request.origin ? request.origin->id : std::string_view{},
        .tenant = {},
        .metadata = reading.in_metadata,
        .default_agent = settings_.grpc.default_agent
    };
    const auto* const method = request.grpc->method();
    if (method != nullptr && reading.compressed && named.host.empty() && named.metadata.empty()) {
        return core::caller_error(errc::grpc_compressed);
    }
    if (method != nullptr && !reading.compressed) {
        if (auto read = scan_beginning(*method->request, call); !read) {
            return read;
        }
        reading.tenant = reading.scan->tenant().place;
        named.tenant = reading.scan->tenant().value;
    }
    const auto knows = [this](std::string_view agent, std::string_view tenant) {
        const auto* const known = known_.find(agent);
        return known != nullptr && std::ranges::any_of(known->entry->interfaces, [&](const auto& each) {
                   return each.at.tenant == tenant;
               });
    };
    auto chosen = grpc::choose_agent(named, knows);
    if (!chosen) {
        return std::move(chosen).error();
    }
    reading.chosen = std::move(*chosen);
    request.texts.named_agent = reading.chosen.id;
    request.to.agent = request.texts.named_agent;
    request.lookup = {};
    request.disabled = known_.find_disabled(request.to.agent);
    return {};
}

// Before more of the message comes, with which its views go. False: the call is refused.
bool grpc_route::note_names(request_context& request, grpc_call& call, const task_guard& guard)
{
    const auto names = std::exchange(call.reading->names, {});
    return std::ranges::all_of(names, [&](const auto& each) {
        return note_name(request, call, guard, each.kind, each.value);
    });
}

// Finds what the message names behind its beginning, also in what is to come: that may name no other place for it, and no task that its
// caller may not know of.
core::result<> grpc_route::scan_rest(request_context& request, grpc_call& call, const task_guard& guard)
{
    auto& reading = *call.reading;
    if (reading.compressed || (call.whole && reading.message.size() <= beginning)) {
        return call.whole && reading.scan && !reading.scan->whole() ? told(cut_off) : core::result<>{};
    }
    const request_scan::visitor note = [&request, &call, guard](request_scan::told kind, std::string_view value) {
        return note_name(request, call, guard, kind, value);
    };
    if (auto read = reading.scan->feed(reading.message.substr(beginning), note); !read) {
        return told(read.error());
    }
    if (call.named.refused()) {
        return {};  // the scan has ended there
    }
    if (call.whole) {
        return reading.scan->whole() ? core::result<>{} : told(cut_off);
    }
    call.named.task = true;  // what the rest names is not known yet
    call.coming->scan = std::move(reading.scan);
    call.coming->messages.show([&request, &call, note](std::string_view part) -> core::result<> {
        if (auto read = call.coming->scan->feed(part, note); !read) {
            return told(read.error());
        }
        return call.named.refused() ? core::result<>{refusal_of(request, call.named)} : core::result<>{};
    });
    return {};
}

// The rest of the request is gathered first.
net::routine<core::result<>> grpc_route::gather_rest(request_context& request, grpc_call& call, const task_guard& guard)
{
    auto whole = co_await gather_message(request, call, whole_request);
    if (!whole || call.reading->message.size() <= converted_at_once) {
        co_return whole ? scan_rest(request, call, guard) : std::move(whole);
    }
    const auto here = request.caller.owner().get_executor();
    const auto work = [&] { return scan_rest(request, call, guard); };
    auto asked = control_.long_bodies.ask<core::result<>>(work);
    co_return co_await net::ask(here, here, std::move(asked));
}

// Sets call.json. False: the call is answered with why not.
net::routine<bool> grpc_route::read_json(request_context& request, grpc_call& call)
{
    if (!call.json.empty()) {
        co_return true;
    }
    core::result<> whole;
    if (!call.whole) {
        whole = co_await gather_message(request, call, whole_request);
    }
    if (!whole) {
        co_await request::respond_call_error(request, std::move(whole).error());
        co_return false;
    }
    const auto made = co_await make_json(request, call);
    if (!made) {
        co_await request::respond_refusal(request, grpc::as_json(request.grpc->method()->version), made.error());
        co_return false;
    }
    const auto kept = call.coming ? call.coming->kept.capacity() : 0;
    if (!call.kept_share.set(kept + call.json.capacity())) {
        co_await request::respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return false;
    }
    co_return true;
}

// Sets call.json, without the part of the tenant that names the agent.
net::routine<::a2a::translation<>> grpc_route::make_json(request_context& request, grpc_call& call)
{
    const auto& method = *request.grpc->method();
    const auto limit = settings_.limits.grpc_message * 6 + 4096;  // a byte may be written as six
    const auto work = [&]() -> ::a2a::translation<> {
        std::string without;
        const auto& reading = *call.reading;
        std::string_view message = reading.message;
        if (reading.chosen.removed) {
            without = message;
            ::a2a::protobuf::replace_tenant(*method.request, without, reading.tenant, reading.chosen.tenant);
            message = without;
        }
        auto made =
            ::a2a::protobuf::to_json(*method.request, message, {.tenant_once = true, .bytes = limit}, call.json);
        return made ? ::a2a::translation<>{} : std::move(made).error();
    };
    ::a2a::translation<> done;
    if (call.reading->message.size() <= converted_at_once) {
        done = work();
    } else {
        const auto here = request.caller.owner().get_executor();
        auto asked = control_.long_bodies.ask<::a2a::translation<>>(work);
        done = co_await net::ask(here, here, std::move(asked));
    }
    co_return done;
}

}  // namespace gateway::a2a
