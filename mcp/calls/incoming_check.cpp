#include "mcp/calls/incoming_check.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "core/utf8.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view assumed_version = "2025-03-26";  // 2025-06-18, basic/transports, "Protocol Version Header"
constexpr std::string_view encoded_begin = "=?base64?";
constexpr std::string_view encoded_end = "?=";
constexpr std::size_t longest_shown_version = 64;

refusal refused(core::errc code, std::string_view why, std::string said = {})
{
    return {code, {}, why, std::move(said)};
}

// YYYY-MM-DD, of which the order of texts is the order of days.
bool is_date(std::string_view text) noexcept
{
    if (text.size() != 10) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == 4 || i == 7 ? text[i] != '-' : !core::is_digit(text[i])) {
            return false;
        }
    }
    return true;
}

bool is_modern_field(const head_field& version) noexcept
{
    return is_date(version.value) && version.value >= modern_versions.back();
}

// RFC 4648 section 4, with its padding.
std::optional<std::string> from_base64(std::string_view text)
{
    if (text.size() % 4 != 0 || text.find_first_of("-_") != std::string_view::npos) {
        return std::nullopt;
    }
    return core::from_base64(text);
}

bool looks_encoded(std::string_view value) noexcept
{
    return value.size() >= encoded_begin.size() + encoded_end.size() && value.starts_with(encoded_begin) &&
           value.ends_with(encoded_end);
}

bool is_plain(std::string_view value) noexcept
{
    return !looks_encoded(value) && !value.starts_with(' ') && !value.ends_with(' ') &&
           std::ranges::all_of(value, [](char c) { return c >= ' ' && c < '\x7F'; });
}

bool says(const head_field& field, std::string_view text)
{
    if (field.count != 1) {
        return false;
    }
    const auto said = header_text(field.value);
    return said && *said == text;
}

// One request or notification of the modern era against its header.
class modern_check {
public:
    modern_check(const head_fields& head, const incoming& message, std::string_view text)
        : head_{head},
          message_{message},
          text_{text}
    {
    }

    std::optional<refusal> check() const
    {
        const bool request = message_.kind == incoming_kind::request;
        if (auto problem = check_version(request)) {
            return problem;
        }
        std::string room;
        const auto method = message_.text(routed::method, text_, room);
        if ((request || head_.method.count > 0) && !(method && says(head_.method, *method))) {
            return refused(core::errc::header_mismatch, "Mcp-Method is not the method");
        }
        if (!request) {
            return std::nullopt;
        }
        if (!is_object(message_.raw(routed::meta_capabilities, text_))) {
            return refused(core::errc::invalid_params, "_meta lacks clientCapabilities");
        }
        if (!is_modern(message_.method)) {
            return refused(core::errc::method_not_found, "not a method of the modern era");
        }
        return check_name();
    }

private:
    std::optional<refusal> check_version(bool request) const
    {
        std::string room;
        const auto version = message_.text(routed::meta_version, text_, room);
        const bool absent = message_[routed::meta_version].empty();
        if (!version && (request || !absent)) {
            return refused(core::errc::invalid_params, "_meta lacks protocolVersion", version_sentence());
        }
        // A notification may have the version in one of the two places only.
        const bool compared = version && (request || head_.version.count > 0);
        if (head_.version.count > 1 || (compared && (head_.version.count == 0 || head_.version.value != *version))) {
            return refused(core::errc::header_mismatch, "MCP-Protocol-Version is not the version in _meta");
        }
        const auto said = version.value_or(head_.version.value);
        if (era_of(said) == era::modern) {
            return std::nullopt;
        }
        return unsupported(said, era::modern);
    }

    // Clients that know the legacy era alone hear of the version, which the request would not have without the field.
    std::string version_sentence() const
    {
        if (!is_modern_field(head_.version)) {
            return {};
        }
        const std::string version{head_.version.value};
        return head_.session.count > 0
                   ? "MCP-Protocol-Version is " + version +
                         ", but a session speaks the version that its initialize agreed on."
                   : "MCP-Protocol-Version is " + version + ", whose requests name their version in params._meta.";
    }

    std::optional<refusal> check_name() const
    {
        const auto target = target_of(message_.method);
        if (!target) {
            return std::nullopt;
        }
        std::string room;
        const auto name = message_.text(*target, text_, room);
        if (!name && head_.name.count == 0) {
            return refused(core::errc::invalid_params, "params lack the name, uri or taskId of the method");
        }
        if (name && head_.name.count == 0 && *target == routed::task) {
            return std::nullopt;
        }
        if (!name || !says(head_.name, *name)) {
            return refused(core::errc::header_mismatch, "Mcp-Name is not the name, uri or taskId");
        }
        return std::nullopt;
    }

    const head_fields& head_;
    const incoming& message_;
    std::string_view text_;
};

std::optional<refusal> check_modern(const head_fields& head, const incoming_body& body, std::string_view text)
{
    if (body.message.kind == incoming_kind::answer) {
        return refused(core::errc::invalid_request, "an answer in the modern era");
    }
    return modern_check{head, body.message, text}.check();
}

// The fields of a legacy request with any method.
std::optional<refusal> check_fields(const head_fields& head)
{
    if (head.version.count > 1 || head.session.count > 1 || head.event.count > 1) {
        return refused(
            core::errc::bad_request,
            "a field of MCP stands twice",
            "MCP-Protocol-Version, Mcp-Session-Id or Last-Event-ID is given twice."
        );
    }
    if (head.version.count == 1 && era_of(head.version.value) != era::legacy) {
        const auto version = core::cut_utf8(head.version.value, longest_shown_version);
        return refused(
            core::errc::bad_request,
            "an unknown version",
            "MCP-Protocol-Version is '" + std::string{version} + "', which is no version that Cardea speaks."
        );
    }
    return std::nullopt;
}

std::optional<refusal> check_legacy(const head_fields& head, const incoming_body& body)
{
    auto fields = head;
    if (body.message.method == client_method::initialize) {
        fields.version = {};  // the body negotiates it
    }
    return check_fields(fields);
}

}  // namespace

void accepted_types::add(std::string_view value) noexcept
{
    while (!value.empty()) {
        const auto comma = std::min(value.find(','), value.size());
        auto range = value.substr(0, comma);
        value.remove_prefix(std::min(comma + 1, value.size()));
        const auto semicolon = std::min(range.find(';'), range.size());
        auto parameters = range.substr(semicolon);
        range = core::trim(range.substr(0, semicolon));
        bool refused = false;
        while (!parameters.empty()) {
            parameters.remove_prefix(1);
            const auto next = std::min(parameters.find(';'), parameters.size());
            const auto parameter = core::trim(parameters.substr(0, next));
            parameters.remove_prefix(next);
            // A weight of 0, 0.0, 0.00 or 0.000 (RFC 9110 section 12.4.2).
            refused = refused || (parameter.size() > 2 && core::lower(parameter[0]) == 'q' && parameter[1] == '=' &&
                                  parameter.substr(2).find_first_not_of("0.") == std::string_view::npos);
        }
        const auto is = [range](std::string_view name) { return core::equal_ignoring_case(range, name); };
        if (!range.empty() && !std::exchange(stated_, true)) {
            json_.taken = false;
            events_.taken = false;
        }
        if (is("*/*")) {
            apply(json_, 1, !refused);
            apply(events_, 1, !refused);
        }
        if (const bool exact = is("application/json"); exact || is("application/*")) {
            apply(json_, exact ? 3 : 2, !refused);
        }
        if (const bool exact = is("text/event-stream"); exact || is("text/*")) {
            apply(events_, exact ? 3 : 2, !refused);
        }
    }
}

void accepted_types::apply(type& to, std::uint8_t specific, bool taken) noexcept
{
    if (specific >= to.specific) {
        to.taken = taken || (to.taken && specific == to.specific);
        to.specific = specific;
    }
}

era era_of_post(const head_fields& head, const incoming_body& body)
{
    const bool initializes = body.message.method == client_method::initialize;
    const bool in_body = !initializes && !body.message[routed::meta_version].empty();
    return in_body || is_modern_field(head.version) ? era::modern : era::legacy;
}

std::string_view legacy_version(const head_fields& head, std::string_view session_version) noexcept
{
    if (head.version.count > 0) {
        return head.version.value;
    }
    return session_version.empty() ? assumed_version : session_version;
}

std::optional<refusal> check_post(const head_fields& head, const incoming_body& body, std::string_view text)
{
    if (!head.accept.any()) {
        return refused(core::errc::not_acceptable, "Accept excludes JSON and events");
    }
    if (body.problem) {
        return refused(*body.problem, body.why);
    }
    const bool initializes = body.message.method == client_method::initialize;
    if (initializes && body.message.kind != incoming_kind::request) {
        return refused(core::errc::invalid_request, "initialize without an id");
    }
    // With the version in its body too it is a request of the modern era, which has no such method.
    if (initializes && is_modern_field(head.version) && body.message[routed::meta_version].empty()) {
        return unsupported(head.version.value, era::legacy);
    }
    if (stays_open(body.message.method) && !head.accept.events()) {
        return refused(core::errc::not_acceptable, "Accept excludes events, which a subscription is made of");
    }
    return era_of_post(head, body) == era::modern ? check_modern(head, body, text) : check_legacy(head, body);
}

std::optional<refusal> check_get(const head_fields& head)
{
    if (is_modern_field(head.version)) {
        return refused(core::errc::method_not_allowed, "GET in the modern era");
    }
    if (!head.accept.events()) {
        return refused(core::errc::not_acceptable, "Accept excludes events, which the answer to GET is made of");
    }
    return check_fields(head);
}

std::optional<refusal> check_delete(const head_fields& head)
{
    if (is_modern_field(head.version)) {
        return refused(core::errc::method_not_allowed, "DELETE in the modern era");
    }
    return check_fields(head);
}

refusal unsupported(std::string_view version, era spoken)
{
    std::string supported{"["};
    for (const auto each : versions(spoken)) {
        core::append_json_string(supported, each);
        supported += ',';
    }
    close(supported, ']');
    std::string data{"{"};
    append_member(data, "supported", supported);
    append_text_member(data, "requested", core::cut_utf8(version, longest_shown_version));
    close(data, '}');
    return {core::errc::version_unsupported, std::move(data), "a version that is not spoken", {}};
}

std::optional<std::string> header_text(std::string_view value)
{
    if (looks_encoded(value)) {
        value.remove_prefix(encoded_begin.size());
        value.remove_suffix(encoded_end.size());
        auto decoded = from_base64(value);
        return decoded && core::is_utf8(*decoded) ? decoded : std::nullopt;
    }
    return is_plain(value) ? std::optional{std::string{value}} : std::nullopt;
}

std::string header_value(std::string_view text)
{
    if (is_plain(text)) {
        return std::string{text};
    }
    return std::string{encoded_begin} + core::base64(text) + std::string{encoded_end};
}

}  // namespace mcp
