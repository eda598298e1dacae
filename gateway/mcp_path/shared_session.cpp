#include "gateway/mcp_path/shared_session.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <array>
#include <utility>

namespace gateway::mcp_path {

std::string_view name(changing_list list) noexcept
{
    constexpr std::array<std::string_view, changing_lists> names{"tools", "prompts", "resources"};
    return names[static_cast<std::size_t>(list)];
}

std::shared_ptr<text_queue> shared_session::listen()
{
    auto listener = unasked_.listen();
    for (std::size_t i = 0; i < changing_lists; ++i) {
        if (changed_[i]) {
            tell_changed(static_cast<changing_list>(i));
        }
    }
    changed_.reset();
    for (const auto& uri : std::exchange(updated_, {})) {
        std::string params;
        mcp::append_text_member(params, "uri", uri);
        mcp::close(params, '}');
        tell(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{)" + params + "}");
    }
    return listener;
}

void shared_session::list_changed(changing_list list)
{
    if (unasked_.listened_to()) {
        tell_changed(list);
    } else {
        changed_.set(static_cast<std::size_t>(list));
    }
}

void shared_session::updated(const std::string& uri, std::string_view text)
{
    if (unasked_.listened_to()) {
        tell(std::string{text});
    } else {
        updated_.insert(uri);
    }
}

void shared_session::tell_changed(changing_list list)
{
    tell(R"({"jsonrpc":"2.0","method":"notifications/)" + std::string{name(list)} + R"(/list_changed"})");
}

// Somebody listens.
void shared_session::tell(std::string text)
{
    unasked_.push(std::move(text), text_kind::notification, core::steady_time{});
}

}  // namespace gateway::mcp_path
