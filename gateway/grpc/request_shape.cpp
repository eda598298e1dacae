#include "gateway/grpc/request_shape.hpp"

#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/url.hpp"
#include "gateway/grpc/outcome.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gateway::grpc {
namespace {

using ::a2a::operation;
using ::a2a::refusal;
using cursor = core::json_cursor<core::wide_bytes>;

constexpr std::string_view of_tasks = "tasks/";
constexpr std::string_view of_configs = "/pushNotificationConfigs";

// The members that HTTP+JSON has in the query.
constexpr std::array<std::string_view, 3> in_query{"historyLength", "pageSize", "pageToken"};

bool has_body(operation what) noexcept
{
    return what == operation::send || what == operation::stream || what == operation::create_push;
}

bool has_config(operation what) noexcept
{
    return what == operation::create_push || what == operation::get_push || what == operation::list_push ||
           what == operation::delete_push;
}

// `tasks/T`, of push configurations also `tasks/T/pushNotificationConfigs` and `tasks/T/pushNotificationConfigs/C`. Readers do not agree on
// what a name with more slashes names.
bool read_name(std::string_view name, ::a2a::rest_target& to)
{
    if (!name.starts_with(of_tasks)) {
        return false;
    }
    name.remove_prefix(of_tasks.size());
    to.task_id = name.substr(0, name.find('/'));
    name.remove_prefix(to.task_id.size());
    if (has_config(to.what) && name.starts_with(of_configs)) {
        name.remove_prefix(of_configs.size());
        to.config_id = name.substr(name.starts_with('/') ? 1 : 0);
        name.remove_prefix(name.starts_with('/') ? name.size() : 0);
    }
    return !to.task_id.empty() && name.empty() && to.config_id.find('/') == to.config_id.npos;
}

// Nothing: an id has a slash, which a name cannot say.
std::optional<std::string> name_of(const ::a2a::rest_target& from)
{
    if (from.task_id.find('/') != from.task_id.npos || from.config_id.find('/') != from.config_id.npos) {
        return std::nullopt;
    }
    auto name = std::string{of_tasks} + from.task_id;
    return from.config_id.empty() ? name : name.append(of_configs).append("/").append(from.config_id);
}

}  // namespace

::a2a::translation<> read_named_request(operation what, std::string_view json, rest_request& out)
{
    out.target.what = what;
    out.target.version = ::a2a::generation::v03;
    out.body = has_body(what) ? json : std::string_view{};
    if (what == operation::send || what == operation::stream || what == operation::extended_card) {
        return {};
    }
    std::string_view wrong = "name";
    bool named = false;
    cursor at{json, cursor::deepest};
    at.skip_space();
    static_cast<void>(at.object([&](std::string_view name, bool, std::string_view value) {
        if (name == "name" || name == "parent") {
            wrong = name;
            named = read_name(text_of(value), out.target);
        } else if (std::ranges::find(in_query, name) != in_query.end()) {
            ::a2a::append_query(out.query, 0, name, text_of(value));
        }
        return true;
    }));
    if (!named) {
        return refusal{::a2a::rpc_code::invalid_params, std::string{wrong}, "must name a task: tasks/ and its id"};
    }
    out.query.erase(0, out.query.empty() ? 0 : 1);
    out.target.query = out.query;
    return {};
}

::a2a::translation<std::string> named_request(
    const ::a2a::protobuf::service_method& method,
    std::string_view verb,
    std::string_view target,
    std::string_view body
)
{
    if (method.version == ::a2a::generation::v1) {
        const auto call = core::scan_jsonrpc(body);
        if (call.problem) {
            return refusal{::a2a::rpc_code::invalid_request, {}, "is no call"};
        }
        return std::string{call.call.params.empty() ? std::string_view{"{}"} : call.call.params};
    }
    if (has_body(method.what)) {
        return std::string{body};
    }
    std::string json;
    core::json_writer out{json, '{'};
    if (method.what != operation::extended_card) {
        auto asked = ::a2a::read_rest_target(verb, target, ::a2a::generation::v03);
        if (!asked) {
            return refusal{::a2a::rpc_code::invalid_request, {}, "has no path that the agent knows"};
        }
        const auto name = name_of(*asked);
        if (!name) {
            return refusal{::a2a::rpc_code::invalid_params, "id", "has a slash, which a resource name cannot say"};
        }
        out.member(method.what == operation::list_push ? "parent" : "name", std::string_view{*name});
        for (auto query = asked->query; !query.empty();) {
            const auto end = std::min(query.find('&'), query.size());
            const auto each = query.substr(0, end);
            const auto equals = std::min(each.find('='), each.size());
            if (const auto* const known = std::ranges::find(in_query, each.substr(0, equals));
                known != in_query.end()) {
                out.member(*known, std::string_view{core::decoded(each.substr(std::min(equals + 1, each.size())))});
            }
            query.remove_prefix(std::min(end + 1, query.size()));
        }
    }
    out.close('}');
    return json;
}

}  // namespace gateway::grpc
