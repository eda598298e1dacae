#include "gateway/push/push_request.hpp"

#include "a2a/dialect/push_edit.hpp"
#include "a2a/dialect/rest_target.hpp"
#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/methods.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/url.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/tls_files.hpp"
#include "net/grpc/messages.hpp"
#include "net/grpc/status.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace gateway::push {
namespace {

using core::errc;

// Longest answer of a receiver that is read, so that it is not cut off while it says a little.
constexpr std::uint64_t longest_read = 64 * 1024;

// The raw JSON string as text.
std::string text_of(std::string_view raw)
{
    return raw.size() < 2 ? std::string{} : core::unescape_json(raw.substr(1, raw.size() - 2));
}

bool may_change(unsigned status) noexcept
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

core::result<outgoing_body> make_body(const std::string& notification, ::a2a::generation receiver)
{
    const ::a2a::translation_limits any{.bytes = notification.size()};
    const auto read = ::a2a::read_notification(notification, any);
    if (!read) {
        return core::gateway_error(errc::internal, std::string{read.error().why});
    }
    outgoing_body body;
    const bool update =
        read->kind == ::a2a::event_kind::status_update || read->kind == ::a2a::event_kind::artifact_update;
    if (update && read->version == ::a2a::generation::v1 && receiver == ::a2a::generation::v03) {
        body.missing_task = read->task;
        return body;
    }
    const auto translated = ::a2a::translate_notification(notification, read->version, receiver, body.text);
    if (!translated) {
        const auto& why = translated.error();
        return core::gateway_error(errc::internal, why.member + ": " + std::string{why.why});
    }
    return body;
}

net::fetch_request make_delivery(
    const model::push_receiver& receiver,
    std::string body,
    std::string_view id,
    const config::settings& settings
)
{
    net::fetch_request request;
    request.url = receiver.url;
    request.addresses = std::make_shared<const core::address_rule>(settings.push_allow);
    request.body = std::move(body);
    request.status_only = true;  // a receiver that has taken it does not get it once more for its long or late answer
    request.max_size = longest_read;
    request.timeout = settings.timeouts.push;
    request.connect_timeout = std::min(settings.timeouts.connect, settings.timeouts.push);
    request.headers.emplace_back("Content-Type", "application/json");
    request.headers.emplace_back("Cardea-Delivery", id);
    if (const auto token = text_of(receiver.token); !token.empty()) {
        request.headers.emplace_back("X-A2A-Notification-Token", token);
        request.headers.emplace_back("A2A-Notification-Token", token);
    }
    if (auto authorization = ::a2a::push_authorization(receiver.authentication); !authorization.empty()) {
        request.headers.emplace_back("Authorization", std::move(authorization));
    }
    return request;
}

bool can_be_sent(const net::fetch_request& request)
{
    const auto is_text = [](char c) { return c == '\t' || (c >= ' ' && c != '\x7F') || c < 0; };
    return core::http_url::parse(request.url).has_value() &&
           std::ranges::all_of(request.headers, [&](const auto& field) {
               return std::ranges::all_of(field.second, is_text);
           });
}

namespace {

const ::a2a::protobuf::service_method& get_task()
{
    return *::a2a::protobuf::service_method_for(::a2a::operation::get, ::a2a::generation::v1);
}

// False: the id or the tenant is no text.
bool ask_by_grpc(net::fetch_request& request, std::string_view task, std::string_view tenant)
{
    std::string json = R"({"id":)";
    core::append_json_string(json, task);
    core::append_json_string(json += R"(,"tenant":)", tenant);
    json += '}';
    std::string body(net::grpc::prefix_size, '\0');
    if (!::a2a::protobuf::to_protobuf(*get_task().request, json, {}, body)) {
        return false;
    }
    net::grpc::set_prefix(body, 0);
    request.url.erase(request.url.find_last_not_of('/') + 1);
    request.url += get_task().path;
    request.http2 = true;
    request.headers.emplace_back("Content-Type", "application/grpc");
    request.headers.emplace_back("TE", "trailers");
    request.headers.emplace_back("grpc-accept-encoding", "identity");
    request.body = std::move(body);
    return true;
}

// The task in an answer by gRPC, which is one message. Empty: the answer has none.
std::string task_by_grpc(std::string_view body)
{
    net::grpc::message_reader reader{body.size()};
    const auto part = reader.next(body);
    std::string json;
    const ::a2a::protobuf::codec_options options{.from_agent = true};
    const bool good = part.ends && !reader.compressed() && body.empty() &&
                      ::a2a::protobuf::to_json(*get_task().response, part.data, options, json);
    return good ? json : std::string{};
}

}  // namespace

core::result<net::fetch_request>
make_task_request(const model::agent_entry& agent, std::string_view task, const config::settings& settings)
{
    const auto* to = model::nearest_interface(agent.interfaces, {::a2a::generation::v1, ::a2a::binding::jsonrpc});
    const bool rest = to != nullptr && to->speaks == ::a2a::dialect{::a2a::generation::v1, ::a2a::binding::rest};
    net::fetch_request request;
    request.url = agent.call_url;
    if (to != nullptr && to->speaks.version == ::a2a::generation::v1) {
        request.url = to->at.url;
    }
    request.addresses = agent.addresses;
    request.tls = model::tls_files(agent.record);
    request.proxy = agent.record.proxy;
    request.max_size = settings.limits.push_body;
    request.timeout = settings.timeouts.push;
    request.connect_timeout = std::min(settings.timeouts.connect, settings.timeouts.push);
    request.headers.emplace_back("A2A-Version", "1.0");
    const auto sent = model::credentials_of(agent.record, agent.token.reveal());
    for (const auto& [name, value] : sent.headers) {
        request.headers.emplace_back(name, value.reveal());
    }
    request.query = sent.query.reveal();
    if (rest) {
        ::a2a::rest_target target;
        target.what = ::a2a::operation::get;
        target.version = ::a2a::generation::v1;
        target.tenant = to->at.tenant;
        target.task_id = task;
        request.url.erase(request.url.find_last_not_of('/') + 1);
        if (!::a2a::append_rest_path(request.url, target)) {
            return core::upstream_error(errc::upstream_protocol, "GetTask: no path has this id");
        }
        return request;
    }
    if (to != nullptr && to->speaks == ::a2a::dialect{::a2a::generation::v1, ::a2a::binding::grpc}) {
        if (!ask_by_grpc(request, task, to->at.tenant)) {
            return core::upstream_error(errc::upstream_protocol, "GetTask: no message has this id");
        }
        return request;
    }
    request.headers.emplace_back("Content-Type", "application/json");
    std::string body = R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":)";
    core::append_json_string(body, task);
    body += "}}";
    request.body = std::move(body);
    return request;
}

core::result<std::string> read_task_answer(const net::fetch_response& answer, bool rest)
{
    if (answer.status < 200 || answer.status >= 300) {
        return core::upstream_error(errc::upstream_status, "GetTask: status " + std::to_string(answer.status));
    }
    std::string_view task = answer.body;
    std::string by_grpc;
    if (net::grpc::media_of(answer.field("content-type")) == net::grpc::media::grpc) {
        by_grpc = task_by_grpc(answer.body);
        task = by_grpc;
    } else if (!rest) {
        const auto scanned = core::scan_answer(answer.body);
        const bool has_result = scanned && scanned->kind == core::answer_kind::result;
        task = has_result ? scanned->result : std::string_view{};
    }
    if (!core::count_members(task)) {
        return core::upstream_error(errc::upstream_protocol, "GetTask: the answer has no result");
    }
    std::string text = R"({"task":)";
    text.append(task).append("}");
    return text;
}

std::string_view name(push_end e) noexcept
{
    switch (e) {
        case push_end::delivered:
            return "delivered";
        case push_end::rejected:
            return "rejected";
        case push_end::redirected:
            return "redirected";
        case push_end::forbidden:
            return "forbidden";
        case push_end::unreadable:
            return "unreadable";
        case push_end::exhausted:
            return "exhausted";
        case push_end::expired:
            return "expired";
    }
    return "unreadable";
}

push_verdict judge(const core::result<net::fetch_response>& answer)
{
    push_verdict verdict;
    if (!answer) {
        const auto code = answer.error().code;
        verdict.why = core::name(code);
        if (code == errc::upstream_forbidden) {
            verdict.end = push_end::forbidden;
        }
        return verdict;
    }
    const auto status = answer->status;
    verdict.why = "status " + std::to_string(status);
    if (status >= 200 && status < 300) {
        verdict.end = push_end::delivered;
    } else if (status >= 300 && status < 400) {
        verdict.end = push_end::redirected;
    } else if (may_change(status)) {
        verdict.patience = answer->retry_after();
    } else {
        verdict.end = push_end::rejected;
    }
    return verdict;
}

core::duration pause_after(std::uint64_t attempts, core::duration patience, double random) noexcept
{
    constexpr core::duration first = first_pause;
    constexpr core::duration longest = longest_pause;
    constexpr std::uint64_t most_doublings = 16;
    const auto doublings = std::min(attempts > 0 ? attempts - 1 : 0, most_doublings);
    const auto whole = std::min(first * (1U << doublings), longest);
    const auto less = core::duration{static_cast<core::duration::rep>(static_cast<double>(whole.count()) * random / 2)};
    return std::max(whole - less, std::min(patience, longest));
}

}  // namespace gateway::push
