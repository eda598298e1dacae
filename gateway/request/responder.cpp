#include "gateway/request/responder.hpp"

#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/error.hpp"
#include "core/ascii.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/grpc/caller_messages.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/well_known.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/request/contained_answer.hpp"
#include "gateway/request/replica_relay.hpp"
#include "gateway/request/request_context.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <variant>

namespace gateway::request {
namespace {

// An MCP server has answered 401 or 403.
constexpr std::string_view operator_login =
    "The MCP server asks who is calling. Its operator can give Cardea `credentials` for it, or let callers log in with "
    "`caller_credentials: [Authorization]`.";
constexpr std::string_view caller_login =
    "The MCP server asks who is calling. The field WWW-Authenticate says where callers log in.";
constexpr std::string_view refused_login = "The MCP server refuses the credential that Cardea has for it.";
constexpr std::string_view not_allowed = "The MCP server does not allow this to Cardea.";

std::string_view words_of_login(const core::agent& record, unsigned status)
{
    const bool shows_one = !record.bearer.empty() || !std::holds_alternative<std::monostate>(record.credentials) ||
                           std::ranges::any_of(record.headers, [](const auto& each) {
                               return core::equal_ignoring_case(each.first, "authorization");
                           });
    return status == 403 ? not_allowed : shows_one ? refused_login : operator_login;
}

// Callers that were refused at once do not come back at once.
std::uint64_t soon()
{
    thread_local std::minstd_rand engine{std::random_device{}()};
    return std::uniform_int_distribution<std::uint64_t>{1, 3}(engine);
}

void note_first_byte(request_context& request)
{
    request.record.first_byte = std::chrono::steady_clock::now() - request.caller.started();
}

// An agent may repeat what it was given to keep.
std::string shown_detail(const request_context& request, core::error failure)
{
    if (failure.from != core::side::upstream || !request.agent || failure.detail.empty()) {
        return std::move(failure.detail);
    }
    return model::secrets_of(request.agent->record, {request.agent->token.reveal()}).apply(failure.detail);
}

// 1.0 has a list of details as the data of an error of A2A (specification 1.0.1 section 9.5), and 0.3 anything.
bool has_details(const request_context& request, core::errc code)
{
    const auto method = request.record.rpc_method;
    const bool of_1 = method && ::a2a::generation_of(*method) == ::a2a::generation::v1;
    return of_1 && !request.errors.call_id.empty() && !request.record.agent.empty() &&
           !::a2a::reason_of(core::jsonrpc_code(code)).empty();
}

responses::answer detailed_answer(const request_context& request, core::errc code)
{
    const auto number = core::jsonrpc_code(code);
    auto body = R"({"jsonrpc":"2.0","id":)" + request.errors.call_id + R"(,"error":{"code":)" + std::to_string(number);
    core::append_json_string(body += R"(,"message":)", core::message(code));
    body += R"(,"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":)";
    core::append_json_string(body, ::a2a::reason_of(number));
    core::append_json_string(body += R"(,"domain":"a2a-protocol.org","metadata":{"agent":)", request.record.agent);
    body += "}}]}}";
    return responses::refusal_answer(code, core::jsonrpc_http_status(code), std::move(body));
}

// Answers a call of A2A, in the format of its caller.
responses::answer answer_to_call(const request_context& request, core::errc code)
{
    if (request.errors.format == error_format::rest) {
        return error_in_format(request, code, request.record.agent);
    }
    if (has_details(request, code)) {
        return detailed_answer(request, code);
    }
    return responses::call_error(code, request.record.agent, request.errors.call_id);
}

bool is_mcp(const request_context& request) noexcept
{
    using enum error_format;
    return request.errors.format == mcp || request.errors.format == mcp_session || request.errors.format == mcp_bundle;
}

// Answers any call, in the format of its caller.
responses::answer answer_to_failure(const request_context& request, const core::error& failure)
{
    if (!is_mcp(request)) {
        return answer_to_call(request, failure.code);
    }
    auto answer = responses::mcp_error_answer(failure.code, request.record.agent, request.errors.call_id);
    if (!request.record.replica.empty() && failure.from == core::side::upstream) {
        answer.body = unanswered_body(request, failure.code);
    }
    const bool refused = failure.code == core::errc::session_not_found || core::http_status(failure.code) == 503;
    const bool admitted = failure.from == core::side::upstream && !refused;
    const auto status = core::http_status(failure.code);
    const bool ends_session = status == 404 || status >= 500 || failure.from == core::side::upstream;
    const bool of_member =
        request.errors.format == error_format::mcp_bundle && !request.record.agent.empty() && ends_session;
    const bool stays = of_member || (request.errors.format == error_format::mcp_session && admitted);
    if (stays && !request.errors.call_id.empty()) {
        answer.status = 200;
    }
    return answer;
}

// `record` as access::protected_resource has it.
access::protected_resource resource_of(const request_context& request, const core::agent* record)
{
    // An agent that the caller may not know of is named as one that does not exist.
    return {
        .agent = request.record.agent.empty() ? request.to.agent : request.record.agent,
        .below = request.to.where == model::route::mcp      ? model::mcp_path
                 : request.to.where == model::route::bundle ? request.to.below
                                                            : std::string_view{},
        .host = request.origin ? request.origin->host : std::string_view{},
        .record = record
    };
}

core::errc code_of(const ::a2a::refusal& why) noexcept
{
    using core::errc;
    switch (why.code) {
        case ::a2a::rpc_code::parse_error:
            return errc::parse_error;
        case ::a2a::rpc_code::invalid_request:
            return errc::invalid_request;
        case ::a2a::rpc_code::method_not_found:
            return errc::method_not_found;
        case ::a2a::rpc_code::unsupported_operation:
            return errc::operation_unsupported;
        default:
            return errc::invalid_params;
    }
}

}  // namespace

responses::answer error_in_format(const request_context& request, core::errc code, std::string_view agent)
{
    return request.errors.format == error_format::rest
               ? responses::rest_error_answer(code, agent, request.errors.rest_version, request.errors.profile)
               : responses::error_answer(code, agent);
}

bool takes(const route& way, net::http1::method verb) noexcept
{
    return way.methods.empty() ||
           (reads(verb) ? way.methods == reading_methods : verb == net::http1::method::post && way.methods == posting);
}

net::routine<> respond(request_context& request, responses::answer answer)
{
    request.record.status = answer.status;
    note_first_byte(request);
    auto sent = co_await responses::send_answer(request.caller, std::move(answer));
    if (!sent) {
        if (request.grpc != nullptr) {
            co_await cut_off(request, sent.error().code);
        }
        note_failure(request, std::move(sent).error());
    }
}

net::routine<> cut_off(request_context& request, core::errc why)
{
    if (request.grpc != nullptr && why != core::errc::caller_gone) {
        co_await request.grpc->end(why);
    } else {
        request.caller.cut();
    }
}

net::routine<> respond_error(request_context& request, core::error failure, responses::answer answer)
{
    if (request.contained && failure.code != core::errc::caller_gone) {
        failure = contained_failure(request);
        answer = contained_answer(request);
        request.errors.shed = false;
    }
    const auto code = failure.code;
    if (code == core::errc::circuit_open && request.agent && request.agent->breaker) {
        const auto now = request.caller.owner().now();
        responses::set_retry_after(answer, responses::retry_after(now, model::again_at(*request.agent, now)));
    }
    if (request.errors.shed) {
        responses::set_retry_after(answer, soon());
    }
    note_failure(request, std::move(failure));
    if (code == core::errc::caller_gone) {
        request.caller.cut();
        co_return;
    }
    co_await respond(request, std::move(answer));
}

net::routine<> respond_error(request_context& request, core::error failure)
{
    auto answer = error_in_format(request, failure.code, request.record.agent);
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> respond_call_error(request_context& request, core::error failure)
{
    auto answer = answer_to_failure(request, failure);
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> respond_replaced(
    request_context& request,
    core::error failure,
    const relay::replaced_answer& came,
    std::string_view challenge
)
{
    auto answer = answer_to_failure(request, failure);
    const bool mcp = is_mcp(request);
    const bool asks_who = came.status == 401 || came.status == 403;
    const bool fails_call =
        answer.status == 200 && (came.status >= 500 || request.errors.format == error_format::mcp_bundle);
    if (mcp && asks_who) {
        const auto said = challenge.empty() ? words_of_login(request.agent->record, came.status) : caller_login;
        answer.body = core::jsonrpc_error_body(request.errors.call_id, failure.code, request.record.agent, said);
    }
    if (mcp) {
        responses::add_upstream_status(answer.body, came.status);
    } else if (core::passes(came.status)) {
        responses::set_retryable(answer.body);
    }
    // Who the gateway is to an MCP server is of no concern to callers, unless they log in.
    if (mcp && asks_who && !challenge.empty()) {
        answer.status = came.status;
        answer.fields += challenge;
    } else if (!(mcp && asks_who)) {
        // For gRPC any other status is an unknown error, as 500 is (doc/http-grpc-status-mapping.md).
        const unsigned other = request.grpc == nullptr ? answer.status : 500;
        answer.status = came.status >= 400 && !fails_call ? came.status : other;
        answer.fields += came.fields;
    }
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> respond_refusal(request_context& request, ::a2a::dialect caller, const ::a2a::refusal& why)
{
    std::string body;
    ::a2a::answer_options options;
    options.id = request.errors.call_id;
    options.profile = request.errors.profile;
    const auto code = code_of(why);
    const auto status = ::a2a::append_refusal(body, caller, options, why);
    auto detail = why.member.empty() ? std::string{why.why} : why.member + ' ' + std::string{why.why};
    return respond_error(
        request,
        core::caller_error(code, std::move(detail)),
        responses::refusal_answer(code, status, std::move(body))
    );
}

net::routine<> respond_extension_required(request_context& request, std::span<const std::string_view> missing)
{
    constexpr auto code = core::errc::extension_required;
    auto answer = answer_to_call(request, code);
    const bool rest = request.errors.format == error_format::rest;
    if (rest ? request.errors.rest_version == ::a2a::generation::v1 : has_details(request, code)) {
        // The metadata of an ErrorInfo has strings (google/rpc/error_details.proto), and is its last member.
        std::string all;
        for (const auto uri : missing) {
            all.append(all.empty() ? "" : ", ").append(uri);
        }
        std::string member = R"(,"missing":)";
        core::append_json_string(member, all);
        constexpr std::size_t brackets = std::string_view{"}}]}}"}.size();
        answer.body.insert(answer.body.size() - brackets, member);
    } else {
        std::string list = R"(,"missing":[)";
        for (const auto uri : missing) {
            core::append_json_string(list += list.ends_with('[') ? "" : ",", uri);
        }
        // Behind the last member of the error's `data`, or of the error itself to a notification.
        const std::size_t brackets = rest || request.errors.call_id.empty() ? 2 : 3;
        answer.body.insert(answer.body.size() - brackets, list + ']');
    }
    return respond_error(request, core::caller_error(code), std::move(answer));
}

net::routine<> respond_forbidden(request_context& request, std::optional<std::string_view> method)
{
    const auto* const caller = request.principal();
    if (caller == nullptr) {
        return respond_unidentified(request, core::caller_error(core::errc::unauthenticated, "no credential"));
    }
    if (method) {
        request.texts.denied_method = *method;
    }
    auto failure = core::caller_error(core::errc::forbidden);
    auto answer = answer_to_failure(request, failure);
    if (request.sender.access && request.way->needs == identity::registrant) {
        const std::vector<std::string> needed{core::scope_register};
        answer.fields += request.sender.access->scope_challenge({}, *caller, needed);
    } else if (request.sender.access && request.agent) {
        const auto& record = request.agent->record;
        answer.fields += request.sender.access->scope_challenge(resource_of(request, &record), *caller, method);
    }
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> respond_unidentified(request_context& request, core::error failure, const core::agent* agent)
{
    const bool as_a2x =
        request.errors.uses_a2x_errors && failure.code == core::errc::unauthenticated && request.sender.owner;
    // A request with two credentials is told which; its detail names no more than where they are.
    const bool explains = failure.code == core::errc::bad_request;
    auto answer =
        as_a2x ? responses::a2x_unauthenticated_answer(request.errors.call_id) : answer_to_call(request, failure.code);
    if (explains && request.errors.format == error_format::rest) {
        answer = responses::rest_error_answer(
            failure.code,
            {},
            request.errors.rest_version,
            request.errors.profile,
            failure.detail
        );
    } else if (explains) {
        answer = responses::explained_answer(failure.code, failure.detail);
    }
    if (failure.code == core::errc::unauthenticated) {
        const auto* const record = request.agent ? &request.agent->record : agent;
        answer.fields +=
            request.sender.access->challenges(/*refused=*/!request.sender.owner, resource_of(request, record));
    }
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> respond_contained(request_context& request)
{
    return respond_error(request, contained_failure(request), contained_answer(request));
}

net::routine<> respond_limited(request_context& request, model::rate_limit over, std::uint64_t rate)
{
    constexpr auto code = core::errc::rate_limited;
    request.record.over = over;
    auto answer = answer_to_call(request, code);
    const auto policy = '"' + std::string{model::name(over)} + '"';
    net::http1::head_writer head{answer.fields};
    head.field("RateLimit-Policy", policy + ";q=" + std::to_string(rate) + ";w=1");
    head.field("RateLimit", policy + ";r=0;t=1");  // at least one a second: the next token comes within it
    return respond_error(
        request,
        core::caller_error(code, "over rate_limits." + policy.substr(1, policy.size() - 2)),
        std::move(answer)
    );
}

net::routine<> respond_chain_limited(request_context& request, std::string_view limit)
{
    auto failure = core::caller_error(core::errc::chain_limited, "over chains." + std::string{limit});
    auto answer = answer_to_failure(request, failure);
    responses::add_to_data(answer.body, "limit", limit);
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> respond_no_calls(request_context& request)
{
    auto failure = core::gateway_error(core::errc::not_implemented, "a call of A2A to an MCP server");
    auto answer = responses::no_calls_answer(request.record.agent, request.errors.call_id);
    return respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> refuse_method(request_context& request, std::string_view allowed)
{
    constexpr auto code = core::errc::method_not_allowed;
    auto answer = error_in_format(request, code, {});
    net::http1::head_writer{answer.fields}.field("Allow", allowed);
    return respond_error(request, core::caller_error(code), std::move(answer));
}

std::string& begin_document(request_context& request, bool unchanged)
{
    request.record.status = unchanged ? 304 : 200;
    auto& text = request.caller.scratch();
    responses::begin_head(text, request.caller, request.record.status);
    return text;
}

net::routine<> send_document(request_context& request, std::string_view fields, std::string_view body)
{
    const bool whole = request.record.status == 200;
    auto& text = request.caller.scratch();
    if (whole) {
        text += fields;
    }
    request.caller.complete_head(text, net::answer_length::untold());  // `fields` tell it
    net::answer_part all{.head = text, .last = true};
    if (whole && request.caller.head().verb != net::http1::method::head) {
        all.body.add(body);
    }
    note_first_byte(request);
    auto sent = co_await request.caller.send(all);
    if (!sent) {
        note_failure(request, std::move(sent).error());
    }
}

bool request_context::open_to_anyone() const
{
    return !sender.access || sender.access->may_discover(agent->record, nullptr);
}

void request_context::set_agent(std::shared_ptr<const model::agent_entry> entry)
{
    agent = std::move(entry);
    record.agent = agent->record.id;
}

void note_failure(request_context& request, core::error failure)
{
    const auto code = failure.code;
    request.record.code = code;
    request.record.from = failure.from;
    request.texts.detail = shown_detail(request, std::move(failure));
    request.record.detail = request.texts.detail;
    if (code == core::errc::caller_gone) {
        request.record.status = core::http_status(code);
    }
}

}  // namespace gateway::request
