#include "gateway/grpc/outcome.hpp"

#include "a2a/dialect/error.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/grpc/head_lines.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::grpc {
namespace {

using ::a2a::generation;
using core::grpc_code;

constexpr std::string_view a2a_domain = "a2a-protocol.org";
constexpr std::string_view own_domain = "cardea";
constexpr int gateways_own = -31000;  // codes that hold the status of HTTP (core/error.hpp)
// Peers take some kilobytes of trailers.
constexpr std::size_t most_metadata = 16;
constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_value = 256;
constexpr std::size_t longest_message = 1024;

// The names of errors that SDKs of 0.3 write and read.
struct named_error {
    int code;
    std::string_view name;
};
constexpr std::array names_of_03{
    named_error{::a2a::rpc_code::parse_error, "JSONParseError"},
    named_error{::a2a::rpc_code::invalid_request, "InvalidRequestError"},
    named_error{::a2a::rpc_code::method_not_found, "MethodNotFoundError"},
    named_error{::a2a::rpc_code::invalid_params, "InvalidParamsError"},
    named_error{::a2a::rpc_code::internal_error, "InternalError"},
    named_error{::a2a::rpc_code::task_not_found, "TaskNotFoundError"},
    named_error{::a2a::rpc_code::task_not_cancelable, "TaskNotCancelableError"},
    named_error{::a2a::rpc_code::push_not_supported, "PushNotificationNotSupportedError"},
    named_error{::a2a::rpc_code::unsupported_operation, "UnsupportedOperationError"},
    named_error{::a2a::rpc_code::content_type_not_supported, "ContentTypeNotSupportedError"},
    named_error{::a2a::rpc_code::invalid_agent_response, "InvalidAgentResponseError"},
    named_error{::a2a::rpc_code::extended_card_not_configured, "AuthenticatedExtendedCardNotConfiguredError"},
    named_error{::a2a::rpc_code::extension_support_required, "ExtensionSupportRequiredError"},
    named_error{::a2a::rpc_code::version_not_supported, "VersionNotSupportedError"},
};

// In front of the message for a caller of 0.3.
void name_error(net::grpc::status& of, int code, generation version)
{
    const auto* const row = std::ranges::find(names_of_03, code, &named_error::code);
    if (version == generation::v03 && row != names_of_03.end()) {
        of.message.insert(0, std::string{row->name} + ": ");
    }
}

// Whole characters of the text, at most so many bytes.
std::string cut(std::string text, std::size_t most)
{
    if (text.size() > most) {
        while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) {
            --most;
        }
        text.resize(most);
    }
    return text;
}

// The members of an object as raw text.
template <class Each>
void each_member(std::string_view raw, Each each)
{
    core::json_cursor<core::wide_bytes> at{raw, core::json_cursor<core::wide_bytes>::deepest};
    at.skip_space();
    if (at.peek() == '{') {
        static_cast<void>(at.object([&](std::string_view name, bool, std::string_view value) {
            each(name, value);
            return true;
        }));
    }
}

std::string_view member(std::string_view raw, std::string_view wanted)
{
    std::string_view found;
    each_member(raw, [&](std::string_view name, std::string_view value) {
        if (name == wanted) {
            found = value;
        }
    });
    return found;
}

// The first element of an array with this type.
std::string_view detail_in(std::string_view array, std::string_view type)
{
    const auto all = core::scan_elements(array, most_metadata);
    if (!all) {
        return {};
    }
    for (const auto each : all->raw) {
        if (text_of(member(each, "@type")).ends_with(type)) {
            return each;
        }
    }
    return {};
}

// The metadata of an error: those of its ErrorInfo, or the gateway's own data.
void add_metadata(net::grpc::error_info& info, std::string_view error)
{
    auto details = member(error, "details");
    details = details.empty() ? member(error, "data") : details;
    const bool listed = details.starts_with('[');
    const auto metadata = listed ? member(detail_in(details, "/google.rpc.ErrorInfo"), "metadata") : details;
    each_member(metadata, [&](std::string_view name, std::string_view value) {
        const bool says = listed || name != "code";
        if (says && value.starts_with('"') && info.metadata.size() < most_metadata) {
            info.metadata.emplace_back(
                cut(core::unescape_json(name), longest_name),
                cut(text_of(value), longest_value)
            );
        }
    });
}

grpc_code code_of(int code, ::a2a::error_profile profile)
{
    return core::grpc_code_named(::a2a::status_of(code, profile).grpc).value_or(grpc_code::internal);
}

core::error_edition edition_of(::a2a::error_profile profile) noexcept
{
    return profile == ::a2a::error_profile::v1_0_0 ? core::error_edition::v1_0_0 : core::error_edition::v1_0_1;
}

// The name that an SDK of 0.3 has put in front of a message: its code, without the name.
std::optional<int> take_name(std::string& message)
{
    for (const auto& [code, name] : names_of_03) {
        if (message.starts_with(name) && message.substr(name.size()).starts_with(':')) {
            message.erase(0, name.size() + 1);
            message.erase(0, message.find_first_not_of(' '));
            return code;
        }
    }
    return std::nullopt;
}

::a2a::agent_error read_error(unsigned http, std::string_view body, const outcome_terms& terms)
{
    const auto dialect = as_json(terms.version);
    if (dialect.over == ::a2a::binding::rest) {
        const ::a2a::exchange how{dialect, dialect, terms.what, terms.what};
        return ::a2a::read_rest_error(http, body, how);
    }
    const auto error = member(body, "error");
    if (member(error, "code").empty() || member(body, "jsonrpc").empty()) {
        ::a2a::agent_error none;
        none.code = http < 300 ? ::a2a::rpc_code::invalid_agent_response : gateways_own - static_cast<int>(http);
        return none;
    }
    return ::a2a::read_rpc_error(error, terms.version);
}

// A call by gRPC is no JSON that could be broken.
std::string_view sentence_of(core::errc code) noexcept
{
    return code == core::errc::parse_error ? "The message is not valid in protocol buffers." : core::message(code);
}

int number_of(core::errc code) noexcept
{
    return code == core::errc::parse_error ? ::a2a::rpc_code::invalid_request : core::jsonrpc_code(code);
}

}  // namespace

std::string text_of(std::string_view raw)
{
    const bool quoted = raw.size() >= 2 && raw.front() == '"';
    return quoted ? core::unescape_json(raw.substr(1, raw.size() - 2)) : std::string{raw};
}

std::optional<net::grpc::status> status_in(std::string_view lines)
{
    constexpr std::array<std::string_view, 3> wanted{"grpc-status", "grpc-message", "grpc-status-details-bin"};
    std::array<std::string_view, wanted.size()> found;
    bool said = false;
    while (!lines.empty()) {
        const auto line = take_line(lines);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (!names(line, wanted[i])) {
                continue;
            }
            if (i == 0 && std::exchange(said, true)) {
                return std::nullopt;
            }
            found[i] = found[i].empty() ? value_in(line, wanted[i]) : found[i];
        }
    }
    return net::grpc::read_status(found[0], found[1], found[2]);
}

std::optional<core::errc> own_code(std::string_view name) noexcept
{
    const auto rows = core::error_rows();
    const auto at = std::ranges::find(rows, name, &core::error_row::name);
    return at == rows.end() ? std::nullopt : std::optional{at->code};
}

net::grpc::status own_status(core::errc code, std::string_view agent, const outcome_terms& terms)
{
    const int number = number_of(code);
    const auto reason = ::a2a::reason_of(number);
    net::grpc::status out;
    out.code = core::grpc_status(code, edition_of(terms.profile));
    out.message = sentence_of(code);
    out.info.reason = reason.empty() ? core::name(code) : reason;
    out.info.domain = reason.empty() ? own_domain : a2a_domain;
    if (!agent.empty()) {
        out.info.metadata.emplace_back("agent", agent);
    }
    name_error(out, number, terms.version);
    return out;
}

net::grpc::status
status_of_json(unsigned http, std::string_view body, std::optional<core::errc> own, const outcome_terms& terms)
{
    const auto error = member(body, "error");
    const auto object = error.starts_with('{') ? error : body;
    if (own) {
        auto out = own_status(*own, {}, terms);
        if (*own == core::errc::upstream_status && http >= 400) {
            out.code = core::grpc_code_of_http(http);  // the agent's
        }
        if (auto said = text_of(member(object, "message")); !said.empty() && *own != core::errc::parse_error) {
            out.message = cut(std::move(said), longest_message);
            name_error(out, number_of(*own), terms.version);
        }
        add_metadata(out.info, object);
        if (const auto agent = text_of(member(object, "agent")); !agent.empty()) {
            out.info.metadata.emplace_back("agent", agent);
        }
        return out;
    }
    const auto from = read_error(http, body, terms);
    net::grpc::status out;
    const bool by_http = from.code <= gateways_own && from.code > gateways_own - 1'000;
    out.code = by_http ? core::grpc_code_of_http(static_cast<unsigned>(gateways_own - from.code))
                       : code_of(from.code, terms.profile);
    out.message =
        from.message.empty() ? std::string{::a2a::message_of(from.code)} : cut(text_of(from.message), longest_message);
    out.info.reason = ::a2a::reason_of(from.code);
    if (!out.info.reason.empty()) {
        out.info.domain = a2a_domain;
        add_metadata(out.info, object);
    }
    name_error(out, from.code, terms.version);
    return out;
}

json_error json_of_status(const net::grpc::status& from, const outcome_terms& agent, std::string_view id)
{
    auto message = from.message;
    auto code = ::a2a::code_of_reason(from.info.reason);
    if (const auto named = take_name(message); named && !code) {
        code = named;
    }
    json_error out;
    out.http = core::http_status(from.code);
    if (!code) {
        code = ::a2a::code_of_status(out.http, core::name(from.code), agent.what);
    }
    const bool rpc = as_json(agent.version).over == ::a2a::binding::jsonrpc;
    if (rpc) {
        out.body.append(R"({"jsonrpc":"2.0","id":)").append(id.empty() ? "null" : id).append(R"(,"error":)");
    }
    core::json_writer json{out.body, '{'};
    json.member("code", *code);
    json.member("message", std::string_view{message});
    if (!from.info.reason.empty()) {
        json.name("data");
        json.open(rpc ? '[' : '{');
        if (rpc) {
            json.open('{');
            json.member("@type", "type.googleapis.com/google.rpc.ErrorInfo");
        }
        json.member("reason", std::string_view{from.info.reason});
        json.member("domain", std::string_view{from.info.domain});
        json.name("metadata");
        json.open('{');
        for (const auto& [key, value] : from.info.metadata) {
            json.key(key);
            json.value(std::string_view{value});
        }
        json.close('}');
        json.close('}');
        if (rpc) {
            json.close(']');
        }
    }
    json.close('}');
    out.body += rpc ? "}" : "";
    return out;
}

}  // namespace gateway::grpc
