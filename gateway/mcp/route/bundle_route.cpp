#include "gateway/mcp/route/bundle_route.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/bundles/bundle_streams.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/mcp/route/mcp_message.hpp"
#include "gateway/mcp/route/server_edits.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/version.hpp"
#include "gateway/model/well_known.hpp"
#include "gateway/relay/call_wait.hpp"
#include "mcp/bundle/answers.hpp"
#include "mcp/bundle/names.hpp"
#include "mcp/bundle/origins.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "net/http1/head_writer.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace gateway::mcp::route {
namespace {

using core::errc;
using ::mcp::client_method;
using ::mcp::routed;
using net::http1::method;

constexpr std::size_t most_ended = 10'000;  // sessions of which a worker knows that they are over

bool is_legacy(const bundle_call& call) noexcept
{
    return call.message.request.record.era == ::mcp::era::legacy;
}

std::uint64_t largest_message(const model::published_bundle& bundle)
{
    std::uint64_t most = core::mcp_server{}.max_message;
    for (const auto& each : bundle.members) {
        if (each.agent->record.mcp) {
            most = std::max<std::uint64_t>(most, each.agent->record.mcp->max_message);
        }
    }
    return most;
}

// Agents of A2A whose card nobody could get are asked again when a caller wants the lists: with cards.background: 0 nothing else does.
bool misses_card(const model::published_bundle& bundle)
{
    return std::ranges::any_of(bundle.members, [](const auto& each) {
        return each.state == model::member_state::down && !each.agent->record.mcp;
    });
}

// The owner of a session with the bundle.
::mcp::session_binding owner_of_session(const bundle_call& call)
{
    ::mcp::session_binding binding{.agent = call.bound_to, .address = {}, .provider = {}, .principal = {}};
    if (const auto* const principal = call.message.request.principal()) {
        binding.provider = principal->provider;
        binding.principal = principal->id;
    }
    return binding;
}

}  // namespace

net::routine<> bundle_route::respond_accepted(request::request_context& request)
{
    responses::answer accepted;
    accepted.status = 202;
    return request::respond(request, std::move(accepted));
}

net::routine<> bundle_route::respond_call_refused(bundle_call& call, core::error why, std::string_view said)
{
    auto& request = call.message.request;
    auto answer = responses::mcp_error_answer(why.code, {}, request.errors.call_id);
    if (!said.empty()) {
        answer.body = core::jsonrpc_error_body(request.errors.call_id, why.code, {}, said);
    }
    const bool modern_unknown = !is_legacy(call) && why.code == errc::method_not_found;
    if (!request.errors.call_id.empty() && !modern_unknown) {
        answer.status = 200;
    }
    return request::respond_error(request, std::move(why), std::move(answer));
}

void bundle_route::forget(const ::mcp::session_digest& id, bool ended)
{
    known_sessions_.erase(id);
    if (!ended) {
        return;
    }
    if (ended_.size() >= most_ended) {
        ended_.clear();  // the control loop still knows
    }
    ended_.insert(id);
}

model::bundle_pointer bundle_route::find(std::string_view path) const
{
    const auto name =
        path == model::mcp_path ? core::default_bundle : path.substr(std::min(path.size(), model::mcp_path.size() + 1));
    const auto found = bundles_->find(name);
    return found == bundles_->end() ? nullptr : found->second;
}

net::routine<> bundle_route::serve(request::request_context& request)
{
    request.errors.format = request::error_format::mcp;
    bundle_call call{.message = {request, {}}, .bundle = find(request.to.below)};
    call.caller = {request.sender.access.get(), request.principal()};
    if (request.caller.head().verb == method::options) {
        co_await members_.serve_options(request);
        co_return;
    }
    if (call.bundle == nullptr || !bundles::may_enter(*call.bundle, call.caller)) {
        co_await refuse_caller(request);
        co_return;
    }
    // The log's line outlives the call, and the call its first bundle.
    request.texts.bundle = call.bundle->settings.name;
    request.record.bundle = request.texts.bundle;
    call.bound_to = "mcp/" + call.bundle->settings.name;
    if (request.sender.from_forbidden_page) {
        co_await request::respond_call_error(request, core::caller_error(errc::origin_forbidden));
        co_return;
    }
    if (request.contained && request.caller.head().verb != method::post) {
        co_await request::respond_contained(request);
        co_return;
    }
    switch (request.caller.head().verb) {
        case method::post:
            co_await post(call);
            break;
        case method::get:
        case method::delete_:
            co_await serve_bodiless(call);
            break;
        default:
            co_await request::refuse_method(request, request::methods_of_mcp);
            break;
    }
    leave(call);
}

// To a caller without a credential a bundle that it may not use looks like one that does not exist, and to others as well.
net::routine<> bundle_route::refuse_caller(request::request_context& request) const
{
    const bool asks = request.sender.access != nullptr && request.principal() == nullptr;
    return asks ? request::respond_forbidden(request)
                : request::respond_call_error(request, core::caller_error(errc::not_found, "no such bundle"));
}

net::routine<> bundle_route::post(bundle_call& call)
{
    auto& request = call.message.request;
    call.posted = co_await members_.read_message(call.message, largest_message(*call.bundle));
    if (!call.posted) {
        co_return;
    }
    const auto fields = mcp_fields_of(request.caller.head());
    request.record.era = ::mcp::era_of_post(fields, call.posted->read);
    request.record.mcp_method = call.read().method;
    const bool begins = call.read().method == client_method::initialize;
    if (is_legacy(call) && !begins && fields.session.count == 1) {
        if (auto opened = open_session(call, fields); !opened) {
            co_await request::respond_call_error(request, std::move(opened).error());
            co_return;
        }
        if (call.message.home != 0) {
            co_await replicas_.pass(request, call.message.home, call.message.posted, errc::session_not_found);
            co_return;
        }
    }
    if (const auto why = ::mcp::check_post(fields, call.posted->read, call.body())) {
        co_await mcp_route::refuse(request, *why);
        co_return;
    }
    co_await carry_out(call);
}

core::result<> bundle_route::open_session(bundle_call& call, const ::mcp::head_fields& fields) const
{
    auto& request = call.message.request;
    auto opened = ids_->open(fields.session.value, owner_of_session(call), std::chrono::system_clock::now());
    if (!opened) {
        return std::move(opened).error();
    }
    const auto id = ::mcp::digest_of_session(fields.session.value);
    if (ended_.contains(id)) {
        return core::caller_error(errc::session_not_found, "its client has ended it");
    }
    request.texts.session = ::mcp::tag_of(id);
    request.record.session = request.texts.session;
    const auto* const place = std::get_if<::mcp::local_handle>(&opened->place);
    if (place != nullptr && ids_->is_elsewhere(*place)) {
        call.message.home = place->replica;
        return {};
    }
    call.session = model::bundle_session{
        .bundle = call.bundle->settings.name,
        .id = id,
        .version = ::mcp::legacy_version(fields, opened->version),
        .declared = opened->declared,
        .further = std::move(opened->further),
        .caller = nullptr,
        .whose = request.slot.whose()
    };
    return {};
}

net::routine<> bundle_route::carry_out(bundle_call& call)
{
    switch (call.read().kind) {
        case ::mcp::incoming_kind::answer:
            return return_answer(call);
        case ::mcp::incoming_kind::notification:
            return answer_notification(call);
        case ::mcp::incoming_kind::request:
            break;
    }
    const auto asked = call.read().method;
    if (const auto list = ::mcp::list_of(asked)) {
        return answer_list(call, *list);
    }
    using enum client_method;
    switch (asked) {
        case initialize:
        case discover:
            return open(call);
        case ping:
            return respond_result(call, "{}");
        case listen:
            return this->listen(call);
        case client_method::set_level:
            return this->set_level(call);
        case tools_call:
        case prompts_get:
        case resources_read:
        case resources_subscribe:
        case resources_unsubscribe:
        case complete:
        case tasks_get:
        case tasks_update:
        case tasks_cancel:
            break;
        default:
            return respond_call_refused(call, core::caller_error(errc::method_not_found));
    }
    if (const auto tool = asked == tools_call ? search_asked(call) : std::nullopt) {
        return search(call, *tool);
    }
    return find_member(call);
}

// A name that is not known may be one of a member that is starting.
net::routine<> bundle_route::find_member(bundle_call& call)
{
    auto to = destination_of(call);
    if (!to && call.bundle->awaits_members()) {
        co_await await_members(call);
        to = destination_of(call);
    }
    if (!to) {
        auto why = std::move(to).error();
        const auto said = why.detail;
        co_await respond_call_refused(call, std::move(why), said);
        co_return;
    }
    co_await pass_on(call, std::move(*to));
}

net::routine<> bundle_route::answer_notification(bundle_call& call)
{
    using enum client_method;
    auto& request = call.message.request;
    const auto& read = call.read();
    if (call.session && read.method != initialized) {
        call.session->caller = request::inner_caller_of(request, std::nullopt);
        model::bundle_message told{.in = *call.session, .act = model::bundle_act::broadcast};
        if (read.method == cancelled) {
            told.act = model::bundle_act::cancel;
            told.text = read.raw(routed::request_id, call.body());
            const auto known = known_sessions_.find(call.session->id);
            if (known != known_sessions_.end()) {
                const auto in_flight = known->second.calls.find(told.text);
                if (in_flight != known->second.calls.end()) {
                    told.member = in_flight->second.agent;
                    *in_flight->second.cancelled = true;
                }
            }
        } else if (read.method == progress) {
            if (auto returned = ::mcp::returned_to(read, call.body())) {
                return return_answer(call);
            }
            told.text = {};
        } else {
            told.text = read.whole.of(call.body());
        }
        if (!told.text.empty()) {
            control_.bundles.tell(std::move(told));
        }
    }
    return respond_accepted(request);
}

// The answer to what a member has asked: its id names the member, and the session there.
net::routine<> bundle_route::return_answer(bundle_call& call)
{
    auto returned = ::mcp::returned_to(call.read(), call.body());
    const auto place = returned ? bundles::place_of(*call.bundle, returned->origin.member) : std::nullopt;
    if (!place) {
        // It is the answer to nothing: servers drop such an answer.
        co_await respond_accepted(call.message.request);
        co_return;
    }
    destination to;
    to.member = *place;
    to.edits.push_back(std::move(returned->edit));
    if (!bundles::may_use(*call.bundle, to.member, {}, call.caller)) {
        co_await respond_call_refused(call, core::caller_error(errc::invalid_params, "a member of others"));
        co_return;
    }
    note_member(call, to);
    if (guard_.meets_containment(call.message.request)) {
        co_await request::respond_contained(call.message.request);
        co_return;
    }
    set_target(call, to, std::move(returned->origin.session));
    co_await members_.serve_member(call.message, call.posted->read, call.member_text);
}

net::routine<> bundle_route::await_members(bundle_call& call)
{
    auto& request = call.message.request;
    const bool waits = call.bundle->awaits_members() || misses_card(*call.bundle);
    if (!waits || std::exchange(call.has_waited, true)) {
        co_return;
    }
    const auto due = due_of(request);
    auto asked = control_.bundles.wait(call.bundle->settings.name);
    static_cast<void>(co_await net::ask_until(request.caller, due, control_.executor, std::move(asked)));
    // What the control loop has published since was posted before its answer.
    const auto now = bundles_->find(call.bundle->settings.name);
    if (now != bundles_->end()) {
        call.bundle = now->second;
    }
}

core::steady_time bundle_route::due_of(const request::request_context& request) const
{
    const auto& caller = request.caller;
    return relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
}

net::routine<> bundle_route::open(bundle_call& call)
{
    co_await await_members(call);
    const auto& bundle = *call.bundle;
    std::vector<::mcp::opening_member> members;
    for (std::size_t i = 0; i < bundle.members.size(); ++i) {
        const auto& each = bundle.members[i];
        if (bundles::may_use(bundle, i, {}, call.caller)) {
            members.push_back(
                {.id = each.agent->record.id,
                 .title = each.lists == nullptr ? std::string_view{} : std::string_view{each.lists->server.title},
                 .facts = each.lists == nullptr ? nullptr : &each.lists->server,
                 .unavailable = each.state == model::member_state::down,
                 .has_tasks = !each.agent->record.mcp.has_value()}
            );
        }
    }
    const ::mcp::opening_words words{
        .bundle = bundle.settings.name,
        .version = model::version(),
        .instructions = bundle.settings.instructions,
        .lists_tools = bundle.settings.search
    };
    std::string result;
    if (call.read().method == client_method::discover) {
        ::mcp::append_discover_result(result, members, words);
        co_await respond_result(call, std::move(result));
        co_return;
    }
    auto begins = session_begun_by(call.read(), call.body());
    begins.place = ids_->new_handle(session_here);
    std::string room;
    const auto asked = call.read().text(routed::version, call.body(), room).value_or("");
    ::mcp::append_initialize_result(result, asked, members, words);
    auto& request = call.message.request;
    std::string fields;
    if (const auto id = ids_->seal(begins, owner_of_session(call))) {
        net::http1::head_writer{fields}.field("Mcp-Session-Id", *id);
        request.texts.session = ::mcp::tag_of(::mcp::digest_of_session(*id));
        request.record.session = request.texts.session;
        request.record.session_begun = true;
    }
    co_await respond_result(call, std::move(result), std::move(fields));
}

net::routine<> bundle_route::answer_list(bundle_call& call, ::mcp::list_kind list)
{
    co_await await_members(call);
    const bool searches = call.bundle->tools != nullptr && list == ::mcp::list_kind::tools;
    const auto sight =
        searches ? bundles::listed_sight_of(*call.bundle, call.caller) : bundles::sight_of(*call.bundle, call.caller);
    const auto front = searches ? bundles::search_front(*call.bundle, call.caller) : std::string{};
    const auto down = bundles::unavailable_of(*call.bundle, call.caller);
    std::string room;
    ::mcp::page_question question{.list = list, .cursor = std::nullopt, .speaks = *call.message.request.record.era};
    if (!call.read()[routed::cursor].empty() && call.read().raw(routed::cursor, call.body()) != "null") {
        question.cursor = call.read().text(routed::cursor, call.body(), room).value_or("\n");
    }
    const auto info = ::mcp::bundle_info(call.bundle->settings.name, model::version());
    const ::mcp::page_additions additions{.front = front, .unavailable = down, .server_info = info};
    std::string result;
    auto appended = ::mcp::append_page(result, *call.bundle->catalog, question, sight, additions);
    if (!appended) {
        co_await respond_call_refused(call, std::move(appended).error());
        co_return;
    }
    co_await respond_result(call, std::move(result));
}

net::routine<> bundle_route::set_level(bundle_call& call)
{
    auto& request = call.message.request;
    if (!call.session) {
        return respond_call_refused(call, core::caller_error(errc::method_not_found));
    }
    const auto level = call.read().raw(routed::level, call.body());
    constexpr std::string_view levels = R"("debug" "info" "notice" "warning" "error" "critical" "alert" "emergency")";
    if (level.size() < 2 || level.find(' ') != level.npos || levels.find(level) == levels.npos) {
        return respond_call_refused(
            call,
            core::caller_error(errc::invalid_params, "level"),
            "The level is none of MCP."
        );
    }
    call.session->caller = request::inner_caller_of(request, std::nullopt);
    control_.bundles.tell({.in = *call.session, .act = model::bundle_act::set_level, .text = std::string{level}});
    return respond_result(call, "{}");
}

// A client of the modern era listens.
net::routine<> bundle_route::listen(bundle_call& call)
{
    auto& request = call.message.request;
    request.agent = call.bundle->self;
    call.message.program = std::make_unique<program_call>();
    auto& program = *call.message.program;
    program.form = mcp_fields_of(request.caller.head()).accept.form();
    program.asked.act = model::program_act::modern;
    std::string room;
    program.asked.read = ::mcp::moved(call.read(), {});
    const auto text = call.read().whole.of(call.body());
    program.asked.message = ::mcp::kept_message{::mcp::client_message_of(program.asked.read, text, room)};
    auto listening = std::make_shared<model::bundle_session>();
    listening->bundle = call.bundle->settings.name;
    listening->caller = request::inner_caller_of(request, std::nullopt);
    program.asked.in_bundle = std::move(listening);
    call.message.port = control_.bundles.streams;
    return members_.serve_stream(call.message);
}

// A GET or DELETE, which is about a session.
net::routine<> bundle_route::serve_bodiless(bundle_call& call)
{
    auto& request = call.message.request;
    const auto fields = mcp_fields_of(request.caller.head());
    const bool listens = request.caller.head().verb == method::get;
    request.record.era = ::mcp::era::legacy;
    const auto why = listens ? ::mcp::check_get(fields) : ::mcp::check_delete(fields);
    if (why) {
        co_await mcp_route::refuse(request, *why);
        co_return;
    }
    if (fields.session.count == 0) {
        co_await request::refuse_method(request, "POST");
        co_return;
    }
    if (auto opened = open_session(call, fields); !opened) {
        co_await request::respond_call_error(request, std::move(opened).error());
        co_return;
    }
    if (call.message.home != 0) {
        co_await replicas_.pass(request, call.message.home, std::string_view(), errc::session_not_found);
        co_return;
    }
    call.session->caller = request::inner_caller_of(request, std::nullopt);
    if (!listens) {
        auto ended = control_.bundles.end(*call.session);
        static_cast<void>(co_await net::ask_until(request.caller, net::never, control_.executor, std::move(ended)));
        forget(call.session->id, /*ended=*/true);
        request.record.session_ended = model::session_end::deleted;
        responses::answer empty;
        co_await request::respond(request, std::move(empty));
        co_return;
    }
    auto from = ::mcp::origin_of_event(fields.event.count == 1 ? fields.event.value : std::string_view{});
    if (from && !from->event.empty()) {
        co_await resume(call, std::move(*from));
        co_return;
    }
    request.agent = call.bundle->self;
    call.message.program = std::make_unique<program_call>();
    auto& program = *call.message.program;
    program.asked.act = model::program_act::listen;
    program.primed = call.session->version >= "2025-11-25";
    program.asked.in_bundle = std::make_shared<model::bundle_session>(*call.session);
    call.message.port = control_.bundles.streams;
    co_await members_.serve_stream(call.message);
}

// In the form that the caller takes.
net::routine<> bundle_route::respond_result(bundle_call& call, std::string result, std::string fields)
{
    auto& request = call.message.request;
    responses::answer answer;
    answer.fields = std::move(fields);
    auto text = R"({"jsonrpc":"2.0","id":)" + request.errors.call_id + R"(,"result":)";
    text.append(result) += '}';
    if (mcp_fields_of(request.caller.head()).accept.form() == ::mcp::answer_form::events) {
        answer.content_type = "text/event-stream";
        answer.body = "event: message\ndata: " + text + "\n\n";
    } else {
        answer.body = std::move(text);
    }
    return request::respond(request, std::move(answer));
}

}  // namespace gateway::mcp::route
