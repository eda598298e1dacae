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

// A message of this size takes a millisecond to read.
constexpr std::size_t converted_at_once = 256 * 1024;

// The part of a message that says where it goes.
constexpr std::size_t beginning = grpc_route::held_beginning - net::grpc::prefix_size;

core::error told(const ::a2a::refusal& why)
{
    const bool broken = why.code == ::a2a::rpc_code::parse_error;
    return core::caller_error(
        broken ? errc::parse_error : errc::invalid_params,
        why.member + ' ' + std::string{why.why}
    );
}

}  // namespace

void grpc_call::drop_beginning()
{
    framed = {};
    message = {};
    relayed.request.body = {};
    std::string{}.swap(kept);
    kept_share.set(json.capacity());
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
        call.framed = *whole;
        call.message = call.framed.substr(net::grpc::prefix_size);
        call.compressed = one.compressed();
    }
    return good;
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
    if (caller.head().expect_continue && call.kept.empty()) {
        auto held = co_await caller.hold_body(0, limit);  // which says `100 Continue`
        if (!held) {
            co_return std::move(held).error();
        }
    }
    relay::exchange_wait waiting{caller, false};
    const auto until = call.asked > core::duration{} ? caller.started() + call.asked : core::steady_time::max();
    while (!call.whole && call.kept.size() < enough) {
        const auto piece = caller.take_piece(limit);
        if (!piece) {
            co_return piece.error();
        }
        if (auto good = call.coming->messages.add(piece->data, piece->last); !good) {
            co_return good;
        }
        call.kept += piece->data;
        if (!call.kept_share.set(call.kept.capacity())) {
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
    call.framed = call.kept;
    call.message = call.framed.substr(net::grpc::prefix_size);
    call.compressed = call.coming->messages.compressed();
    co_return core::result<>{};
}

// Sets the agent that the call names as its destination's.
core::result<> grpc_route::choose(request_context& request, grpc_call& call) const
{
    if (request.origin && request.origin->id.empty()) {
        return core::caller_error(errc::agent_not_found);
    }
    grpc::named_agents named{
        .host = request.origin ? request.origin->id : std::string_view{},
        .tenant = {},
        .metadata = call.in_metadata,
        .default_agent = settings_.grpc.default_agent
    };
    std::string in_message;
    const auto* const method = request.grpc->method();
    if (method != nullptr && call.compressed && named.host.empty() && named.metadata.empty()) {
        return core::caller_error(errc::grpc_compressed);
    }
    if (method != nullptr && !call.compressed) {
        const bool all = call.whole && call.message.size() <= beginning;
        auto tenant = ::a2a::protobuf::find_tenant(*method->request, call.message.substr(0, beginning), all);
        if (!tenant) {
            return told(tenant.error());
        }
        call.tenant = tenant->place;
        in_message = std::move(tenant->value);
        named.tenant = in_message;
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
    call.chosen = std::move(*chosen);
    request.texts.named_agent = call.chosen.id;
    request.to.agent = request.texts.named_agent;
    request.lookup = {};
    request.disabled = known_.find_disabled(request.to.agent);
    return {};
}

// Finds what the message names. What comes of it later, behind the beginning, may name no other place for it, and no task that its caller may
// not know of.
core::result<> grpc_route::find_names(request_context& request, grpc_call& call, const task_guard& guard)
{
    const auto& method = *request.grpc->method();
    const auto rest = call.message.substr(std::min(beginning, call.message.size()));
    if (call.compressed || (!sends(method) && rest.empty() && call.whole)) {
        return {};
    }
    const auto note = [&request, &call, guard, what = method.what](request_scan::told kind, std::string_view value) {
        if (kind == request_scan::told::push_url) {
            call.asks_for_push = call.asks_for_push || !value.empty();
            return true;
        }
        const bool context = kind == request_scan::told::context;
        if (value.empty()) {
            return true;  // absent
        }
        if (context) {
            note_conversation_at(request, value);
        }
        return guard.note_named(context ? ::a2a::named::context : ::a2a::named::task, value, what, call.named);
    };
    request_scan scan{*method.request};
    const request_scan::visitor each = std::ref(note);  // no copy, which would be allocated
    auto read = scan.feed(call.message.substr(0, beginning), each);
    scan.settle();
    if (read) {
        read = scan.feed(rest, each);
    }
    if (!read) {
        return told(read.error());
    }
    if (call.named.refused()) {
        return {};  // the scan has ended there
    }
    if (call.whole) {
        return scan.whole() ? core::result<>{} : told({::a2a::rpc_code::parse_error, {}, "is cut off"});
    }
    call.named.task = true;  // what the rest names is not known yet
    call.coming->scan = std::move(scan);
    call.coming->messages.show(
        [&request, &call, note = request_scan::visitor{note}](std::string_view part) -> core::result<> {
            if (auto read = call.coming->scan->feed(part, note); !read) {
                return told(read.error());
            }
            return call.named.refused() ? core::result<>{refusal_of(request, call.named)} : core::result<>{};
        }
    );
    return {};
}

// The rest of the request is gathered first.
net::routine<core::result<>>
grpc_route::gather_names(request_context& request, grpc_call& call, const task_guard& guard)
{
    auto whole = co_await gather_message(request, call, whole_request);
    if (!whole || call.message.size() <= converted_at_once) {
        co_return whole ? find_names(request, call, guard) : std::move(whole);
    }
    const auto here = request.caller.owner().get_executor();
    const auto work = [&] { return find_names(request, call, guard); };
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
    }
    co_return made.has_value();
}

// Sets call.json, without the part of the tenant that names the agent.
net::routine<::a2a::translation<>> grpc_route::make_json(request_context& request, grpc_call& call)
{
    const auto& method = *request.grpc->method();
    const auto limit = settings_.limits.grpc_message * 6 + 4096;  // a byte may be written as six
    const auto work = [&]() -> ::a2a::translation<> {
        std::string without;
        std::string_view message = call.message;
        if (call.chosen.removed) {
            without = message;
            ::a2a::protobuf::replace_tenant(*method.request, without, call.tenant, call.chosen.tenant);
            message = without;
        }
        auto made =
            ::a2a::protobuf::to_json(*method.request, message, {.tenant_once = true, .bytes = limit}, call.json);
        return made ? ::a2a::translation<>{} : std::move(made).error();
    };
    ::a2a::translation<> done;
    if (call.message.size() <= converted_at_once) {
        done = work();
    } else {
        const auto here = request.caller.owner().get_executor();
        auto asked = control_.long_bodies.ask<::a2a::translation<>>(work);
        done = co_await net::ask(here, here, std::move(asked));
    }
    if (done && !call.kept_share.set(call.kept.capacity() + call.json.capacity())) {
        done = ::a2a::refusal{::a2a::rpc_code::invalid_request, {}, "is larger than there is room for"};
    }
    co_return done;
}

}  // namespace gateway::a2a
