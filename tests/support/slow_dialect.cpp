// over 600 lines: one translator, which the real one is compared with.
#include "tests/support/slow_dialect.hpp"

#include "a2a/dialect/timestamp.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tests {
namespace {

using nlohmann::json;

std::string snake(std::string_view camel)
{
    std::string out;
    for (const char c : camel) {
        if (std::isupper(static_cast<unsigned char>(c)) != 0) {
            out += '_';
        }
        out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

std::string folded(std::string word, const std::string& prefix)
{
    std::ranges::transform(word, word.begin(), [](char c) {
        return c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return word.starts_with(prefix) && word.size() > prefix.size() ? word.substr(prefix.size()) : word;
}

const std::array<std::string, 9> states{
    "unknown",
    "submitted",
    "working",
    "completed",
    "failed",
    "canceled",
    "input-required",
    "rejected",
    "auth-required"
};

// The state in the words of 0.3 JSON-RPC.
std::string state_of(const json& value)
{
    if (value.is_number_integer() && value >= 0 && value < 9) {
        return states.at(value.get<std::size_t>());
    }
    if (!value.is_string()) {
        return "unknown";
    }
    const auto word = folded(value.get<std::string>(), "task-state-");
    if (word == "cancelled") {
        return "canceled";
    }
    return std::ranges::find(states, word) == states.end() ? "unknown" : word;
}

std::string state_in(const std::string& state, a2a::body_shape shape)
{
    if (shape == a2a::body_shape::types) {
        return state;
    }
    if (state == "unknown") {
        return "TASK_STATE_UNSPECIFIED";
    }
    if (state == "canceled" && shape == a2a::body_shape::proto) {
        return "TASK_STATE_CANCELLED";
    }
    std::string out = "TASK_STATE_";
    for (const char c : state) {
        out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return out;
}

void put(json& object, const char* name, json value)
{
    if (!value.is_null()) {
        object[name] = std::move(value);
    }
}

bool is_empty_text(const json& value)
{
    return value.is_string() && value.get_ref<const std::string&>().empty();
}

std::string base64(std::string text)
{
    static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=";
    if (text.find_first_not_of(letters) != std::string::npos) {
        return text;
    }
    std::ranges::replace(text, '-', '+');
    std::ranges::replace(text, '_', '/');
    while (text.size() % 4 > 1) {
        text += '=';
    }
    return text;
}

bool is_whole(const json& value)
{
    if (value.is_number_integer()) {
        return true;
    }
    if (!value.is_string()) {
        return false;
    }
    auto digits = value.get<std::string>();
    digits = digits.substr(digits.starts_with('-') ? 1 : 0);
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos &&
           (digits.size() == 1 || digits.front() != '0');
}

}  // namespace

json slow_dialect::get(const json& object, std::initializer_list<std::string_view> names, bool null_counts)
{
    json found;
    bool any = false;
    const auto look = [&](const std::string& name) {
        const auto at = object.find(name);
        if (at == object.end() || (at->is_null() && !null_counts)) {
            return;
        }
        refused_ = refused_ || any;
        any = true;
        found = *at;
    };
    for (const auto name : names) {
        look(std::string{name});
        if (from_ != a2a::body_shape::types && snake(name) != name) {
            look(snake(name));
        }
    }
    return found;
}

json slow_dialect::text(const json& object, std::string_view name, bool must_be_filled)
{
    auto found = get(object, {name});
    if (!found.is_null() && !found.is_string()) {
        return refuse();
    }
    return must_be_filled && is_empty_text(found) ? json{} : found;
}

json slow_dialect::texts(const json& object, std::string_view name)
{
    auto found = get(object, {name});
    if (found.is_null()) {
        return found;
    }
    const auto is_text = [](const json& each) { return each.is_string(); };
    if (!found.is_array() || !std::ranges::all_of(found, is_text)) {
        return refuse();
    }
    return found.empty() ? json{} : found;
}

json slow_dialect::object(const json& object, std::string_view name)
{
    auto found = get(object, {name});
    return found.is_null() || found.is_object() ? found : refuse();
}

json slow_dialect::flag(const json& object, std::string_view name)
{
    auto found = get(object, {name});
    return found.is_null() || found.is_boolean() ? found : refuse();
}

// The members of 1.0 that say it.
json slow_dialect::file(const json& value)
{
    if (!value.is_object()) {
        return refuse();
    }
    const bool types = from_ == a2a::body_shape::types;
    const auto bytes = types ? get(value, {"bytes", "fileWithBytes"}) : get(value, {"fileWithBytes"});
    const auto uri = types ? get(value, {"uri", "fileWithUri"}) : get(value, {"fileWithUri"});
    if (bytes.is_null() == uri.is_null() || !(bytes.is_null() ? uri : bytes).is_string()) {
        return refuse();
    }
    json out = json::object();
    put(out, "raw", bytes);
    put(out, "url", uri);
    put(out, "mediaType", text(value, "mimeType"));
    put(out, "filename", text(value, "name"));
    return out;
}

json slow_dialect::data(const json& value, json& metadata)
{
    json found = value;
    if (from_ == a2a::body_shape::proto) {
        if (!value.is_object()) {
            return refuse();
        }
        found = get(value, {"data"});
        found = found.is_null() ? json::object() : found;
    }
    if (!found.is_object()) {
        return refuse();
    }
    const bool flagged = metadata.is_object() && metadata.value("data_part_compat", json{}) == true;
    if (!is_old(to_) && flagged && found.size() == 1 && found.contains("value")) {
        metadata.erase("data_part_compat");
        metadata = metadata.empty() ? json{} : metadata;
        return json{{"data", found["value"]}};
    }
    return json{{"data", found}};
}

json slow_dialect::part(const json& value)
{
    if (!value.is_object()) {
        return refuse();
    }
    auto metadata = object(value, "metadata");
    json made = json::object();
    std::string kind;
    int contents = 0;
    for (const std::string name : {"text", "file", "data", "raw", "url"}) {
        const bool old_name = name == "file";
        const bool new_name = name == "raw" || name == "url";
        if ((is_old(from_) && new_name) || (!is_old(from_) && old_name)) {
            continue;
        }
        const bool present = value.contains(name) && (!value[name].is_null() || (name == "data" && !is_old(from_)));
        if (!present) {
            continue;
        }
        ++contents;
        kind = name;
        if (old_name) {
            made = file(value[name]);
        } else if (name == "data" && is_old(from_)) {
            made = data(value[name], metadata);
        } else {
            made[name] = value[name];
            refused_ = refused_ || (name != "data" && !value[name].is_string());
        }
    }
    if (contents != 1) {
        return refuse();
    }
    if (from_ == a2a::body_shape::types && value.contains("kind") && !value["kind"].is_null() &&
        value["kind"] != kind) {
        return refuse();
    }
    if (!is_old(from_)) {
        put(made, "mediaType", text(value, "mediaType"));
        put(made, "filename", text(value, "filename"));
    }
    if (refused_) {
        return nullptr;
    }
    if (made.contains("raw")) {
        made["raw"] = base64(made["raw"].get<std::string>());
    }
    json out = json::object();
    if (!is_old(to_)) {
        out = made;
    } else if (made.contains("text")) {
        out["text"] = made["text"];
    } else if (made.contains("data")) {
        auto inner = made["data"];
        if (!inner.is_object()) {
            inner = json{{"value", inner}};
            metadata = metadata.is_null() ? json::object() : metadata;
            metadata["data_part_compat"] = true;
        }
        out["data"] = to_ == a2a::body_shape::types ? inner : json{{"data", inner}};
    } else {
        const bool types = to_ == a2a::body_shape::types;
        auto& inner = out["file"];
        if (made.contains("raw")) {
            inner[types ? "bytes" : "fileWithBytes"] = made["raw"];
        } else {
            inner[types ? "uri" : "fileWithUri"] = made["url"];
        }
        put(inner, "mimeType", made.value("mediaType", json{}));
        put(inner, "name", made.value("filename", json{}));
    }
    if (to_ == a2a::body_shape::types) {
        out["kind"] = out.contains("file") ? "file" : (out.contains("data") ? "data" : "text");
    }
    put(out, "metadata", metadata);
    return out;
}

json slow_dialect::parts(const json& object, std::string_view name)
{
    const auto found = get(object, {name});
    if (found.is_null()) {
        return from_agent_ ? json::array() : refuse();
    }
    if (!found.is_array()) {
        return refuse();
    }
    json out = json::array();
    for (const auto& each : found) {
        out.push_back(part(each));
    }
    return out;
}

json slow_dialect::message(const json& value)
{
    if (!value.is_object()) {
        return refuse();
    }
    const auto role = get(value, {"role"});
    std::string who;
    if (role.is_string()) {
        who = folded(role.get<std::string>(), "role-");
    } else if (role.is_number_integer()) {
        who = role == 1 ? "user" : (role == 2 ? "agent" : "");
    }
    if (who != "user" && who != "agent") {
        if (!from_agent_) {
            return refuse();
        }
        who = "agent";
    }
    json out = json::object();
    put(out, "messageId", text(value, "messageId", false));
    put(out, "contextId", text(value, "contextId"));
    put(out, "taskId", text(value, "taskId"));
    put(out, "metadata", object(value, "metadata"));
    put(out, "extensions", texts(value, "extensions"));
    const auto references = texts(value, "referenceTaskIds");
    if (to_ == a2a::body_shape::proto) {
        refused_ = refused_ || (!references.is_null() && !from_agent_);
    } else {
        put(out, "referenceTaskIds", references);
    }
    out["role"] = to_ == a2a::body_shape::types ? who : (who == "user" ? "ROLE_USER" : "ROLE_AGENT");
    out[to_ == a2a::body_shape::proto ? "content" : "parts"] =
        parts(value, from_ == a2a::body_shape::proto ? "content" : "parts");
    if (to_ == a2a::body_shape::types) {
        out["kind"] = "message";
    }
    return out;
}

json slow_dialect::status(const json& value, std::string& state)
{
    state = "unknown";
    json out = json::object();
    if (!value.is_null() && !value.is_object()) {
        return refuse();
    }
    const json from = value.is_null() ? json::object() : value;
    state = state_of(get(from, {"state"}));
    out["state"] = state_in(state, to_);
    const auto said = from_ == a2a::body_shape::proto ? get(from, {"message", "update"}) : get(from, {"message"});
    if (!said.is_null()) {
        out["message"] = message(said);
    }
    const auto time = get(from, {"timestamp"});
    if (time.is_string() && to_ == a2a::body_shape::types) {
        out["timestamp"] = time;
    } else if (time.is_string()) {
        // One implementation of times: tests/data/dialect/times.json judges it.
        std::string normal;
        if (a2a::append_timestamp(normal, time.dump())) {
            out["timestamp"] = json::parse(normal);
        }
    }
    return out;
}

json slow_dialect::artifact(const json& value)
{
    if (!value.is_object()) {
        return refuse();
    }
    json out = json::object();
    put(out, "artifactId", text(value, "artifactId", false));
    put(out, "name", text(value, "name"));
    put(out, "description", text(value, "description"));
    put(out, "metadata", object(value, "metadata"));
    put(out, "extensions", texts(value, "extensions"));
    out["parts"] = parts(value, "parts");
    return out;
}

json slow_dialect::task(const json& value)
{
    if (!value.is_object()) {
        return refuse();
    }
    const auto id = get(value, {"id"});
    if (!id.is_string()) {
        return refuse();
    }
    json out{{"id", id}};
    auto context = text(value, "contextId");
    put(out, "contextId", context.is_null() && is_old(to_) ? id : context);
    std::string state;
    out["status"] = status(get(value, {"status"}), state);
    for (const std::string name : {"artifacts", "history"}) {
        const auto list = get(value, {name});
        if (list.is_null() || (name == "history" && without_history)) {
            continue;
        }
        if (!list.is_array()) {
            return refuse();
        }
        for (const auto& each : list) {
            out[name].push_back(name == "history" ? message(each) : artifact(each));
        }
    }
    put(out, "metadata", object(value, "metadata"));
    if (to_ == a2a::body_shape::types) {
        out["kind"] = "task";
    }
    return out;
}

json slow_dialect::update(const json& value, bool of_status)
{
    if (!value.is_object()) {
        return refuse();
    }
    const auto id = get(value, {"taskId"});
    if (!id.is_string()) {
        return refuse();
    }
    json out{{"taskId", id}};
    auto context = text(value, "contextId");
    put(out, "contextId", context.is_null() && is_old(to_) ? id : context);
    put(out, "metadata", object(value, "metadata"));
    if (of_status) {
        std::string state;
        out["status"] = status(get(value, {"status"}), state);
        if (is_old(to_)) {
            out["final"] = state == "completed" || state == "failed" || state == "canceled" || state == "rejected" ||
                           state == "input-required";
        }
    } else {
        out["artifact"] = artifact(get(value, {"artifact"}));
        put(out, "append", flag(value, "append"));
        put(out, "lastChunk", flag(value, "lastChunk"));
    }
    if (to_ == a2a::body_shape::types) {
        out["kind"] = of_status ? "status-update" : "artifact-update";
    }
    return out;
}

std::optional<json> slow_dialect::event(const json& value)
{
    if (!value.is_object()) {
        return std::nullopt;
    }
    static const std::array<std::pair<std::string, std::string>, 4> kinds{{
        {"task", "task"},
        {"message", "message"},
        {"status-update", "statusUpdate"},
        {"artifact-update", "artifactUpdate"},
    }};
    std::string wrapper;
    json inner = value;
    if (from_ == a2a::body_shape::types) {
        std::string kind;
        if (value.contains("kind")) {
            kind = value["kind"].is_string() ? value["kind"].get<std::string>() : "";
        } else if (value.contains("artifact")) {
            kind = "artifact-update";
        } else if (value.contains("messageId") || value.contains("parts")) {
            kind = "message";
        } else if (value.contains("status")) {
            kind = value.contains("taskId") ? "status-update" : "task";
        }
        for (const auto& each : kinds) {
            wrapper = each.first == kind ? each.second : wrapper;
        }
    } else {
        for (const auto& each : kinds) {
            const bool message = each.second == "message" && from_ == a2a::body_shape::proto;
            const auto found = message ? get(value, {"message", "msg"}) : get(value, {each.second});
            if (!found.is_null()) {
                refused_ = refused_ || !wrapper.empty();
                wrapper = each.second;
                inner = found;
            }
        }
    }
    if (wrapper.empty()) {
        return std::nullopt;
    }
    json out;
    if (wrapper == "task") {
        out = task(inner);
    } else if (wrapper == "message") {
        out = message(inner);
    } else {
        out = update(inner, wrapper == "statusUpdate");
    }
    if (refused_) {
        return std::nullopt;
    }
    return to_ == a2a::body_shape::types ? out : json{{wrapper, out}};
}

json slow_dialect::push(const json& value)
{
    if (!value.is_object()) {
        return refuse();
    }
    json out = json::object();
    put(out, "id", text(value, "id"));
    put(out, "url", text(value, "url", false));
    put(out, "token", text(value, "token"));
    const auto authentication = get(value, {"authentication"});
    if (authentication.is_null()) {
        return out;
    }
    if (!authentication.is_object()) {
        return refuse();
    }
    json scheme;
    if (is_old(from_)) {
        const auto schemes = texts(authentication, "schemes");
        scheme = schemes.is_null() ? json{} : schemes.front();
        scheme = is_empty_text(scheme) ? json{} : scheme;
    } else {
        scheme = text(authentication, "scheme");
    }
    const auto credentials = text(authentication, "credentials");
    if (scheme.is_null()) {
        return credentials.is_null() ? out : refuse();
    }
    auto& made = out["authentication"];
    if (is_old(to_)) {
        made["schemes"] = json::array({scheme});
    } else {
        made["scheme"] = scheme;
    }
    put(made, "credentials", credentials);
    return out;
}

json slow_dialect::configuration(const json& value)
{
    if (!value.is_null() && !value.is_object()) {
        return refuse();
    }
    const json from = value.is_null() ? json::object() : value;
    json out = json::object();
    put(out, "acceptedOutputModes", texts(from, "acceptedOutputModes"));
    auto length = get(from, {"historyLength"});
    if (!length.is_null() && !is_whole(length)) {
        return refuse();
    }
    length = length.is_string() ? json::parse(length.get<std::string>()) : length;
    const bool zero = length.is_number_integer() && length == 0;
    const bool means_all = from_ == a2a::body_shape::proto || to_ == a2a::body_shape::proto;
    put(out, "historyLength", zero && means_all ? json{} : length);
    const auto said = flag(from, is_old(from_) ? "blocking" : "returnImmediately");
    const bool silence_waits = from_ != a2a::body_shape::proto || value.is_null();
    const bool waits = said.is_null() ? silence_waits : said.get<bool>() == is_old(from_);
    if (is_old(to_)) {
        out["blocking"] = waits;
    } else if (!waits) {
        out["returnImmediately"] = true;
    }
    const auto name = [](a2a::body_shape shape) {
        switch (shape) {
            case a2a::body_shape::types:
                return "pushNotificationConfig";
            case a2a::body_shape::proto:
                return "pushNotification";
            case a2a::body_shape::v1:
                break;
        }
        return "taskPushNotificationConfig";
    };
    const auto config = get(from, {name(from_)});
    if (!config.is_null()) {
        out[name(to_)] = push(config);
    }
    return out;
}

std::optional<json> slow_dialect::send_params(const json& value)
{
    if (!value.is_object()) {
        return std::nullopt;
    }
    json out = json::object();
    const auto said = from_ == a2a::body_shape::proto ? get(value, {"message", "request"}) : get(value, {"message"});
    out["message"] = message(said);
    auto made = configuration(get(value, {"configuration"}));
    put(out, "configuration", made.empty() ? json{} : made);
    put(out, "metadata", object(value, "metadata"));
    if (!is_old(from_)) {
        auto tenant = text(value, "tenant");
        put(out, "tenant", is_old(to_) ? json{} : tenant);
    }
    if (refused_) {
        return std::nullopt;
    }
    return out;
}

}  // namespace tests
