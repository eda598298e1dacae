#include "mcp/calls/client_message.hpp"

#include <algorithm>
#include <utility>

namespace mcp {

std::size_t field_bytes(const std::vector<std::pair<std::string, std::string>>& fields) noexcept
{
    std::size_t bytes = 0;
    for (const auto& [name, value] : fields) {
        bytes += name.size() + value.size();
    }
    return bytes;
}

kept_message::kept_message(const client_message& message)
    : text_{message.owner != nullptr ? *message.owner : std::make_shared<const std::string>(message.text)},
      method_{message.method},
      id_{span_of(message.id, message.text)},
      params_{span_of(message.params, message.text)},
      progress_token_{span_of(message.progress_token, message.text)},
      request_id_{span_of(message.request_id, message.text)},
      client_{message.client}
{
}

client_message kept_message::view() const noexcept
{
    client_message all{text(), method_, at(id_), at(params_), at(progress_token_), at(request_id_), client_};
    all.owner = &text_;
    return all;
}

kept_message::span kept_message::span_of(std::string_view part, std::string_view whole) const noexcept
{
    return part.empty() ? span{} : span{static_cast<std::size_t>(part.data() - whole.data()), part.size()};
}

std::string one_line(std::string text)
{
    // Every byte is written, so that it is done as fast as memory is, however many there are.
    std::ranges::transform(text, text.begin(), [](char c) {
        const bool ends = static_cast<int>(c == '\n') | static_cast<int>(c == '\r');
        return ends ? ' ' : c;
    });
    return text;
}

bool is_one_line(std::string_view text) noexcept
{
    return text.find('\n') == std::string_view::npos && text.find('\r') == std::string_view::npos;
}

}  // namespace mcp
