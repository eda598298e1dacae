#include "gateway/request/cross_origin.hpp"

#include "config/values.hpp"
#include "core/ip.hpp"
#include "core/url.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>

namespace gateway::request {
namespace {

using net::http1::field_name;

constexpr std::string_view any_port = ":*";

// Scheme, host and port of an http or https origin; empty: the text is another one, or has more.
std::string normalised(std::string_view origin)
{
    const auto scheme = origin.find("://");
    if (scheme == std::string_view::npos || origin.find_first_of("/?#@\\ ", scheme + 3) != std::string_view::npos) {
        return {};
    }
    return core::origin_of(origin);
}

bool is_loopback(std::string_view origin)
{
    const auto url = core::http_url::parse(origin);
    if (!url) {
        return false;
    }
    if (url->host == "localhost") {
        return true;
    }
    static const auto four = core::parse_ip_block("127.0.0.0/8");
    static const auto six = core::parse_ip_block("::1");
    const auto address = core::parse_ip(url->host);
    return address && ((four && four->contains(*address)) || (six && six->contains(*address)));
}

// `http` is normalised.
bool fits(std::string_view listed, std::string_view http)
{
    if (http.empty()) {
        return false;
    }
    if (listed.ends_with(any_port)) {
        listed.remove_suffix(any_port.size());
        return core::origin_of(listed) == core::origin_of(http.substr(0, http.rfind(':')));
    }
    return core::origin_of(listed) == http;
}

std::string fields_for(std::string_view origin)
{
    std::string fields;
    net::http1::head_writer out{fields};
    out.field("Access-Control-Allow-Origin", origin);
    out.field(
        "Access-Control-Expose-Headers",
        "A2A-Version, A2A-Extensions, Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, "
        "Cardea-Error, ETag"
    );
    return fields;
}

}  // namespace

origin_verdict judge_origin(std::string_view origin, unsigned count, const origin_policy& policy)
{
    if (count == 0) {
        return origin_verdict::none;
    }
    if (count > 1 || origin.empty() || origin == "null") {
        return origin_verdict::forbidden;
    }
    const auto http = normalised(origin);
    const auto is_it = [&http](const std::string& each) { return !http.empty() && core::origin_of(each) == http; };
    if (std::ranges::any_of(policy.own, is_it)) {
        return origin_verdict::own;
    }
    // Pages of other schemes, such as extensions of browsers, are listed as browsers name them.
    const auto is_listed = [&](const std::string& each) {
        return fits(each, http) || (each == origin && !origin.ends_with(any_port));
    };
    if (std::ranges::any_of(policy.listed, is_listed) || std::ranges::any_of(policy.also, is_listed)) {
        return origin_verdict::listed;
    }
    const bool loopback = policy.loopback_listener && !http.empty() && is_loopback(http);
    return loopback ? origin_verdict::loopback : origin_verdict::forbidden;
}

origin_verdict cross_origin::note(request_context& request) const
{
    std::string_view origin;
    unsigned count = 0;
    for (const auto& field : request.caller.head().fields) {
        if (field.id == field_name::origin) {
            origin = field.value;
            ++count;
        }
    }
    const bool lists = !settings_.cors.origins.empty() || !settings_.mcp.origins.empty();
    if (count == 0) {
        if (lists) {
            request.caller.set_answer_fields("Vary: Origin\r\n");
        }
        return origin_verdict::none;
    }
    const auto here = own_origin(request);
    const auto verdict = judge_origin(
        origin,
        count,
        {.own = {request.origin ? &here : &known_.public_base(), 1},
         .loopback_listener = config::is_loopback(settings_.listen),
         .listed = settings_.cors.origins,
         .also = settings_.mcp.origins}
    );
    if (verdict == origin_verdict::listed || verdict == origin_verdict::loopback) {
        auto fields = fields_for(origin);
        fields += settings_.cors.credentials ? "Access-Control-Allow-Credentials: true\r\n" : "";
        request.caller.set_answer_fields(fields + "Vary: Origin\r\n");
    } else if (lists) {
        request.caller.set_answer_fields("Vary: Origin\r\n");
    }
    return verdict;
}

bool cross_origin::publishes(bool asks_callers) const noexcept
{
    switch (settings_.cors.documents) {
        case core::public_documents::automatic:
            return asks_callers;
        case core::public_documents::anyone:
            return true;
        case core::public_documents::listed:
            break;
    }
    return false;
}

std::optional<net::routine<>>
cross_origin::answer_preflight(request_context& request, origin_verdict page, bool asks_callers) const
{
    const auto& head = request.caller.head();
    if (head.verb != net::http1::method::options || page == origin_verdict::none ||
        net::http1::find(head.fields, "Access-Control-Request-Method") == nullptr) {
        return std::nullopt;
    }
    if (page == origin_verdict::forbidden) {
        // For every agent alike, whether or not the page's user may know of it.
        if (!request.way->is_document || !publishes(asks_callers)) {
            return respond_call_error(request, core::caller_error(core::errc::origin_forbidden));
        }
        request.caller.set_answer_fields(fields_for("*"));
    }
    responses::answer answer;
    answer.status = 204;
    net::http1::head_writer out{answer.fields};
    const auto methods = request.way->page_methods;
    out.field("Allow", methods);
    out.field("Access-Control-Allow-Methods", methods);
    if (const auto* asked = net::http1::find(head.fields, "Access-Control-Request-Headers")) {
        // Which of them go on is decided with the request itself.
        out.field("Access-Control-Allow-Headers", *asked);
    }
    out.field("Access-Control-Max-Age", "600");
    return respond(request, std::move(answer));
}

void cross_origin::publish(request_context& request) const
{
    if (!publishes(request.sender.access != nullptr) || request.caller.answer_fields().starts_with("Access-Control")) {
        return;
    }
    if (request.way->needs == identity::of_agent) {
        const bool of_server = request.to.where == model::route::directory;
        const auto* known = request.agent_visible ? known_.find(request.to.agent, request.lookup) : nullptr;
        // An agent of another kind may answer there by its `relay_paths`.
        if (known == nullptr || (of_server && known->entry->record.speaks != core::protocol::mcp) ||
            (request.sender.access && !request.sender.access->may_discover(known->entry->record, nullptr))) {
            return;
        }
    }
    request.caller.set_answer_fields(fields_for("*") + std::string{request.caller.answer_fields()});
}

}  // namespace gateway::request
