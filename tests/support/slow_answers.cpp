#include "tests/support/slow_calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

namespace tests {
namespace {

using a2a::operation;
using nlohmann::json;

const std::string info_type = "type.googleapis.com/google.rpc.ErrorInfo";
const std::string struct_type = "type.googleapis.com/google.protobuf.Struct";
const std::string value_type = "type.googleapis.com/google.protobuf.Value";

struct known_error {
    int code;
    std::string reason;
    unsigned http_0;  // of the profile 1.0.0
    std::string grpc_0;
    unsigned http_1;  // of 1.0.1
    std::string grpc_1;
};

// Specification 1.0.0 and 1.0.1 section 5.4, and section 5.1 of JSON-RPC 2.0.
const std::array<known_error, 14> known{{
    {-32001, "TASK_NOT_FOUND", 404, "NOT_FOUND", 404, "NOT_FOUND"},
    {-32002, "TASK_NOT_CANCELABLE", 409, "FAILED_PRECONDITION", 400, "FAILED_PRECONDITION"},
    {-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", 400, "UNIMPLEMENTED", 400, "FAILED_PRECONDITION"},
    {-32004, "UNSUPPORTED_OPERATION", 400, "UNIMPLEMENTED", 400, "FAILED_PRECONDITION"},
    {-32005, "CONTENT_TYPE_NOT_SUPPORTED", 415, "INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"},
    {-32006, "INVALID_AGENT_RESPONSE", 502, "INTERNAL", 500, "INTERNAL"},
    {-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", 400, "FAILED_PRECONDITION", 400, "FAILED_PRECONDITION"},
    {-32008, "EXTENSION_SUPPORT_REQUIRED", 400, "FAILED_PRECONDITION", 400, "FAILED_PRECONDITION"},
    {-32009, "VERSION_NOT_SUPPORTED", 400, "UNIMPLEMENTED", 400, "FAILED_PRECONDITION"},
    {-32700, "", 400, "INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"},
    {-32600, "", 400, "INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"},
    {-32602, "", 400, "INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"},
    {-32601, "", 404, "UNIMPLEMENTED", 404, "UNIMPLEMENTED"},
    {-32603, "", 500, "INTERNAL", 500, "INTERNAL"},
}};

std::string grpc_name(unsigned http)
{
    static const std::map<unsigned, std::string> names{
        {401, "UNAUTHENTICATED"},
        {403, "PERMISSION_DENIED"},
        {404, "NOT_FOUND"},
        {429, "RESOURCE_EXHAUSTED"},
        {503, "UNAVAILABLE"},
        {504, "DEADLINE_EXCEEDED"}
    };
    const auto at = names.find(http);
    return at != names.end() ? at->second : (http < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}

std::pair<unsigned, std::string> status_for(int code, a2a::error_profile profile)
{
    if (code <= -31400 && code >= -31599) {
        const auto http = static_cast<unsigned>(-31000 - code);
        return {http, grpc_name(http)};
    }
    for (const auto& each : known) {
        if (each.code == code) {
            return profile == a2a::error_profile::v1_0_0 ? std::pair{each.http_0, each.grpc_0}
                                                         : std::pair{each.http_1, each.grpc_1};
        }
    }
    return {500, "INTERNAL"};
}

// docs/protocol-profile.md, "Errors".
int code_for_status(unsigned http, const std::string& grpc, operation what)
{
    const bool push = what == operation::create_push || what == operation::get_push || what == operation::list_push ||
                      what == operation::delete_push;
    if (grpc == "INVALID_ARGUMENT" && http != 415) {
        return -32602;
    }
    if (grpc == "UNIMPLEMENTED" || http == 501) {
        return push ? -32003 : -32004;
    }
    const bool names_task = what != operation::list && what != operation::extended_card;
    static const std::map<unsigned, int> plain{
        {400, -32602},
        {422, -32602},
        {405, -32601},
        {415, -32005},
        {502, -32006},
        {401, -31401},
        {403, -31403},
        {429, -31429},
        {503, -31503},
        {504, -31504}
    };
    if (http == 404) {
        return names_task ? -32001 : -32601;
    }
    if (http == 409) {
        return what == operation::cancel ? -32002 : -32004;
    }
    const auto at = plain.find(http);
    return at == plain.end() ? -32603 : at->second;
}

// Null: absent, or no object.
json at(const json& object, const char* name)
{
    return object.is_object() && object.contains(name) ? object.at(name) : json{};
}

json text_at(const json& object, const char* name)
{
    auto value = at(object, name);
    return value.is_string() ? value : json{};
}

std::optional<int> integer_of(const json& value)
{
    if (!value.is_number_integer()) {
        return std::nullopt;
    }
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    return fits ? std::optional{value.get<int>()} : std::nullopt;
}

// By the reason of the first detail of A2A whose reason is one of A2A's.
std::optional<int> code_in(const json& details)
{
    for (const auto& each : details.is_array() ? details : json::array()) {
        if (at(each, "domain") != "a2a-protocol.org") {
            continue;
        }
        for (const auto& one : known) {
            if (!one.reason.empty() && at(each, "reason") == one.reason) {
                return one.code;
            }
        }
    }
    return std::nullopt;
}

bool speaks_of_access(const json& message)
{
    auto text = message.is_string() ? message.get<std::string>() : std::string{};
    std::ranges::transform(text, text.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return text.find("auth") != std::string::npos;
}

}  // namespace

slow_answers::slow_answers(const a2a::exchange& how, a2a::error_profile profile)
    : slow_dialect{a2a::shape_of(how.agent), a2a::shape_of(how.caller), /*from_agent=*/true},
      how_{how},
      profile_{profile}
{
    without_history = how.without_history;
}

slow_answers::error slow_answers::rpc_error(const json& value) const
{
    error made;
    made.message = text_at(value, "message");
    const auto data = at(value, "data");
    (how_.agent.version == a2a::generation::v1 && data.is_array() ? made.details : made.data) = data;
    const auto code = integer_of(at(value, "code"));
    made.code = code ? *code : code_in(made.details).value_or(-32603);
    return made;
}

slow_answers::error slow_answers::rest_error(unsigned status, const json& value) const
{
    error made;
    if (!value.is_object()) {
        made.code = code_for_status(status, {}, how_.asked);
        return made;
    }
    const auto inner = at(value, "error").is_object() ? at(value, "error") : value;
    made.message = text_at(inner, "message");
    for (const char* name : {"error", "detail"}) {
        made.message = made.message.is_null() ? text_at(value, name) : made.message;
    }
    made.details = at(inner, "details").is_array() ? at(inner, "details") : json{};
    made.data = at(inner, "data");
    const int said = integer_of(at(inner, "code")).value_or(0);
    if (const auto code = code_in(made.details)) {
        made.code = *code;
    } else if (said < 0) {
        made.code = said;
    } else {
        const bool says_status = status < 400 && said >= 400 && said < 600;
        const auto grpc = text_at(inner, "status");
        made.code = code_for_status(
            says_status ? static_cast<unsigned>(said) : status,
            grpc.is_null() ? std::string{} : grpc.get<std::string>(),
            how_.asked
        );
    }
    return made;
}

json slow_answers::details_of(const error& what, int code) const
{
    if (!what.details.is_null()) {
        return what.details;
    }
    json made = json::array();
    for (const auto& each : known) {
        if (each.code == code && !each.reason.empty()) {
            made.push_back({{"@type", info_type}, {"reason", each.reason}, {"domain", "a2a-protocol.org"}});
        }
    }
    if (!what.data.is_null()) {
        made.push_back({{"@type", what.data.is_object() ? struct_type : value_type}, {"value", what.data}});
    }
    return made.empty() ? json{} : made;
}

// `code`, `message` and `data`: JSON-RPC of both generations, and HTTP+JSON of 0.3.
json slow_answers::object_of(const error& what, int code) const
{
    json made{{"code", code}, {"message", what.message}};
    json data = what.data;
    if (!is_old(to_)) {
        data = details_of(what, code);
    } else if (data.is_null()) {
        json info;
        bool kept = false;
        for (const auto& each : what.details.is_array() ? what.details : json::array()) {
            const auto type = at(each, "@type");
            if (type == struct_type || type == value_type) {
                kept = each.contains("value");
                data = at(each, "value");
            } else if (type == info_type) {
                info = each;
            }
        }
        if (kept) {
            made["data"] = data;
            return made;
        }
        data = at(info, "reason").is_null() ? json{} : json{{"reason", at(info, "reason")}};
        if (!data.is_null() && !at(info, "metadata").is_null()) {
            data["metadata"] = at(info, "metadata");
        }
    }
    if (!data.is_null()) {
        made["data"] = data;
    }
    return made;
}

json slow_answers::said(const error& what) const
{
    int code = what.code;
    // 0.3 leaves these two to servers.
    if (!is_old(to_) && is_old(from_) && what.details.is_null() && (code == -32008 || code == -32009)) {
        code = speaks_of_access(what.message) ? -31401 : -32603;
    }
    const auto [http, grpc] = status_for(code, profile_);
    if (how_.caller.over == a2a::binding::jsonrpc) {
        return {{"error", object_of(what, code)}};
    }
    if (is_old(to_)) {
        return {{"status", http}, {"body", object_of(what, code)}};
    }
    json made{{"code", http}, {"status", grpc}, {"message", what.message}};
    const auto details = details_of(what, code);
    if (!details.is_null()) {
        made["details"] = details;
    }
    return {{"status", http}, {"body", {{"error", made}}}};
}

// A push notification configuration of a task.
json slow_answers::config(const json& value)
{
    if (from_ == to_) {
        return value;
    }
    if (!value.is_object()) {
        return refuse();
    }
    json task;
    json made;
    std::string name_id;
    if (!is_old(from_)) {
        task = get(value, {"taskId"});
        get(value, {"tenant"});
        made = push(value);
    } else {
        task = from_ == a2a::body_shape::types ? get(value, {"taskId"}) : json{};
        if (from_ == a2a::body_shape::proto) {
            const auto name = get(value, {"name"});
            const auto text = name.is_string() ? name.get<std::string>() : std::string{};
            const std::string collection = "/pushNotificationConfigs";
            const auto found = text.find(collection, 6);
            const auto behind = found + collection.size();
            const bool good = text.starts_with("tasks/") && found != std::string::npos && found > 6 &&
                              (behind == text.size() || text[behind] == '/');
            if (!good) {
                return refuse();
            }
            task = text.substr(6, found - 6);
            name_id = behind < text.size() ? text.substr(behind + 1) : std::string{};
        }
        made = push(get(value, {"pushNotificationConfig"}));
        if (!refused_ && !made.contains("id") && !name_id.empty()) {
            made["id"] = name_id;
        }
    }
    if (refused_ || !task.is_string()) {
        return refuse();
    }
    if (!is_old(to_)) {
        made["taskId"] = task;
        return made;
    }
    const auto id = task.get<std::string>();
    if (to_ == a2a::body_shape::types) {
        return {{"taskId", id}, {"pushNotificationConfig", made}};
    }
    return {
        {"name", "tasks/" + id + "/pushNotificationConfigs/" + made.value("id", id)},
        {"pushNotificationConfig", made}
    };
}

json slow_answers::configs(const json& value)
{
    json list = value;
    json token;
    if (from_ != a2a::body_shape::types) {
        if (!value.is_object()) {
            return refuse();
        }
        list = get(value, {"configs"});
        list = list.is_null() ? json::array() : list;
        token = text(value, "nextPageToken");
    }
    if (!list.is_array() || refused_) {
        return refuse();
    }
    if (how_.first_config) {
        return list.empty() ? refuse() : config(list.front());
    }
    json made = json::array();
    for (const auto& each : list) {
        made.push_back(config(each));
    }
    if (to_ == a2a::body_shape::types) {
        return made;
    }
    json pages{{"configs", made}};
    if (!token.is_null()) {
        pages["nextPageToken"] = token;
    }
    return pages;
}

json slow_answers::result(const json& value)
{
    switch (how_.asked) {
        case operation::get:
        case operation::cancel:
            if (from_ != to_) {
                return task(value);
            }
            return text_at(value, "id").is_null() || !at(value, "status").is_object() ? refuse() : value;
        case operation::create_push:
            return config(value);
        case operation::get_push:
            return how_.first_config ? configs(value) : config(value);
        case operation::list_push:
            return configs(value);
        case operation::delete_push:
            return to_ == a2a::body_shape::types ? json{} : json::object();
        default:
            return value;
    }
}

std::optional<json> slow_answers::translate(unsigned status, const json& body)
{
    const bool success = status >= 200 && status < 300;
    json value = body;
    if (how_.agent.over == a2a::binding::jsonrpc) {
        const auto failure = at(body, "error");
        const bool has_result =
            body.is_object() && body.contains("result") && !(body["result"].is_null() && !failure.is_null());
        const bool empty = failure.is_null() && !has_result;
        const bool response = body.is_object() && has_result == failure.is_null();
        if (!success && !response) {
            return said(rest_error(status, body));
        }
        if (!body.is_object() || (!response && !(empty && how_.asked == operation::delete_push))) {
            return std::nullopt;
        }
        if (!failure.is_null()) {
            return said(rpc_error(failure));
        }
        value = has_result ? body["result"] : json{};
    } else if (!success) {
        return said(rest_error(status, body));
    }
    const auto made = result(value);
    if (refused_) {
        return std::nullopt;
    }
    return how_.caller.over == a2a::binding::jsonrpc ? json{{"result", made}} : json{{"status", 200}, {"body", made}};
}

}  // namespace tests
