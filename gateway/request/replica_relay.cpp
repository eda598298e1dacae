#include "gateway/request/replica_relay.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/mcp_server.hpp"
#include "core/url.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/forwarding.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace gateway::request {
namespace {

using core::errc;
using model::forwarding;

// The other replica ends calls in time, and says why: it goes first.
constexpr core::duration head_start = std::chrono::seconds{5};

// How long a stream may be silent into which the other replica writes no comments.
constexpr core::duration longest_silence = std::chrono::hours{24};

std::string_view reason_of(forwarding how) noexcept
{
    switch (how) {
        case forwarding::gone:
            return "its replica does not live, or has the replica.url of this one";
        case forwarding::no_url:
            return "its replica has no replica.url";
        case forwarding::certificate:
            return "another replica has it, which does not see the caller's certificate";
        case forwarding::again:
            return "no session of this replica";
        case forwarding::answered:
        case forwarding::failed:
        case forwarding::unreachable:
            break;
    }
    return "its replica cannot be reached";
}

// Why the request may be sent nowhere; nothing: it may.
std::optional<forwarding> objection(const request_context& request)
{
    if (net::http1::find(request.caller.head().fields, relay::forwarded_marker) != nullptr) {
        return forwarding::again;
    }
    const auto* const principal = request.principal();
    const bool by_certificate = principal != nullptr && request.sender.access != nullptr &&
                                request.sender.access->knows_by_certificate(principal->provider);
    // Nor does it see whose a request from within the process is.
    return by_certificate || request.sender.inner != nullptr ? std::optional{forwarding::certificate} : std::nullopt;
}

// A session here answers within seconds, or begins a stream then, in which comments follow: without the database nothing else tells that the
// other replica is frozen. A caller that takes JSON alone waits for its server, and so does a server over HTTP behind the other replica.
bool is_answered_soon(const request_context& request)
{
    const auto& head = request.caller.head();
    const auto* const accept = net::http1::find(head.fields, "Accept");
    const bool takes_events =
        accept != nullptr && core::find_ignoring_case(*accept, "text/event-stream") != accept->npos;
    return request.agent != nullptr && request.agent->has_program_sessions() &&
           (head.verb != net::http1::method::post || takes_events);
}

}  // namespace

std::string unanswered_body(const request_context& request, errc code)
{
    constexpr std::string_view said =
        "The replica of Cardea that has the session did not answer. The request may have been carried out.";
    auto body = core::jsonrpc_error_body(request.errors.call_id, code, request.record.agent, said);
    constexpr std::string_view repeats = R"("retryable":true)";
    if (const auto at = body.rfind(repeats); at != body.npos) {
        body.replace(at, repeats.size(), R"("retryable":false)");
    }
    return body;
}

// The terms of the other replica's answer to one request.
class replica_relay::terms final : public relay::call_repair {
public:
    // `of` outlives it.
    terms(const sent_request& of, errc lost)
        : of_{of},
          request_{of.request},
          lost_{lost}
    {
    }

    std::optional<std::size_t> interest(const net::http1::response_head& /*head*/) const override
    {
        return std::nullopt;
    }

    net::routine<core::result<bool>> repair(
        relay::relay_call& /*call*/,
        relay::agent_exchange& /*on*/,
        const net::http1::response_head& /*head*/,
        std::string /*body*/
    ) override
    {
        co_return false;
    }

    // The other replica notices the end of its connection.
    void gave_up(const relay::relay_call& /*call*/) override {}

    core::error told_as(core::error why, bool reached) override
    {
        if (of_.gone && why.code == errc::draining) {
            why = core::upstream_error(errc::upstream_timeout, "it is gone");
        }
        if (why.from != core::side::upstream) {
            return why;
        }
        request_.record.forwarded = reached ? forwarding::failed : forwarding::unreachable;
        const auto detail = "replica " + std::string{request_.texts.replica} + ": " + why.detail;
        return reached ? core::upstream_error(why.code, detail) : core::caller_error(lost_, detail);
    }

    std::string failure_text(const core::error& why) const override
    {
        if (request_.errors.call_id.empty()) {
            return {};
        }
        return unanswered_body(request_, why.code);
    }

private:
    const sent_request& of_;
    request_context& request_;
    errc lost_;
};

void replica_relay::set_replicas(const model::replicas_pointer& now)
{
    std::map<store::replica_id, way> ways;
    const auto* const own = now == nullptr ? nullptr : now->find(now->self);
    for (const auto& [facts, silent] : now == nullptr ? std::vector<store::live_replica>{} : now->live) {
        // At this one's address it is the process before this one, which takes no more connections.
        if (facts.id == now->self || (own != nullptr && !facts.url.empty() && facts.url == own->facts.url)) {
            continue;
        }
        const auto before = ways_.find(facts.id);
        const bool same = before != ways_.end() && before->second.url == facts.url && before->second.entry != nullptr;
        auto found = same ? before->second : way_to(facts, now->tls);
        found.name = facts.name;
        ways.emplace(facts.id, std::move(found));
    }
    ways_.swap(ways);
    for (const auto& [id, before] : ways) {
        const auto stays = [&before](const auto& each) { return each.second.url == before.url; };
        if (before.entry != nullptr && std::ranges::none_of(ways_, stays)) {
            pool_.drop_idle(before.entry->upstream->key);
        }
    }
    give_up_gone();
}

// What ends is resumed, and may be gone then.
void replica_relay::give_up_gone()
{
    decltype(sent_) gone;
    for (auto at = sent_.begin(); at != sent_.end();) {
        auto& each = *at++;
        if (!ways_.contains(each.to)) {
            sent_.erase(sent_.iterator_to(each));
            gone.push_back(each);
        }
    }
    while (!gone.empty()) {
        auto& first = gone.front();
        gone.pop_front();
        first.gone = true;
        if (first.request.passing != nullptr) {
            first.request.passing->end_stream();
        }
    }
}

// An https address is checked as the one that callers use: all replicas have its certificate. No proxy is asked: the replicas are on one
// network.
replica_relay::way replica_relay::way_to(const store::replica_facts& to, const net::tls_context& tls) const
{
    way out{to.name, to.url, nullptr, nullptr};
    const auto at = core::http_url::parse(to.url);
    if (!at || (at->secure && tls == nullptr)) {
        return out;
    }
    auto target = std::make_shared<net::upstream_target>();
    target->host = at->host;
    target->port = at->port;
    target->authority = at->authority();
    target->path = at->path;
    target->key = "replica " + at->origin();
    if (at->secure) {
        const auto own = core::http_url::parse(known_.public_base());
        target->tls = tls;
        target->certified = own ? own->host : at->host;
        target->key += '\n' + target->certified;
    }
    auto entry = std::make_shared<model::agent_entry>();
    entry->upstream = std::move(target);
    entry->call_url = to.url;
    entry->head_timeout = core::mcp_server{}.longest_call + head_start;
    auto quick = std::make_shared<model::agent_entry>(*entry);
    quick->head_timeout = store::replica_life;
    out.entry = std::move(entry);
    out.quick = std::move(quick);
    return out;
}

// Null: the request cannot go there, and its record says why.
const replica_relay::way* replica_relay::find(request_context& request, store::replica_id replica) const
{
    auto& how = request.record.forwarded;
    how = objection(request);
    if (how) {
        return nullptr;
    }
    const auto found = ways_.find(replica);
    if (found == ways_.end()) {
        how = forwarding::gone;
        return nullptr;
    }
    if (found->second.entry == nullptr) {
        how = forwarding::no_url;
        return nullptr;
    }
    how = forwarding::answered;  // until something else is known
    return &found->second;
}

net::routine<>
replica_relay::pass(request_context& request, store::replica_id replica, std::string_view body, core::errc lost)
{
    auto& record = request.record;
    const auto* const to = find(request, replica);
    if (to == nullptr) {
        auto why = core::caller_error(lost, std::string(reason_of(*record.forwarded)));
        co_await respond_call_error(request, std::move(why));
        co_return;
    }
    request.texts.replica = to->name;
    record.replica = request.texts.replica;
    const auto& head = request.caller.head();
    sent_request sent{request, replica};
    sent_.push_back(sent);
    terms of_answer{sent, lost};
    relay::relay_call call;
    const bool soon = is_answered_soon(request);
    call.agent = soon ? to->quick : to->entry;
    call.request.verb = head.verb;
    net::http1::head_writer{call.request.head_text}.request_line(head.verb, head.target);
    net::http1::head_writer{call.request.head_text}.field("Host", head.authority);
    call.request.head = call.request.head_text;
    call.request.body = body;
    call.traits.streaming = head.verb != net::http1::method::delete_;
    call.traits.forwarded = true;
    call.traits.listens = head.verb == net::http1::method::get;
    const auto comments = settings_.timeouts.stream_keep_alive;
    call.times.silence = longest_silence;
    if (comments > core::duration{}) {
        call.times.silence = soon ? 4 * comments : std::max(settings_.timeouts.upstream_idle, 4 * comments);
    }
    call.hooks.repair = &of_answer;
    co_await relays_.forward(request, call);
    if (record.forwarded == forwarding::answered && record.code && record.from != core::side::caller) {
        record.forwarded = forwarding::failed;
    }
}

}  // namespace gateway::request
