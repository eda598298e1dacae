// Tool search of bundles: find_tools, describe_tools and call_tool.
#include "core/json/json.hpp"
#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/mcp/route/bundle_route.hpp"
#include "mcp/bundle/tool_search.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/request_head.hpp"
#include "net/server/timed_ask.hpp"

#include <utility>

namespace gateway::mcp::route {
namespace {

using ::mcp::routed;

// Makes a call of call_tool one of the tool that it names.
void unwrap(bundle_call& call, const ::mcp::call_request& inner)
{
    auto& posted = *call.posted;
    const auto& read = posted.read;
    std::string name;
    core::append_json_string(name, inner.name);
    const std::vector<::mcp::text_edit> edits{
        {read.message[routed::name], std::move(name)},
        {read.message[routed::arguments], std::string{inner.arguments}}
    };
    auto text = ::mcp::edited(posted.body, edits);
    text.erase(0, read.message.whole.at);
    posted.set_edited(edits);
    call.unwrapped_text = std::move(text);
    posted.body = call.unwrapped_text;
}

}  // namespace

std::optional<::mcp::search_tool> bundle_route::search_asked(const bundle_call& call)
{
    std::string room;
    const auto name = call.read().text(routed::name, call.body(), room);
    return call.bundle->tools == nullptr || !name ? std::nullopt : ::mcp::search_tool_of(*name);
}

// A call of call_tool goes on as one of the tool, if the caller has it.
net::routine<> bundle_route::search(bundle_call& call, ::mcp::search_tool tool)
{
    bundles::search_question question{
        .tool = tool,
        .arguments = std::string{call.read().raw(routed::arguments, call.body())},
        .speaks = *call.message.request.record.era
    };
    if (tool != ::mcp::search_tool::call) {
        co_await answer_search(call, std::move(question));
        co_return;
    }
    const auto inner = ::mcp::read_call(question.arguments);
    if (!inner) {
        co_await answer_search(call, std::move(question));
        co_return;
    }
    unwrap(call, *inner);
    auto to = destination_of(call);
    const auto& members = call.bundle->members;
    const bool starts = to ? members[to->member].state == model::member_state::starting : call.bundle->awaits_members();
    if (starts) {  // the name may be one of its tools, whose definition says which arguments the head repeats
        co_await await_members(call);
        to = destination_of(call);
    }
    if (!to) {
        co_await answer_search(call, std::move(question));
        co_return;
    }
    to->parameters = parameters_of(*call.bundle, *to, inner->arguments);
    co_await pass_on(call, std::move(*to));
}

// The `Mcp-Param-*` fields that a client of the tool itself would have sent.
std::vector<std::pair<std::string, std::string>>
bundle_route::parameters_of(const model::published_bundle& bundle, const destination& to, std::string_view arguments)
{
    const auto& member = bundle.members[to.member];
    const auto& catalog = *bundle.catalog->members()[to.member];
    const auto place = catalog.place_of(::mcp::list_kind::tools, to.name);
    if (!place || member.lists == nullptr) {
        return {};
    }
    return ::mcp::parameter_fields{member.lists}.of(catalog[::mcp::list_kind::tools][*place].original, arguments);
}

net::routine<> bundle_route::answer_search(bundle_call& call, bundles::search_question question)
{
    co_await await_members(call);
    auto& request = call.message.request;
    const auto& name = call.bundle->settings.name;
    if (call.bundle->tools == nullptr) {  // the configuration has changed meanwhile
        co_await respond_call_refused(call, core::caller_error(core::errc::not_found, "no search any more"));
        co_return;
    }
    question.visible = bundles::tools_seen(*call.bundle, call.caller);
    request.texts.tool = ::mcp::search_tool_names[static_cast<std::size_t>(question.tool)];
    request.record.tool = request.texts.tool;
    const auto due = due_of(request);
    auto asked = control_.bundles.searches->ask(call.bundle->tools, std::move(question));
    auto answered =
        co_await net::ask_until(request.caller, due, request.caller.owner().get_executor(), std::move(asked));
    if (!answered || !*answered) {
        metrics_.count_search(name, bundles::outcome_name(bundles::search_outcome::failed));
        auto why = answered ? std::move(*answered).error() : net::gave_up(request.caller);
        co_await respond_call_refused(call, std::move(why));
        co_return;
    }
    metrics_.count_search(name, bundles::outcome_name((*answered)->outcome));
    co_await respond_result(call, std::move((*answered)->result));
}

}  // namespace gateway::mcp::route
