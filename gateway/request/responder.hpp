// Answers callers: writes the answer, and into the record of the request what was answered and what failed. A caller that
// cannot be reached is noted as caller_gone. The requests outlive the routines.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/responses/answer.hpp"
#include "net/http1/head.hpp"
#include "net/loop/routine.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::relay {
struct replaced_answer;
}  // namespace gateway::relay

namespace gateway::request {

struct request_context;
struct route;

constexpr bool reads(net::http1::method verb) noexcept
{
    return verb == net::http1::method::get || verb == net::http1::method::head;
}

// Whether the route takes the method; its function may know better.
bool takes(const route& way, net::http1::method verb) noexcept;

net::routine<> respond(request_context& request, responses::answer answer);

// Notes the failure, then sends `answer`. A caller that has gone is cut off instead; a request that has met a containment gets
// contained_answer(), whatever failed.
net::routine<> respond_error(request_context& request, core::error failure, responses::answer answer);

// An error in the caller's format: error_answer(), or to a caller of HTTP+JSON rest_error_answer().
responses::answer error_in_format(const request_context& request, core::errc code, std::string_view agent);

// Ends an answer that has begun and cannot go on for this reason: by a status, if the caller's protocol has one, else by a cut.
net::routine<> cut_off(request_context& request, core::errc why);

// Answers with error_in_format() of the failure and the agent of the record.
net::routine<> respond_error(request_context& request, core::error failure);

// Answers a JSON-RPC call, with call_error().
net::routine<> respond_call_error(request_context& request, core::error failure);

// Replaces an answer of the agent, which has told its status: a refusal keeps that and the fields that go on. So does a failure, unless
// its caller would give up a session of MCP for it. `challenge`: as relay::call_repair::challenge().
net::routine<> respond_replaced(
    request_context& request,
    core::error failure,
    const relay::replaced_answer& came,
    std::string_view challenge
);

// Answers a request that cannot be translated, as `caller` writes errors.
net::routine<> respond_refusal(request_context& request, ::a2a::dialect caller, const ::a2a::refusal& why);

// Refuses a call that does not name all extensions that its agent requires: `missing` are their URIs, which the answer lists.
net::routine<> respond_extension_required(request_context& request, std::span<const std::string_view> missing);

// 401 with what the providers ask for to an anonymous caller, 403 to one with a credential, with the scopes that it lacks for this
// method; nullopt: for any. The answer to a JSON-RPC call whose id is known has it.
net::routine<> respond_forbidden(request_context& request, std::optional<std::string_view> method = std::nullopt);

// 401 with what the providers ask for, and other failures to say whose request it is. `agent`: the one that is asked for, if it has
// been found, but is not set; it need not outlive the call.
net::routine<> respond_unidentified(request_context& request, core::error failure, const core::agent* agent = nullptr);

// 403 to a request that has met a containment.
net::routine<> respond_contained(request_context& request);

// 429 to a request that is over a limit of `rate` requests a second, which it notes, with that limit
// (draft-ietf-httpapi-ratelimit-headers-11).
net::routine<> respond_limited(request_context& request, model::rate_limit over, std::uint64_t rate);

// 508 to a call that is one too many of its chain, with the limit.
net::routine<> respond_chain_limited(request_context& request, std::string_view limit);

// Refuses a call of A2A to an MCP server.
net::routine<> respond_no_calls(request_context& request);

net::routine<> refuse_method(request_context& request, std::string_view allowed);

// Begins the head of a document in the scratch of the caller: status 304 if the caller has it already, else 200. The
// fields that both have are appended to the result.
std::string& begin_document(request_context& request, bool unchanged);

// Ends that head and sends it; to a caller that does not have the document with `fields`, and with `body` unless the
// method is HEAD. Both outlive the routine.
net::routine<> send_document(request_context& request, std::string_view fields, std::string_view body);

void note_failure(request_context& request, core::error failure);

}  // namespace gateway::request
