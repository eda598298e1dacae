// What the traffic_handler answers to those who look for agents.
#include "gateway/traffic/traffic_handler.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;

// How long a page may say of an agent what is not so any more. What comes and goes is seen at once.
constexpr std::chrono::seconds page_kept{1};

bool contains_ignoring_case(std::string_view text, std::string_view wanted)
{
    for (std::size_t at = 0; at + wanted.size() <= text.size(); ++at) {
        if (net::http1::equal_ignoring_case(text.substr(at, wanted.size()), wanted)) {
            return true;
        }
    }
    return false;
}

bool wants_events(const net::http1::request_head& head)
{
    return std::any_of(head.fields.begin(), head.fields.end(), [](const net::http1::field& line) {
        return net::http1::equal_ignoring_case(line.name, "Accept") &&
               contains_ignoring_case(line.value, "text/event-stream");
    });
}

bool reads(net::http1::method verb)
{
    return verb == net::http1::method::get || verb == net::http1::method::head;
}

// Where a client arrives that resolves a path against an agent's address without a slash at its end (RFC 3986 section
// 5.2.3: the last segment goes).
bool lost_its_agent(const destination& to)
{
    return to.agent == ".well-known" || to.agent == "extendedAgentCard" ||
           (to.agent == "agent" && to.below == "/authenticatedExtendedCard") ||
           (to.agent == "v1" && to.below == "/card");
}

}  // namespace

net::routine<> traffic_handler::show_directory(request_context& request, destination to)
{
    if (!reads(request.caller.head().verb)) {
        auto what = model::method_not_allowed("GET, HEAD");
        co_await answer_error(request, core::caller_error(errc::method_not_allowed), std::move(what));
        co_return;
    }
    auto asked = model::read_directory_request(to.directory, to.query);
    if (!asked) {
        auto what = model::explained_answer(asked.error().code, asked.error().detail);
        co_await answer_error(request, core::caller_error(errc::invalid_params), std::move(what));
        co_return;
    }
    const bool plain = asked->plain();
    auto& kept = pages_[static_cast<std::size_t>(to.directory)];
    auto page = plain && request.caller.owner().now() < kept.until ? kept.page : nullptr;
    if (!page) {
        const auto before = pages_forgotten_;
        auto question = control_.directory(std::move(*asked));
        page = co_await net::ask(control_.executor(), request.caller.owner().get_executor(), std::move(question));
        // What has changed meanwhile may have come here before the page that does not have it.
        if (plain && before == pages_forgotten_) {
            kept = {page, request.caller.owner().now() + page_kept};
        }
    }
    co_await send_page(request, std::move(page));
}

net::routine<> traffic_handler::send_page(request_context& request, std::shared_ptr<const model::directory_page> page)
{
    const auto* asked = net::http1::find(request.caller.head().fields, net::http1::field_name::if_none_match);
    const bool unchanged = asked != nullptr && model::none_match_hits(*asked, page->etag);
    request.record.status = unchanged ? 304 : 200;
    auto& text = request.caller.scratch();
    model::begin_head(text, request.caller, request.record.status);
    text += page->validators;
    if (!unchanged) {
        text += page->fields;
    }
    net::http1::head_writer{text}.end();
    net::pieces pieces;
    pieces.add(text);
    if (!unchanged && request.caller.head().verb != net::http1::method::head) {
        pieces.add(page->body);
    }
    request.record.first_byte = std::chrono::steady_clock::now() - request.caller.started();
    auto sent = co_await request.caller.send(pieces);
    if (!sent) {
        note_failure(request, std::move(sent).error());
    }
}

// Somebody reads where calls go: a browser, a probe, a client that looks for a stream.
net::routine<> traffic_handler::describe_agent(request_context& request, destination to)
{
    if (!request.agent) {
        co_await refuse_agent(request, to);
        co_return;
    }
    if (wants_events(request.caller.head())) {
        // There is no stream of an agent's own accord; the transport of MCP asks for one like this.
        co_await refuse_post(request, errc::method_not_allowed);
        co_return;
    }
    request.record.where = model::route::directory;
    model::answer what;
    net::http1::head_writer fields{what.fields};
    const auto card = model::public_address(public_base_, request.agent->record.id) + "/.well-known/agent-card.json";
    fields.field("Link", "<" + card + ">; rel=\"service-desc\"; type=\"application/json\"");
    fields.field("Cache-Control", "public, no-cache");
    fields.field("Vary", "Accept");
    what.body = model::description_of(request.agent->record, public_base_);
    co_await answer_with(request, std::move(what));
}

net::routine<> traffic_handler::refuse_agent(request_context& request, destination to)
{
    if (!lost_its_agent(to)) {
        auto what = model::error_answer(errc::agent_not_found, to.agent);
        co_await answer_error(request, core::caller_error(errc::agent_not_found), std::move(what));
        co_return;
    }
    auto what = model::explained_answer(
        errc::not_found,
        "No agent is named here: a client that makes this address of an agent's base URL has dropped the agent's id, "
        "because the base URL has no slash at its end, as " +
            public_base_ + "/agents/<id>/ has."
    );
    // Clients that show nothing else of a refusal show this.
    what.reason = "Not Found: the base URL of an agent needs a slash at its end";
    co_await answer_error(request, core::caller_error(errc::not_found), std::move(what));
}

// Resolvers that look only at the origin: those of Java drop the path of a base URL.
net::routine<> traffic_handler::refuse_card_of_nobody(request_context& request)
{
    auto what = model::explained_answer(
        errc::not_found,
        "This is a gateway, and a card is that of one of its agents: " + public_base_ +
            "/agents/<id>/.well-known/agent-card.json. A client that asks at the origin needs the path of the card, as "
            "the Java SDK takes it in A2ACardResolver (agentCardPath): /agents/<id>/.well-known/agent-card.json. " +
            public_base_ + "/agents lists the agents."
    );
    what.reason = "Not Found: the card of an agent is at /agents/<id>/.well-known/agent-card.json";
    co_await answer_error(request, core::caller_error(errc::not_found), std::move(what));
}

void traffic_handler::forget_pages()
{
    pages_ = {};
    ++pages_forgotten_;
}

}  // namespace gateway::traffic
