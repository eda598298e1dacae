#include "gateway/relay/redirects.hpp"

#include "config/url.hpp"
#include "core/url.hpp"
#include "core/utf8.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/relay/agent_exchange.hpp"
#include "net/http1/head_writer.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace gateway::relay {
namespace {

constexpr std::size_t longest_location = 200;

bool keeps_method(unsigned status) noexcept
{
    return status == 307 || status == 308;
}

bool has_no_body(const net::http1::response_head& head) noexcept
{
    return head.body == net::http1::framing::none ||
           (head.body == net::http1::framing::length && head.content_length == 0);
}

// Where the answer leads, if that is on the agent's origin.
std::optional<std::string> path_within_origin(const relay_call& call, const net::http1::response_head& head)
{
    const auto* location = net::http1::find(head.fields, "Location");
    const auto origin = core::origin_of(call.agent->call_url);
    if (location == nullptr || origin.empty()) {
        return std::nullopt;
    }
    const auto line = call.request.head.substr(0, call.request.head.find("\r\n"));
    const auto at = line.find(' ') + 1;
    auto target =
        core::http_url::parse(core::resolved(origin + std::string{line.substr(at, line.rfind(' ') - at)}, *location));
    return target && target->origin() == origin ? std::optional{std::move(target->path)} : std::nullopt;
}

// Without user and fragment, and with its query masked: they may be credentials.
std::string shown_location(std::string_view location)
{
    location = location.substr(0, location.find('#'));
    const auto path = location.substr(0, location.find('?'));
    const auto host = path.find("//");
    const auto user = host == path.npos ? path.npos : path.substr(0, path.find('/', host + 2)).rfind('@');
    if (user == path.npos || user < host) {
        return config::shown_url(location);
    }
    return std::string{location.substr(0, host + 2)} + config::shown_url(location.substr(user + 1));
}

}  // namespace

bool redirects::follow(relay_call& call, const net::http1::response_head& head)
{
    if (call.moved != nullptr && (head.status == 404 || head.status == 405)) {
        call.moved->forget(call.agent->record.id);
    }
    // A path below `relay_paths` may lead beyond them. Of a body that passes, the agent has got a part.
    if (!keeps_method(head.status) || !may_follow() || call.traits.opaque || call.request.passed) {
        return false;
    }
    auto path = path_within_origin(call, head);
    if (!path) {
        return false;
    }
    ++count_;
    permanent_ = permanent_ && head.status == 308;
    // An agent may repeat the query of its URL, which goes along in any case.
    path_ = core::without_parameters(std::move(*path), call.agent->query_key.reveal());
    call.request.set_head(head_at(call, path_));
    // A query could be of this caller alone.
    if (call.moved != nullptr && permanent_ && path_.find('?') == std::string::npos) {
        call.moved->set(*call.agent, path_);
    }
    return true;
}

bool redirects::follow(relay_call& call, agent_exchange& agent)
{
    const bool follows = follow(call, agent.head());
    if (follows && has_no_body(agent.head())) {
        agent.side().consume_head();
        agent.give_back();
    } else if (follows) {
        agent.discard();
    }
    return follows;
}

std::string unfollowed_redirect(const relay_call& call, const net::http1::response_head& head)
{
    auto text = "status " + std::to_string(head.status);
    if (!keeps_method(head.status)) {
        text += " (only 307 and 308 are followed)";
    } else if (!call.traits.opaque) {
        const auto most = call.agent->record.mcp ? redirects::most_of_message : redirects::most_of_call;
        text += " (followed only within the origin, at most " + std::to_string(most) + " times)";
    }
    if (const auto* location = net::http1::find(head.fields, "Location")) {
        const auto secrets = model::secrets_of(call.agent->record, {call.agent->token.reveal()});
        text += "; Location: ";
        text += core::cut_utf8(secrets.apply(shown_location(*location), longest_location), longest_location);
    }
    return text;
}

std::string head_at(const relay_call& call, const std::string& path)
{
    std::string text;
    net::http1::head_writer{text}.request_line(call.request.verb, model::with_query(path, call.agent->query_key));
    text += call.request.head.substr(call.request.head.find("\r\n") + 2);
    return text;
}

}  // namespace gateway::relay
