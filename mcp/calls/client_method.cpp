#include "mcp/calls/client_method.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcp {
namespace {

struct method_row {
    std::string_view name;
    bool modern;
};

// By `client_method`.
constexpr auto rows = std::to_array<method_row>({
    {"initialize", false},
    {"notifications/initialized", false},
    {"ping", false},
    {"server/discover", true},
    {"subscriptions/listen", true},
    {"tools/list", true},
    {"tools/call", true},
    {"prompts/list", true},
    {"prompts/get", true},
    {"resources/list", true},
    {"resources/templates/list", true},
    {"resources/read", true},
    {"resources/subscribe", false},
    {"resources/unsubscribe", false},
    {"completion/complete", true},
    {"logging/setLevel", false},
    {"notifications/cancelled", true},
    {"notifications/progress", true},
    {"notifications/roots/list_changed", false},
    {"tasks/get", true},
    {"tasks/update", true},
    {"tasks/cancel", true},
    {"tasks/result", false},
    {"tasks/list", false},
    {"events/list", true},
    {"events/poll", true},
    {"events/stream", true},
    {"events/subscribe", true},
    {"events/unsubscribe", true},
});

static_assert(rows.size() == static_cast<std::size_t>(client_method::other));

}  // namespace

client_method client_method_of(std::string_view name) noexcept
{
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].name == name) {
            return static_cast<client_method>(i);
        }
    }
    return client_method::other;
}

std::string_view name(client_method method) noexcept
{
    return method == client_method::other ? std::string_view{} : rows[static_cast<std::size_t>(method)].name;
}

bool is_modern(client_method method) noexcept
{
    return method != client_method::other && rows[static_cast<std::size_t>(method)].modern;
}

bool may_need_input(client_method method) noexcept
{
    return method == client_method::tools_call || method == client_method::prompts_get ||
           method == client_method::resources_read;
}

bool stays_open(client_method method) noexcept
{
    return method == client_method::listen || method == client_method::events_stream;
}

bool stays_open(std::string_view name) noexcept
{
    return stays_open(client_method_of(name));
}

bool safe_to_repeat(client_method method) noexcept
{
    using enum client_method;
    constexpr auto safe = std::to_array(
        {ping,
         discover,
         tools_list,
         prompts_list,
         prompts_get,
         resources_list,
         templates_list,
         resources_read,
         complete,
         tasks_get,
         events_list,
         events_poll}
    );
    return std::ranges::find(safe, method) != safe.end();
}

std::optional<list_kind> list_of(client_method method) noexcept
{
    switch (method) {
        case client_method::tools_list:
            return list_kind::tools;
        case client_method::prompts_list:
            return list_kind::prompts;
        case client_method::resources_list:
            return list_kind::resources;
        case client_method::templates_list:
            return list_kind::templates;
        default:
            return std::nullopt;
    }
}

}  // namespace mcp
