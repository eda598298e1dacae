#include "tests/support/slow_calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tests {
namespace {

using a2a::operation;
using nlohmann::json;

std::string percent_decoded(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = [&](std::size_t at) {
            return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
        };
        if (text[i] == '%' && digit(i + 1) && digit(i + 2)) {
            out += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

// `page_size` is `pageSize`.
std::string camel_case(const std::string& name)
{
    std::string out;
    bool up = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool joint =
            name[i] == '_' && i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1])) != 0;
        if (joint) {
            up = true;
            continue;
        }
        out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[i]))) : name[i];
        up = false;
    }
    return out;
}

json number_of(const json& value)
{
    return value.is_string() ? json::parse(value.get<std::string>()) : value;
}

bool is_whole_number(const json& value)
{
    if (value.is_number_integer()) {
        return true;
    }
    if (!value.is_string()) {
        return false;
    }
    const auto parsed = json::parse(value.get<std::string>(), nullptr, /*allow_exceptions=*/false);
    const auto text = value.get<std::string>();
    return text.find_first_not_of("-0123456789") == std::string::npos && parsed.is_number();
}

void put(json& object, const std::string& name, const json& value)
{
    if (!value.is_null()) {
        object[name] = value;
    }
}

bool is_push(operation what)
{
    return what == operation::get_push || what == operation::list_push || what == operation::delete_push;
}

bool names_task(operation what)
{
    return what != operation::list && what != operation::extended_card;
}

bool names_config(operation what)
{
    return what == operation::get_push || what == operation::delete_push;
}

// Readers that decode paths, or take them apart, would see more in it.
bool is_plain_segment(const std::string& text)
{
    return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos &&
           text.find('\\') == std::string::npos && text.find('\0') == std::string::npos;
}

}  // namespace

slow_requests::slow_requests(a2a::dialect caller, a2a::dialect agent, a2a::operation what)
    : slow_dialect{a2a::shape_of(caller), a2a::shape_of(agent), /*from_agent=*/false},
      caller_{caller},
      agent_{agent},
      what_{what}
{
}

// The members that the caller's generation gives the request (a2a.proto of 1.0.1; types.ts of 0.3.0, where all tasks have one form).
void slow_requests::read(const json& said)
{
    if (!said.is_object()) {
        refuse();
        return;
    }
    if (is_old(from_)) {
        in_.task = get(said, {"id", "taskId"});
        in_.config = get(said, {"pushNotificationConfigId"});
        in_.push = get(said, {"pushNotificationConfig"});
        in_.length = get(said, {"historyLength"});
        in_.metadata = get(said, {"metadata"});
        if (from_ == a2a::body_shape::proto) {
            in_.page_size = get(said, {"pageSize"});
            in_.page_token = get(said, {"pageToken"});
        }
        return;
    }
    in_.tenant = get(said, {"tenant"});
    if (what_ == operation::create_push) {
        in_.task = get(said, {"taskId"});
        in_.config = get(said, {"id"});
        in_.push = said;
    } else if (is_push(what_)) {
        in_.task = get(said, {"taskId"});
        in_.config = get(said, {"id"});
        in_.page_size = get(said, {"pageSize"});
        in_.page_token = get(said, {"pageToken"});
    } else if (what_ == operation::list) {
        in_.context = get(said, {"contextId"});
        in_.status = get(said, {"status"});
        in_.page_size = get(said, {"pageSize"});
        in_.page_token = get(said, {"pageToken"});
        in_.length = get(said, {"historyLength"});
        in_.after = get(said, {"statusTimestampAfter"});
        in_.artifacts = get(said, {"includeArtifacts"});
    } else {
        in_.task = get(said, {"id"});
        in_.length = get(said, {"historyLength"});
        in_.metadata = get(said, {"metadata"});
    }
}

// The configuration alone, or the whole request around it.
void slow_requests::read_created_in_proto(const json& said)
{
    if (!said.is_object()) {
        refuse();
        return;
    }
    auto name = get(said, {"name"});
    in_.push = get(said, {"pushNotificationConfig"});
    const auto around = get(said, {"config"});
    const auto id = get(said, {"configId"});
    if (!around.is_null()) {
        if (!around.is_object()) {
            refuse();
            return;
        }
        in_.config = id;
        name = get(around, {"name"});
        in_.push = get(around, {"pushNotificationConfig"});
        get(around, {"config"});
        get(around, {"configId"});
    }
    const std::string collection = "/pushNotificationConfigs/";
    const auto text = name.is_string() ? name.get<std::string>() : std::string{};
    const auto at = text.find("/pushNotificationConfigs", 6);
    if (in_.config.is_null() && text.starts_with("tasks/") && at != std::string::npos && at > 6 &&
        text.compare(at, collection.size(), collection) == 0 && text.size() > at + collection.size()) {
        in_.config = text.substr(at + collection.size());
    }
}

void slow_requests::read_query(std::string_view query)
{
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query = pair.size() == query.size() ? std::string_view{} : query.substr(pair.size() + 1);
        const auto equals = pair.find('=');
        const auto name = pair.substr(0, equals);
        const auto value = equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
        if (!name.empty()) {
            read_parameter(camel_case(percent_decoded(name)), percent_decoded(value));
        }
    }
}

void slow_requests::read_parameter(const std::string& name, const std::string& value)
{
    const bool lists = what_ == operation::list;
    const bool pages = is_old(from_) || lists || is_push(what_);
    const bool length = is_old(from_) || lists || (!is_push(what_) && what_ != operation::create_push);
    const std::array<std::pair<const char*, json*>, 8> known{{
        {is_old(from_) ? "" : "tenant", &in_.tenant},
        {length ? "historyLength" : "", &in_.length},
        {pages ? "pageSize" : "", &in_.page_size},
        {pages ? "pageToken" : "", &in_.page_token},
        {lists ? "contextId" : "", &in_.context},
        {lists ? "status" : "", &in_.status},
        {lists ? "statusTimestampAfter" : "", &in_.after},
        {lists ? "includeArtifacts" : "", &in_.artifacts},
    }};
    for (const auto& [known_name, field] : known) {
        if (name != known_name) {
            continue;
        }
        if (!field->is_null()) {
            refuse();
        } else if (!value.empty()) {
            const bool flag = field == &in_.artifacts && (value == "true" || value == "false");
            *field = flag ? json(value == "true") : json(value);
        }
    }
}

void slow_requests::check()
{
    refused_ = refused_ || !(in_.task.is_null() || in_.task.is_string());
    for (auto* text : {&in_.tenant, &in_.config, &in_.page_token, &in_.context, &in_.status, &in_.after}) {
        refused_ = refused_ || !(text->is_null() || text->is_string());
        if (*text == "") {
            *text = nullptr;
        }
    }
    for (auto* number : {&in_.length, &in_.page_size}) {
        if (!number->is_null()) {
            refused_ = refused_ || !is_whole_number(*number);
            *number = refused_ ? json{} : number_of(*number);
        }
    }
    refused_ = refused_ || !(in_.metadata.is_null() || in_.metadata.is_object());
    refused_ = refused_ || !(in_.artifacts.is_null() || in_.artifacts.is_boolean());
}

void slow_requests::check_asked(const slow_request& made)
{
    const auto missing = [](const json& id) { return id.is_null() || id == ""; };
    refused_ = refused_ || (names_task(made.sent) && missing(in_.task));
    refused_ = refused_ || (names_config(made.sent) && missing(in_.config));
    const bool no_pages = to_ == a2a::body_shape::types && made.sent == operation::list_push;
    refused_ = refused_ || (no_pages && !in_.page_token.is_null());
}

json slow_requests::asked_length(slow_request& made) const
{
    if (in_.length != 0) {
        return in_.length;
    }
    made.without_history = from_ != a2a::body_shape::proto && is_old(to_);
    const bool means_all = from_ == a2a::body_shape::proto || to_ == a2a::body_shape::proto;
    return means_all ? json{} : in_.length;
}

json slow_requests::created()
{
    if (in_.push.is_null()) {
        return refuse();
    }
    auto made = push(in_.push);
    if (!refused_ && !made.contains("id")) {
        put(made, "id", in_.config);
    }
    return made;
}

json slow_requests::body_of_created(const json& config)
{
    if (to_ == a2a::body_shape::v1) {
        json body = config;
        body["taskId"] = in_.task;
        return body;
    }
    if (to_ == a2a::body_shape::types) {
        return {{"taskId", in_.task}, {"pushNotificationConfig", config}};
    }
    const auto task = in_.task.get<std::string>();
    const auto id = config.value("id", task);
    const auto name = "tasks/" + task + "/pushNotificationConfigs/" + id;
    return {
        {"parent", "tasks/" + task},
        {"configId", id},
        {"config", {{"name", name}, {"pushNotificationConfig", config}}}
    };
}

void slow_requests::write_params(slow_request& made)
{
    json params = json::object();
    if (what_ == operation::create_push) {
        const auto config = created();
        params = refused_ ? json::object() : body_of_created(config);
    } else if (is_old(to_)) {
        put(params, "id", names_task(made.sent) ? in_.task : json{});
        put(params, "pushNotificationConfigId", names_config(made.sent) ? in_.config : json{});
        put(params, "historyLength", made.sent == operation::get ? asked_length(made) : json{});
        put(params, "metadata", in_.metadata);
    } else {
        put(params, is_push(made.sent) ? "taskId" : "id", names_task(made.sent) ? in_.task : json{});
        put(params, "id", names_config(made.sent) ? in_.config : params.value("id", json{}));
        put(params, "metadata", made.sent == operation::cancel ? in_.metadata : json{});
        const bool lists = made.sent == operation::list;
        put(params, "historyLength", made.sent == operation::get || lists ? asked_length(made) : json{});
        if (lists || made.sent == operation::list_push) {
            put(params, "pageSize", in_.page_size);
            put(params, "pageToken", in_.page_token);
        }
        put(params, "contextId", in_.context);
        put(params, "status", in_.status);
        put(params, "statusTimestampAfter", in_.after);
        put(params, "includeArtifacts", in_.artifacts);
    }
    if (!is_old(to_)) {
        put(params, "tenant", in_.tenant);
    }
    if (what_ != operation::extended_card || !is_old(to_)) {
        made.body = params;
    }
}

// The tables of specification 0.3.0 section 3.5.6 and 1.0.1 section 11.3.
void slow_requests::write_path(slow_request& made)
{
    const auto task = names_task(made.sent) ? in_.task.get<std::string>() : std::string{};
    made.verb = "GET";
    if (is_old(to_)) {
        made.path.emplace_back("v1");
    } else if (!in_.tenant.is_null()) {
        made.path.push_back(in_.tenant.get<std::string>());
        const bool looks_like_task = in_.tenant == "tasks" && !names_task(made.sent);
        refused_ = refused_ || !is_plain_segment(made.path.back()) || looks_like_task;
    }
    if (made.sent == operation::extended_card) {
        made.path.emplace_back(is_old(to_) ? "card" : "extendedAgentCard");
        return;
    }
    made.path.emplace_back("tasks");
    if (made.sent == operation::list) {
        return;
    }
    refused_ = refused_ || !is_plain_segment(task) || (made.sent == operation::get && task.ends_with(":subscribe"));
    if (made.sent == operation::get) {
        made.path.push_back(task);
    } else if (made.sent == operation::cancel || made.sent == operation::subscribe) {
        made.verb = "POST";
        made.path.push_back(task + (made.sent == operation::cancel ? ":cancel" : ":subscribe"));
    } else {
        made.path.push_back(task);
        made.path.emplace_back("pushNotificationConfigs");
        made.verb = made.sent == operation::create_push   ? "POST"
                    : made.sent == operation::delete_push ? "DELETE"
                                                          : "GET";
        if (names_config(made.sent)) {
            made.path.push_back(in_.config.get<std::string>());
            refused_ = refused_ || !is_plain_segment(made.path.back());
        }
    }
}

void slow_requests::write_rest(slow_request& made)
{
    write_path(made);
    const auto ask = [&made](const char* name, const json& value) {
        if (!value.is_null()) {
            made.query[name] = value.is_string() ? value.get<std::string>() : value.dump();
        }
    };
    if (made.sent == operation::create_push) {
        const auto config = created();
        made.body = refused_ ? json{} : body_of_created(config);
    } else if (made.sent == operation::cancel) {
        made.body = json::object();
        put(*made.body, "metadata", is_old(to_) ? json{} : in_.metadata);
    }
    const bool lists = made.sent == operation::list;
    ask("historyLength", made.sent == operation::get || lists ? asked_length(made) : json{});
    if (lists || made.sent == operation::list_push) {
        ask("pageSize", in_.page_size);
        ask("pageToken", in_.page_token);
    }
    if (lists) {
        ask("contextId", in_.context);
        ask("status", in_.status);
        ask("statusTimestampAfter", in_.after);
        ask("includeArtifacts", in_.artifacts);
    }
}

std::optional<slow_request> slow_requests::translate(const json* payload, const a2a::rest_target* at)
{
    const bool rest = at != nullptr;
    const bool reads_body = !rest || what_ == operation::cancel || what_ == operation::create_push;
    if (payload != nullptr && reads_body) {
        const bool proto_created = rest && what_ == operation::create_push && from_ == a2a::body_shape::proto;
        proto_created ? read_created_in_proto(*payload) : read(*payload);
        // What the body says is checked by itself: the path comes over it.
        check();
    }
    if (rest) {
        in_.tenant = at->tenant.empty() ? in_.tenant : json(at->tenant);
        in_.task = at->task_id.empty() ? in_.task : json(at->task_id);
        in_.config = at->config_id.empty() ? in_.config : json(at->config_id);
        read_query(at->query);
    }
    check();
    slow_request made;
    const bool whole = what_ != operation::get_push || !in_.config.is_null() ||
                       agent_ == a2a::dialect{a2a::generation::v03, a2a::binding::jsonrpc};
    made.sent = whole ? what_ : operation::list_push;
    made.first_config = !whole;
    check_asked(made);
    if (refused_) {
        return std::nullopt;
    }
    agent_.over == a2a::binding::jsonrpc ? write_params(made) : write_rest(made);
    if (refused_) {
        return std::nullopt;
    }
    return made;
}

}  // namespace tests
