#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/server_metadata.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/well_known.hpp"
#include "gateway/pages/page_routes.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/responses/index_page.hpp"
#include "net/http1/head_writer.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::pages {

using core::errc;

namespace {

constexpr std::array routes{
    responses::index_route{"GET", "/agents", "the agents that you may see"},
    responses::index_route{"GET", "/agents/<id>/.well-known/agent-card.json", "the card of an agent"},
    responses::index_route{"POST", "/agents/<id>", "a call of an agent: JSON-RPC of A2A"},
    responses::index_route{"*", "/agents/<id>/rest/...", "a call of an agent: HTTP+JSON of A2A, of 0.3 below v1/"},
    responses::index_route{"POST", "/lf.a2a.v1.A2AService/<method>", "a call by gRPC of the agent that it names"},
    responses::index_route{"POST", "/agents/<id>/mcp", "a message to an MCP server"},
    responses::index_route{"GET", "/v0.1/servers", "the MCP servers that you may see, as an MCP registry lists them"},
};

bool wants_events(const net::http1::request_head& head)
{
    return std::any_of(head.fields.begin(), head.fields.end(), [](const net::http1::field& line) {
        return core::equal_ignoring_case(line.name, "Accept") &&
               core::find_ignoring_case(line.value, "text/event-stream") != std::string_view::npos;
    });
}

// A new key is found by its `kid`, which no cache has; one that was withdrawn is believed for so long.
constexpr std::string_view freshness = "Cache-Control: public, max-age=300\r\n";

net::routine<> respond_metadata(request::request_context& request, std::optional<std::string> metadata)
{
    if (!metadata) {
        return request::respond_error(request, core::caller_error(core::errc::not_found));
    }
    responses::answer answer;
    answer.status = 200;
    answer.fields = "Cache-Control: public, max-age=300\r\n";
    answer.content_type = "application/json";
    answer.body = std::move(*metadata);
    return request::respond(request, std::move(answer));
}

}  // namespace

net::routine<> public_pages::serve_index(request::request_context& request)
{
    return request::respond(request, responses::index_answer(request.caller.head(), {}, routes));
}

net::routine<> public_pages::serve_nothing(request::request_context& request)
{
    if (!request.to.card_of_nobody) {
        if (request.to.astray) {
            request.caller.close_after_answer();
        }
        return request::respond_error(request, core::caller_error(request.to.refusal));
    }
    // Resolvers that look only at the origin: those of Java drop the path of a base URL.
    const auto& base = known_.public_base();
    auto answer = responses::explained_answer(
        errc::not_found,
        "This is a gateway, and a card is that of one of its agents: " + base +
            "/agents/<id>/.well-known/agent-card.json. A client that asks at the origin needs the path of the card, as "
            "the Java SDK takes it in A2ACardResolver (agentCardPath): /agents/<id>/.well-known/agent-card.json. " +
            base + "/agents lists the agents."
    );
    answer.reason = "Not Found: the card of an agent is at /agents/<id>/.well-known/agent-card.json";
    return request::respond_error(request, core::caller_error(errc::not_found), std::move(answer));
}

net::routine<> public_pages::serve_description(request::request_context& request)
{
    const auto& head = request.caller.head();
    const bool found = find_agent(request) != nullptr;
    if (!request::reads(head.verb)) {
        return request::refuse_method(request, "GET, HEAD, POST");
    }
    if (!found) {
        return refuse_agent(request);
    }
    if (wants_events(head)) {
        // There is no stream of an agent's own accord; the transport of MCP asks for one like this.
        return request::refuse_method(request, "POST");
    }
    request.record.where = model::route::directory;
    const auto& agent = request.agent->record;
    responses::answer answer;
    net::http1::head_writer fields{answer.fields};
    const auto& base = known_.public_base();
    const auto address = request.origin ? own_origin(request) : model::public_address(base, agent.id);
    fields.field(
        "Link",
        "<" + address + std::string{model::card_path} + ">; rel=\"service-desc\"; type=\"application/json\""
    );
    fields.field("Cache-Control", request.open_to_anyone() ? "public, no-cache" : "private, no-cache");
    fields.field("Vary", "Accept");
    const auto* const known = known_.find(agent.id);
    const auto* const card = known == nullptr ? nullptr : known->card.get();
    answer.body = model::description_of(agent, base, address, card == nullptr ? std::string_view{} : card->mcp_version);
    return request::respond(request, std::move(answer));
}

net::routine<> public_pages::serve_keys(request::request_context& request)
{
    const auto& keys = known_.key_set();
    if (keys == nullptr) {
        return request::respond_error(request, core::caller_error(core::errc::not_found));
    }
    const auto* asked = net::http1::find(request.caller.head().fields, net::http1::field_name::if_none_match);
    const bool unchanged = asked != nullptr && model::none_match_hits(*asked, keys->etag);
    responses::answer answer;
    answer.status = unchanged ? 304 : 200;
    answer.fields = std::string{freshness} + keys->validators;
    answer.content_type = "application/jwk-set+json";
    if (!unchanged) {
        answer.rest = keys->body;
        answer.kept = keys;
    }
    return request::respond(request, std::move(answer));
}

net::routine<> public_pages::serve_metadata(request::request_context& request)
{
    if (logs_callers_in(request)) {
        return serve_login(request);
    }
    const auto host = request.origin ? request.origin->host : std::string_view{};
    const auto* const known = known_.find(request.to.agent);
    const auto* const record = known == nullptr ? nullptr : &known->entry->record;
    auto metadata = request.sender.access
                        ? request.sender.access->resource_metadata({request.to.agent, request.to.below, host, record})
                        : std::nullopt;
    return respond_metadata(request, std::move(metadata));
}

// Whether it is asked about the messages of an MCP server that anybody may know of.
bool public_pages::logs_callers_in(request::request_context& request) const
{
    const auto id = request.origin ? std::string_view{request.origin->id} : request.to.agent;
    const auto* const known = request.to.below == model::mcp_path ? known_.find(id) : nullptr;
    if (known == nullptr || !model::passes_logins(known->entry->record) ||
        (request.sender.access && !request.sender.access->may_discover(known->entry->record, nullptr))) {
        return false;
    }
    request.set_agent(known->entry);
    return true;
}

net::routine<> public_pages::serve_login(request::request_context& request)
{
    const auto& id = request.agent->record.id;
    auto asked = control_.metadata.find(request.agent);
    const auto& caller = request.caller;
    const auto due = relay::caller_deadline(caller.head().fields, settings_.deadlines.fields, caller.started());
    auto answered = co_await net::ask_until(request.caller, due, control_.executor, std::move(asked));
    if (!answered) {
        co_await request::respond_error(request, net::gave_up(request.caller));
        co_return;
    }
    auto& login = *answered;
    if (!login) {
        co_await request::respond_error(request, std::move(login).error());
        co_return;
    }
    const auto own = own_origin(request);
    core::json metadata{
        {"resource",
         (own.empty() ? model::public_address(known_.public_base(), id) : own) + std::string{model::mcp_path}},
        {"authorization_servers", login->authorization_servers}
    };
    if (!login->scopes.empty()) {
        metadata["scopes_supported"] = login->scopes;
    }
    metadata["bearer_methods_supported"] = {"header"};
    co_await respond_metadata(request, core::to_text(metadata));
}

}  // namespace gateway::pages
