#include "gateway/a2a/grpc_route.hpp"

#include "core/ascii.hpp"
#include "gateway/a2a/push_hook.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/relay/call_wait.hpp"
#include "net/grpc/messages.hpp"
#include "net/grpc/timeout.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;
using net::grpc::media;

// Whoever can still tell the caller that its time is up has done so then.
constexpr core::duration after_deadline{20};

constexpr std::string_view own_id = "1";  // of the call of JSON-RPC that one by gRPC 1.0 stands for

bool is_of_a2a(std::string_view path)
{
    const auto service = path.substr(0, path.rfind('/'));
    return service.substr(std::min<std::size_t>(1, service.size())) == ::a2a::protobuf::v1_service ||
           service.substr(std::min<std::size_t>(1, service.size())) == ::a2a::protobuf::v03_service;
}

// `/<service>/<method>`, where the gateway has no path of its own.
bool has_form(std::string_view path)
{
    const auto slash = path.find('/', 1);
    return slash != path.npos && slash > 1 && slash + 1 < path.size() &&
           path.find_first_of("/?", slash + 1) == path.npos && !path.starts_with("/mcp/");
}

// Takes memory from the pool of frames: what a call has comes and goes with them.
template <class T = char>
struct pooled {
    using value_type = T;

    pooled() = default;
    template <class Other>
    pooled(const pooled<Other>&) noexcept  // NOLINT(*-explicit-*): allocators convert
    {
    }
    T* allocate(std::size_t count) { return static_cast<T*>(net::frame_pool::take(count * sizeof(T))); }
    void deallocate(T* at, std::size_t count) noexcept { net::frame_pool::give(at, count * sizeof(T)); }
    bool operator==(const pooled&) const = default;
};

// Refuses an answer of an agent that is not one of gRPC.
class accept_grpc final : public relay::call_repair {
public:
    core::result<> accept(const net::http1::response_head& head) override
    {
        if (head.status != 200) {
            return core::upstream_error(errc::upstream_status, "status " + std::to_string(head.status));
        }
        const auto* const type = net::http1::find(head.fields, net::http1::field_name::content_type);
        if (type == nullptr || net::grpc::media_of(*type) != media::grpc) {
            return core::upstream_error(errc::upstream_protocol, "the answer is not gRPC");
        }
        return {};
    }
    std::optional<std::size_t> interest(const net::http1::response_head&) const override { return std::nullopt; }
    net::routine<core::result<bool>>
    repair(relay::relay_call&, relay::agent_exchange&, const net::http1::response_head&, std::string) override
    {
        co_return false;
    }
    void gave_up(const relay::relay_call&) override {}
    std::string failure_text(const core::error&) const override { return {}; }
};

}  // namespace

bool grpc_route::recognise(request_context& request) const
{
    const auto& head = request.caller.head();
    const auto path = head.target;
    if (!path.starts_with('/') || path.starts_with("/agents/")) {
        return false;
    }
    const bool a2a = is_of_a2a(path);
    if (!a2a && !has_form(path)) {
        return false;
    }
    const bool posts = head.verb == net::http1::method::post;
    const auto* const type = net::http1::find(head.fields, net::http1::field_name::content_type);
    const auto kind = type == nullptr ? media::other : net::grpc::media_of(*type);
    const bool calls = posts && kind == media::grpc && request.caller.major_version() == 2;
    const bool refused = a2a || (posts && kind != media::other && !request.origin);
    if (!calls && !refused) {
        return false;
    }
    request.to = {};
    request.to.where = model::route::call;
    request.to.grpc = path;
    if (calls) {
        const auto* const method = ::a2a::protobuf::find_service_method(path);
        grpc::caller_messages::terms terms{method, profile_of(settings_.errors.profile), settings_.limits.grpc_message};
        const bool old = path.substr(1).starts_with(::a2a::protobuf::v03_service);
        terms.version = old ? ::a2a::generation::v03 : ::a2a::generation::v1;
        terms.elsewhere = &elsewhere_;
        request.grpc = std::allocate_shared<grpc::caller_messages>(pooled<>{}, request.caller, terms);
        request.errors.format = request::error_format::rest;
        request.errors.rest_version = terms.version;
        request.errors.profile = terms.profile;
        request.errors.call_id = own_id;
    }
    return true;
}

void deadline_watch::on_due()
{
    ended_ = true;
    caller_.abort();
    caller_.clock().wake().set();  // the routine goes on in here, and may end with the watch
}

net::routine<> grpc_route::serve(request_context& request)
{
    grpc_call call{request};
    const bool passes = co_await prepare(request, call);
    call.reading = nullptr;
    if (passes) {
        if (call.relayed.times.asked > core::duration{}) {
            const auto due = end_of_time(request.caller, call) + after_deadline;
            call.watch = std::make_unique<deadline_watch>(request.caller, due);
        }
        co_await finish(request, call);
        if (call.watch && call.watch->ended()) {
            request::note_failure(request, core::upstream_error(errc::upstream_timeout, "deadline"));
        }
    }
}

// False: the request is answered.
net::routine<bool> grpc_route::prepare(request_context& request, grpc_call& call)
{
    if (request.grpc == nullptr) {
        co_await request::respond_error(request, core::caller_error(errc::unsupported_media_type));
        co_return false;
    }
    if (request.contained) {
        co_await request::respond_contained(request);
        co_return false;
    }
    grpc_reading reading;
    call.reading = &reading;
    auto why = read_head(request, call);
    const bool of_a2a = request.grpc->method() != nullptr;
    if (!why && !of_a2a && is_of_a2a(reading.path)) {
        why = core::caller_error(errc::grpc_method_unknown);
    }
    if (why) {
        co_await request::respond_call_error(request, std::move(*why));
        co_return false;
    }
    if (of_a2a) {
        co_return co_await prepare_call(request, call);
    }
    if (reading.service() == "grpc.health.v1.Health") {
        co_await serve_health(request, call);
        co_return false;
    }
    co_return co_await prepare_service(request, call);
}

// Reads the head of a call. Fails with bad_request, agent_unnamed, and version_not_supported.
std::optional<core::error> grpc_route::read_head(const request_context& request, grpc_call& call) const
{
    const auto& fields = request.caller.head().fields;
    auto& in_metadata = call.reading->in_metadata;
    call.reading->path = request.to.grpc;
    bool waits = false;
    for (const auto& each : fields) {
        if (core::equal_ignoring_case(each.name, "grpc-timeout")) {
            const auto timeout = net::grpc::parse_timeout(each.value);
            if (!timeout || std::exchange(waits, true)) {
                return core::caller_error(errc::bad_request, "grpc-timeout");
            }
            call.relayed.times.asked = std::max(std::chrono::ceil<core::duration>(*timeout), relay::shortest_deadline);
        } else if (core::equal_ignoring_case(each.name, "cardea-agent")) {
            if (!in_metadata.empty() && in_metadata != each.value) {
                return core::caller_error(errc::agent_unnamed, "two agents are named");
            }
            in_metadata = each.value;
        }
    }
    const auto version = version_said(fields, {});
    if (request.grpc->method() != nullptr && version == said_version::garbage) {
        return core::caller_error(errc::bad_request, "A2A-Version");
    }
    if (request.grpc->method() != nullptr && version == said_version::other) {
        return core::caller_error(errc::version_not_supported, "A2A-Version");
    }
    return std::nullopt;
}

// The agent becomes that of the request, or the answer says why not.
std::optional<net::routine<>> grpc_route::admit(request_context& request) const
{
    if (auto denied = guard_.admit_to_named(request)) {
        return denied;
    }
    if (find_agent(request) == nullptr) {
        return refuse_agent(request);
    }
    return request.may_call ? std::nullopt : std::optional{request::respond_forbidden(request)};
}

// False: the call is answered.
net::routine<bool> grpc_route::prepare_call(request_context& request, grpc_call& call)
{
    const auto& method = *request.grpc->method();
    const auto name = ::a2a::method_for(method.what, method.version);
    request.record.rpc_method = name;
    auto taken = take_message(request, call);
    if (!taken) {
        taken = co_await gather_message(request, call, held_beginning);
    }
    auto ready = *taken ? choose(request, call) : std::move(*taken);
    if (!ready) {
        co_await request::respond_call_error(request, std::move(ready).error());
        co_return false;
    }
    if (auto denied = admit(request)) {
        co_await std::move(*denied);
        co_return false;
    }
    if (!may_call(request, ::a2a::name(name))) {
        co_await request::respond_forbidden(request, ::a2a::name(name));
        co_return false;
    }
    if (request.agent->awaits_card) {
        std::string called{::a2a::name(name)};
        const bool goes_on = co_await await_card_of_call(request, std::move(called));
        if (!goes_on) {
            co_return false;
        }
    }
    if (auto answer = extended_card_answer(request, call)) {
        co_await std::move(*answer);
        co_return false;
    }
    if (call.managed) {
        co_return true;
    }
    if (!goes_to_agent(request)) {
        co_await request::respond_no_calls(request);
        co_return false;
    }
    const bool refused = co_await refuse_content(request, call);
    co_return !refused && call.passes();
}

// Refuses the extended card, or sets call.managed, as rest_route::answers_card() does.
std::optional<net::routine<>> grpc_route::extended_card_answer(request_context& request, grpc_call& call) const
{
    const auto& method = *request.grpc->method();
    if (method.what != ::a2a::operation::extended_card) {
        return std::nullopt;
    }
    if (request.sender.access && request.principal() == nullptr) {
        return request::respond_forbidden(request);
    }
    if (auto why = no_extended_card(request)) {
        return request::respond_call_error(request, std::move(*why));
    }
    const auto source = core::extended_card_of(request.agent->record, request.sender.access != nullptr);
    if (source == core::extended_card_access::managed) {
        const bool v1 = method.version == ::a2a::generation::v1;
        call.managed = model::card_position{v1 ? ::a2a::card_dialect::v1 : ::a2a::card_dialect::v03_rest, v1};
    }
    return std::nullopt;
}

// Whether callers may see another answer than the agent's, or the agent another request than theirs, as far as the request is held.
bool grpc_route::is_edited(const request_context& request, const grpc_call& call)
{
    using enum ::a2a::operation;
    const auto& method = *request.grpc->method();
    const auto what = method.what;
    const bool has_config = sends(method) ? call.reading->compressed || !call.whole || call.asks_for_push
                                          : what == create_push || what == get_push || what == list_push;
    return what == extended_card || (what == list && request.sender.access) ||
           (request.agent->mediates_push && has_config);
}

// Sets call.relayed; or the call is answered already, which it says. The message is read as far as somebody has to know it.
net::routine<bool> grpc_route::refuse_content(request_context& request, grpc_call& call)
{
    const auto& method = *request.grpc->method();
    const ::a2a::dialect caller{method.version, ::a2a::binding::grpc};
    const task_guard guard{request, control_.tasks, control_.chains};
    const auto* to = model::nearest_interface(request.agent->interfaces, caller);
    const auto same = [&] { return to != nullptr && to->speaks == caller; };
    const bool needs_all = is_edited(request, call) || !same() || (guard.looks() && !sends(method));
    const bool gathers = !call.whole && !call.reading->compressed && needs_all;
    core::result<> good;
    const bool goes_on = note_names(request, call, guard);
    if (goes_on && gathers) {
        good = co_await gather_rest(request, call, guard);
    } else if (goes_on) {
        good = scan_rest(request, call, guard);
    }
    if (good && call.reading->compressed && (guard.looks() || needs_all || !to->at.tenant.empty())) {
        good = core::caller_error(errc::grpc_compressed);
    }
    if (!good) {
        co_await request::respond_call_error(request, std::move(good).error());
        co_return true;
    }
    if (!sends(method) && !call.reading->compressed && (guard.looks() || request.trace.recorded())) {
        const bool read = co_await read_json(request, call);
        if (!read) {
            co_return true;
        }
        note_conversation(request, call.json);
        call.named = guard.look(call.json, method.what);
        if (guard.looks() && method.version == ::a2a::generation::v03) {
            grpc::rest_request names;
            if (const auto clear = grpc::read_named_request(method.what, call.json, names); !clear) {
                co_await request::respond_refusal(request, grpc::as_json(method.version), clear.error());
                co_return true;
            }
        }
    }
    if (call.named.refused()) {
        co_await respond_named(request, call.named);
        co_return true;
    }
    if (!request.agent->record.bridge && !same()) {
        co_await request::respond_call_error(request, core::caller_error(errc::grpc_method_unknown, "bridge: off"));
        co_return true;
    }
    if (request.agent->record.bridge) {
        to = model::interface_for_task(request.agent->interfaces, caller, call.named.home);
    }
    if (same() && !is_edited(request, call)) {
        pass_as_it_is(request, call, *to);
        co_return false;
    }
    const bool read = co_await read_json(request, call);
    if (read) {
        co_await translate_call(request, call, to);
    }
    co_return !read;
}

// The call goes where the agent takes gRPC, as it came.
void grpc_route::pass_service(const request_context& request, grpc_call& call)
{
    static accept_grpc accepts;  // it has no state
    const auto agent = request.agent->grpc ? request.agent->grpc : request.agent;
    auto& relayed = call.relayed;
    relayed.agent = agent;
    auto& out = relayed.request;
    auto& head = request.caller.scratch();  // nobody needs it before the answer
    head.clear();
    net::http1::head_writer{head}.request_line(net::http1::method::post, call.reading->path);
    head += agent->fixed_fields;
    out.head = head;
    out.lines = "TE: trailers\r\n";
    out.body = call.reading->framed;
    if (!call.whole) {
        out.passed = true;
        relayed.hooks.look_at_body = [&call](std::string_view piece, bool last) {
            if (!piece.empty()) {
                call.drop_beginning();
            }
            return call.coming->messages.add(piece, last);
        };
    }
    relayed.hooks.repair = &accepts;
    relayed.traits.by_grpc = true;
    relayed.traits.messages = true;
    relayed.traits.streaming = true;
}

// To an agent that speaks the caller's service.
void grpc_route::pass_as_it_is(request_context& request, grpc_call& call, const model::agent_interface& to) const
{
    const auto& method = *request.grpc->method();
    auto& reading = *call.reading;
    const auto& chosen = reading.chosen.tenant;
    const bool owes_tenant = chosen.empty() && !to.at.tenant.empty();
    if (!reading.compressed && (reading.chosen.removed || owes_tenant)) {
        const auto size = call.coming ? call.coming->messages.size() : reading.message.size();
        auto& edited = call.edited_body = call.coming ? std::move(call.coming->kept) : std::string{reading.framed};
        const auto before = edited.size();
        auto old = reading.tenant;
        old.begin += net::grpc::prefix_size;
        old.end += net::grpc::prefix_size;
        ::a2a::protobuf::replace_tenant(*method.request, edited, old, owes_tenant ? to.at.tenant : chosen);
        std::string prefix;
        net::grpc::append_prefix(prefix, size + edited.size() - before);
        edited.replace(0, prefix.size(), prefix);
        call.edited_share.set(edited.capacity());
        reading.framed = edited;
    }
    std::string{}.swap(call.json);  // whoever had to read it has done so
    call.kept_share.set(call.coming ? call.coming->kept.capacity() : 0);
    pass_service(request, call);
    auto& relayed = call.relayed;
    relayed.hooks.show_messages = [answers = request.grpc.get()](auto to_reader) {
        answers->observe(std::move(to_reader));
    };
    relayed.traits.repeatable = ::a2a::safe_to_repeat(::a2a::method_for(method.what, method.version));
    relayed.traits.streaming = method.streams;
    call.speaks = extension_terms_of(request, method.version, method.version);
    note_home(request, call, &to);
}

// To an agent that does not, or for a call that is edited.
net::routine<> grpc_route::translate_call(request_context& request, grpc_call& call, const model::agent_interface* to)
{
    const auto& method = *request.grpc->method();
    const auto caller = grpc::as_json(method.version);
    const bool rest = caller.over == ::a2a::binding::rest;
    std::string_view payload = call.json;
    grpc::rest_request named;
    if (rest) {
        const auto read = grpc::read_named_request(method.what, call.json, named);
        if (!read) {
            co_await request::respond_refusal(request, caller, read.error());
            co_return;
        }
        payload = named.body;
    }
    const push_hook push{control_, settings_, known_};
    push_call said{caller, method.what, payload, payload, {}};
    if (request.agent->mediates_push) {
        auto mediated = co_await push.mediate(request, call, said);
        if (!mediated) {
            co_await push_hook::refuse(request, caller, std::move(mediated).error());
            co_return;
        }
        if (!push_hook::has_room(call)) {
            co_await request::respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
            co_return;
        }
        said = *mediated;
    }
    const bridged through{caller, method.what, said.payload, rest ? &named.target : nullptr, to, true};
    co_await translate(request, call, through);
    if (method.what == ::a2a::operation::extended_card) {
        add_card(call, caller);
    }
    if (call.passes()) {
        if (const auto* const lines = call.bridge->metadata()) {
            request.grpc->set_metadata(*lines);
        }
        call.speaks->what = ::a2a::operation::none;  // no facts: messages have no place for them that SDKs read
        push.restore(request, call, said);
        filter_task_list(request, call, caller, method.what);
    }
}

}  // namespace gateway::a2a
