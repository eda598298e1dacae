#include "gateway/mcp/table/restored_state.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <utility>

namespace gateway::mcp::table {
namespace {

constexpr std::string_view set_level = "logging/setLevel";
constexpr std::string_view subscribe = "resources/subscribe";
constexpr std::string_view unsubscribe = "resources/unsubscribe";

restored_state::request request_of(std::string_view method, std::string_view name, std::string_view value)
{
    restored_state::request made{.method = method, .params = "{"};
    ::mcp::append_text_member(made.params, name, value);
    ::mcp::close(made.params, '}');
    return made;
}

bool is_kept(const std::string& value) noexcept
{
    return !value.empty() && value.size() <= restored_state::longest_value;
}

std::size_t bytes_of(const std::string& value) noexcept
{
    return value.empty() ? 0 : value.size() + restored_state::value_overhead;
}

}  // namespace

bool restored_state::takes(const ::mcp::client_message& request) const
{
    return request.method != subscribe || resources_.size() < most_subscriptions ||
           resources_.contains(::mcp::members_of(request.params).text("uri"));
}

void restored_state::note(const ::mcp::client_message& request)
{
    if (request.method == set_level) {
        keep_level(::mcp::members_of(request.params).text("level"));
    } else if (request.method == subscribe && takes(request)) {
        if (auto uri = ::mcp::members_of(request.params).text("uri"); is_kept(uri)) {
            const auto size = bytes_of(uri);
            bytes_ += resources_.insert(std::move(uri)).second ? size : 0;
        }
    } else if (request.method == unsubscribe) {
        const auto uri = ::mcp::members_of(request.params).text("uri");
        bytes_ -= resources_.erase(uri) > 0 ? bytes_of(uri) : 0;
    }
}

void restored_state::keep_level(std::string level)
{
    bytes_ -= bytes_of(level_);
    level_ = is_kept(level) ? std::move(level) : std::string{};
    bytes_ += bytes_of(level_);
}

std::optional<restored_state::request> restored_state::next(place& from) const
{
    if (!std::exchange(from.behind_level, true) && !level_.empty()) {
        return request_of(set_level, "level", level_);
    }
    const auto found = resources_.upper_bound(from.uri);
    if (found == resources_.end()) {
        return std::nullopt;
    }
    from.uri = *found;
    return request_of(subscribe, "uri", *found);
}

void restored_state::each(const std::function<void(std::string_view method, std::string_view params)>& put) const
{
    place at;
    while (const auto request = next(at)) {
        put(request->method, request->params);
    }
}

}  // namespace gateway::mcp::table
