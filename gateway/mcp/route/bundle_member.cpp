// Messages to a bundle that are for one of its members.
#include "core/json/json.hpp"
#include "gateway/mcp/route/bundle_route.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/mcp/route/server_edits.hpp"
#include "mcp/bundle/names.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::route {
namespace {

using core::errc;
using ::mcp::client_method;
using ::mcp::routed;

std::string raw_string(std::string_view text)
{
    std::string out;
    core::append_json_string(out, text);
    return out;
}

// Why a name leads nowhere: as servers say it of what they do not have.
core::error unknown(const ::mcp::found_place& found, std::string_view name)
{
    if (found.to != ::mcp::reach::several) {
        return core::caller_error(errc::invalid_params, "Unknown: " + std::string{name.substr(0, 256)});
    }
    std::string said = "Several members have it. Expected one of:";
    for (const auto& each : found.full_forms) {
        said += ' ' + each;
    }
    return core::caller_error(errc::invalid_params, std::move(said));
}

// The member of the message that names what it is about.
std::optional<routed> named_by(const ::mcp::incoming& read, std::string_view body)
{
    using enum client_method;
    switch (read.method) {
        case resources_subscribe:
        case resources_unsubscribe:
            return routed::uri;
        case complete: {
            std::string room;
            const auto type = read.text(routed::reference_type, body, room).value_or("");
            return type == "ref/prompt" ? routed::reference_name : routed::reference_uri;
        }
        default:
            return ::mcp::target_of(read.method);
    }
}

// Whether clients would have it under this very name, and the filters of the bundle let it pass, however it would be marked.
bool is_shown_as(
    const model::published_bundle& bundle,
    ::mcp::list_kind list,
    std::string_view own,
    std::string_view as,
    std::string_view name
)
{
    using enum ::mcp::name_form;
    const auto& filter = bundle.filters->of(list);
    const auto length = bundle.settings.name_length;
    const auto is_denied = [&](::mcp::name_form form) {
        return filter.why_hidden(::mcp::exposed_name(as, own, length, form)) == ::mcp::hiding::denied;
    };
    return ::mcp::exposed_name(as, own, length) == name && filter.exposed(name) && !is_denied(marked) &&
           !is_denied(marked_twice);
}

// Servers have tools that they list to some clients only, such as those that may be asked something. A prefix is read off such a name alone,
// which it is safe to do because no prefix holds "__".
::mcp::found_place find_unlisted(
    const model::published_bundle& bundle,
    ::mcp::list_kind list,
    std::string_view name,
    const bundles::bundle_caller& caller
)
{
    ::mcp::found_place found;
    const auto end = name.find("__");
    const auto as = name.substr(0, end);
    const auto& members = bundle.catalog->members();
    const auto at = std::ranges::find(members, as, [](const auto& each) -> std::string_view { return each->as(); });
    if (end == name.npos || as.empty() || at == members.end()) {
        return found;
    }
    found.member = static_cast<std::size_t>(at - members.begin());
    found.own = name.substr(end + 2);
    if (!is_shown_as(bundle, list, found.own, as, name)) {
        return found;
    }
    const auto& server = bundle.members[found.member].server();
    const auto* const scopes = caller.principal == nullptr ? nullptr : &caller.principal->scopes;
    const bool shown = server->filters == nullptr || server->filters->shows(list, found.own, scopes);
    const bool listed = (*at)->place_of(list, found.own).has_value();
    if (shown && !listed && bundles::may_use(bundle, found.member, bundles::method_for(list), caller)) {
        found.to = ::mcp::reach::one;
    }
    return found;
}

struct found_task {
    std::size_t member = 0;
    std::string own;
};

// The member that has given out this id of a task. One without a prefix has each id that nobody else has.
std::optional<found_task>
task_place(const model::published_bundle& bundle, std::string_view id, const bundles::bundle_caller& caller)
{
    std::optional<found_task> found;
    const auto& members = bundle.catalog->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
        const bool bare = members[i]->scheme().empty();
        const auto own = ::mcp::own_uri(members[i]->scheme(), id);
        const bool bridged = !bundle.members[i].agent->record.mcp;
        if (own && bridged && !(bare && found) && bundles::may_use(bundle, i, "tools/call", caller)) {
            found = {i, *own};
            if (!bare) {
                break;
            }
        }
    }
    return found;
}

}  // namespace

core::result<bundle_route::destination> bundle_route::destination_of(const bundle_call& call) const
{
    using enum client_method;
    const auto& read = call.read();
    const auto named = named_by(read, call.body());
    std::string room;
    const auto name = named ? read.text(*named, call.body(), room) : std::nullopt;
    if (!name) {
        return core::caller_error(errc::invalid_params, "The params name no tool, prompt or resource.");
    }
    const auto sight = bundles::sight_of(*call.bundle, call.caller);
    const auto& catalog = *call.bundle->catalog;
    destination to;
    if (read.method == tasks_get || read.method == tasks_update || read.method == tasks_cancel) {
        const auto found = task_place(*call.bundle, *name, call.caller);
        if (!found) {
            return core::caller_error(errc::invalid_params, "Unknown task.");
        }
        to.member = found->member;
        to.name = found->own;
        to.edits.push_back({read[*named], raw_string(to.name)});
        return to;
    }
    const bool by_uri = *named == routed::uri || *named == routed::reference_uri;
    const auto list =
        *named == routed::name && read.method == tools_call ? ::mcp::list_kind::tools : ::mcp::list_kind::prompts;
    auto found = by_uri ? catalog.find_uri(*name, sight) : catalog.find_named(list, *name, sight);
    if (found.to == ::mcp::reach::none && !by_uri) {
        found = find_unlisted(*call.bundle, list, *name, call.caller);
        // call_tool is for tools that are listed: its caller hears of the nearest names instead.
        if (!call.unwrapped_text.empty() && call.bundle->members[found.member].lists != nullptr) {
            found.to = ::mcp::reach::none;
        }
    }
    if (found.to != ::mcp::reach::one) {
        const auto any = by_uri ? catalog.find_uri(*name, {}) : catalog.find_named(list, *name, {});
        if (any.to != ::mcp::reach::none && found.to == ::mcp::reach::none) {
            call.message.request.record.denied = model::denial::forbidden;
            note_rule(call, any, list);
        }
        return unknown(found, *name);
    }
    to.member = found.member;
    to.prefixed = found.prefixed;
    if (found.own != *name) {
        to.edits.push_back({read[*named], raw_string(found.own)});
    }
    to.name = found.own;
    return to;
}

// The answer about a tool that its caller does not get.
void bundle_route::note_rule(const bundle_call& call, const ::mcp::found_place& of, ::mcp::list_kind list) const
{
    if (list == ::mcp::list_kind::tools && of.to == ::mcp::reach::one) {
        guard_.note_member_rule(call.message.request, *call.bundle->members[of.member].server(), of.own);
    }
}

net::routine<> bundle_route::pass_on(bundle_call& call, destination to)
{
    auto& request = call.message.request;
    note_member(call, to);
    if (guard_.meets_containment(request)) {
        co_await request::respond_contained(request);
        co_return;
    }
    if (auto limited = guard_.admit_to_member(request)) {
        co_await std::move(*limited);
        co_return;
    }
    const auto method = call.read().method;
    const bool subscribes = method == client_method::resources_subscribe;
    const auto uri = subscribes || method == client_method::resources_unsubscribe ? to.name : std::string{};
    std::string room;
    std::string asked{uri.empty() ? std::string_view{} : call.read().text(routed::uri, call.body(), room).value_or("")};
    auto entered = co_await enter(call, to);
    if (call.cancelled != nullptr && *call.cancelled) {
        co_await respond_accepted(request);  // a call that was cancelled has no answer
        co_return;
    }
    if (!entered) {
        co_await request::respond_call_error(request, std::move(entered).error());
        co_return;
    }
    // The head may be gone behind a stream.
    auto caller = call.session && !uri.empty() ? request::inner_caller_of(request, std::nullopt) : nullptr;
    co_await members_.serve_member(call.message, call.posted->read, call.member_text);
    const auto& record = request.record;
    const bool lost = record.code == errc::session_not_found || record.session_ended;
    if (!call.session || (!lost && (uri.empty() || record.code))) {
        co_return;
    }
    const auto& agent = call.bundle->members[to.member].agent->record.id;
    call.session->caller = std::move(caller);
    if (lost) {
        request.record.session_ended.reset();  // that of the bundle goes on
        known_sessions_[call.session->id].members.erase(agent);
        auto id = call.message.member->session.value_or("");  // NOLINT(*-optional-access): it was passed on
        control_.bundles.tell(
            {.in = *call.session, .act = model::bundle_act::lost, .member = agent, .text = std::move(id)}
        );
    } else {
        const auto act = subscribes ? model::bundle_act::subscribe : model::bundle_act::unsubscribe;
        control_.bundles.tell({.in = *call.session, .act = act, .member = agent, .text = uri, .asked = std::move(asked)}
        );
    }
}

// From here on the request is about the agent.
void bundle_route::note_member(bundle_call& call, const destination& to)
{
    auto& request = call.message.request;
    const auto& member = call.bundle->members[to.member];
    request.set_agent(request::chosen_endpoint(member.server(), request));
    request.errors.format = request::error_format::mcp_bundle;
    if (!member.agent->record.mcp) {
        request.record.bridge = model::bridge_direction::mcp_a2a;
    }
}

// Sets the message as the member gets it; of a client of the legacy era in a session with the member, which may have to begin.
net::routine<core::result<>> bundle_route::enter(bundle_call& call, destination& to)
{
    model::member_place place;
    if (call.session) {
        const auto& agent = call.bundle->members[to.member].agent->record.id;
        const auto& id = call.message.request.errors.call_id;
        if (known_sessions_.size() >= most_known && !known_sessions_.contains(call.session->id)) {
            known_sessions_.clear();
        }
        if (!id.empty()) {
            call.cancelled = std::make_shared<bool>(false);
            known_sessions_[call.session->id].calls.emplace(id, known_call{agent, call.cancelled});
        }
        auto found = co_await find_place(call, agent);
        if (!found) {
            co_return std::move(found).error();
        }
        place = std::move(*found);
        if (!id.empty() && place.calls->fetch_add(1) >= most_calls) {
            place.calls->fetch_sub(1);
            co_return core::gateway_error(errc::overloaded, "calls of a session with a bundle");
        }
        if (!id.empty()) {
            call.counted = place.calls;
        }
    }
    set_target(call, to, std::move(place.id));
    if (call.session && place.version != call.session->version) {
        call.message.member->version = std::move(place.version);  // NOLINT(*-optional-access): set just now
    }
    co_return core::result<>{};
}

// The control loop is asked for what this worker does not know.
net::routine<core::result<model::member_place>> bundle_route::find_place(bundle_call& call, const std::string& agent)
{
    auto& request = call.message.request;
    auto& session = *call.session;  // NOLINT(*-optional-access): its caller has looked
    auto& known = known_sessions_[session.id];
    const auto now = request.caller.owner().now();
    if (const auto there = known.members.find(agent); there != known.members.end()) {
        if (now - known.touched > touched_every) {
            known.touched = now;
            control_.bundles.tell({.in = session, .act = model::bundle_act::touch});
        }
        co_return there->second;
    }
    session.caller = request::inner_caller_of(request, std::nullopt);
    const auto due = due_of(request);
    auto asked = control_.bundles.enter({session, agent});
    auto answered = co_await net::ask_until(request.caller, due, control_.executor, std::move(asked));
    if (!answered) {
        co_return net::gave_up(request.caller);
    }
    if (*answered) {
        auto& kept = known_sessions_[session.id];
        kept.touched = now;
        kept.members.insert_or_assign(agent, **answered);
    }
    co_return std::move(*answered);
}

void bundle_route::leave(bundle_call& call)
{
    if (call.counted != nullptr) {
        call.counted->fetch_sub(1);
    }
    if (call.cancelled == nullptr) {
        return;
    }
    const auto known = known_sessions_.find(call.session->id);  // NOLINT(*-optional-access): it is noted in one
    if (known != known_sessions_.end()) {
        std::erase_if(known->second.calls, [&call](const auto& each) {
            return each.second.cancelled == call.cancelled;
        });
    }
}

void bundle_route::set_target(bundle_call& call, const destination& to, std::string session)
{
    auto& request = call.message.request;
    const auto& member = call.bundle->members[to.member];
    const auto& catalog = *call.bundle->catalog->members()[to.member];
    auto& target = call.message.member.emplace();
    target.name = to.name;
    target.parameters = to.parameters;
    member_edit::origin origin{
        .scheme = to.prefixed ? catalog.scheme() : std::string{},
        .member = member.agent->record.id,
        .session = std::nullopt,
        .has_uris = false,
        .has_tasks = false
    };
    if (call.session) {
        origin.session = session;
        target.session = std::move(session);
    }
    const bool has_resources =
        member.lists == nullptr || member.lists->server.offers[::mcp::index_of(::mcp::list_kind::resources)];
    origin.has_uris = has_resources && !origin.scheme.empty();
    origin.has_tasks = !member.agent->record.mcp && !catalog.scheme().empty();
    const bool has_answer = !call.posted || call.read().kind == ::mcp::incoming_kind::request;
    if (has_answer && (origin.has_uris || origin.has_tasks || origin.session)) {
        relay::text_edit::means means{
            .limit = request.agent->record.mcp->max_message,
            .side = control_.long_bodies,
            .here = request.caller.owner().get_executor(),
            .each = true,
            .renames = call.session.has_value(),
        };
        target.edit = std::make_unique<member_edit>(std::move(origin), std::move(means));
    }
    if (call.posted) {
        call.member_text = ::mcp::edited(call.body(), to.edits);
        call.member_text.erase(0, call.read().whole.at);
        call.posted->set_edited(to.edits);
    }
}

// A GET that goes on with the stream of one call, which is its member's.
net::routine<> bundle_route::resume(bundle_call& call, ::mcp::event_origin from)
{
    auto& request = call.message.request;
    const auto place = bundles::place_of(*call.bundle, from.member);
    destination to;
    to.member = place.value_or(0);
    if (!place || !bundles::may_use(*call.bundle, to.member, {}, call.caller)) {
        co_await request::respond_call_error(request, core::caller_error(errc::events_gone, "of no member"));
        co_return;
    }
    note_member(call, to);
    if (guard_.meets_containment(request)) {
        co_await request::respond_contained(request);
        co_return;
    }
    auto entered = co_await enter(call, to);
    if (!entered) {
        co_await request::respond_call_error(request, std::move(entered).error());
        co_return;
    }
    call.message.member->event = std::move(from.event);  // NOLINT(*-optional-access): set by enter()
    const ::mcp::incoming_body nothing;
    const std::string_view no_text;
    co_await members_.serve_member(call.message, nothing, no_text);
}

}  // namespace gateway::mcp::route
