#include "mcp/transport/event_reader.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "net/sse/sse.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

constexpr std::size_t longest_id = 1024;

// Of a line: it shows whether there is a mark, and whether that is one of data.
constexpr std::size_t longest_beginning = net::byte_order_mark.size() + std::string_view{"data: "}.size();

bool is_id(std::string_view text) noexcept
{
    return text.size() <= longest_id && std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

void event_reader::begin()
{
    auto id = std::move(last_id_);
    const auto retry = retry_;
    *this = event_reader{limit_ - extra};
    last_id_ = std::move(id);
    retry_ = retry;
}

void event_reader::feed(std::string_view bytes)
{
    fed_.erase(0, at_);
    at_ = 0;
    fed_ += bytes;
}

std::optional<stream_event> event_reader::next()
{
    while (at_ < fed_.size() && !too_large()) {
        const bool rest_of_end = std::exchange(after_cr_, false) && fed_[at_] == '\n';
        const auto end = rest_of_end ? at_ : net::find_line_end(fed_, at_);
        take(std::string_view{fed_}.substr(at_, end - at_));
        size_ += end - at_ + (end < fed_.size() ? 1 : 0);
        at_ = std::min(end + 1, fed_.size());
        if (end == fed_.size() || rest_of_end || too_large()) {
            continue;
        }
        after_cr_ = fed_[end] == '\r';
        tell_kind();
        if (kind_ != line_kind::unknown) {
            end_line();
        } else if (end_event()) {
            return stream_event{std::exchange(type_, {}), std::exchange(data_, {})};
        }
    }
    return std::nullopt;
}

void event_reader::take(std::string_view part)
{
    if (kind_ == line_kind::unknown) {
        const auto wanted = longest_beginning - std::min(line_.size(), longest_beginning);
        const auto taken = std::min(wanted, part.size());
        line_ += part.substr(0, taken);
        part.remove_prefix(taken);
        if (part.empty()) {
            return;  // the next part, or its end, says more of the line
        }
        tell_kind();
    }
    if (kind_ == line_kind::data) {
        data_ += part;
    } else if (kind_ != line_kind::comment) {
        line_ += part;
    }
}

// Of a line that is empty it stays unknown.
void event_reader::tell_kind()
{
    if (kind_ != line_kind::unknown) {
        return;
    }
    if (std::exchange(begins_, false) && line_.starts_with(net::byte_order_mark)) {
        line_.erase(0, net::byte_order_mark.size());
    }
    if (line_.empty()) {
        return;
    }
    std::string_view rest = line_;
    const auto line = net::take_sse_line(rest);
    kind_ = line.name == "data" ? line_kind::data : line.name.empty() ? line_kind::comment : line_kind::other;
    if (kind_ != line_kind::data) {
        return;
    }
    if (std::exchange(has_data_, true)) {
        data_ += '\n';
    }
    data_ += line.value;
}

void event_reader::end_line()
{
    if (kind_ == line_kind::other) {
        std::string_view rest = line_;
        const auto [whole, name, value] = net::take_sse_line(rest);
        if (name == "event") {
            type_ = value;
        } else if (name == "id" && is_id(value)) {
            id_ = value;
        } else if (name == "retry") {
            if (const auto milliseconds = integer_of<std::uint32_t>(value)) {
                asked_retry_ = core::duration{*milliseconds};
            }
        }
    }
    kind_ = line_kind::unknown;
    line_.clear();
}

// Whether it has data. What it says beside that holds from now on.
bool event_reader::end_event()
{
    size_ = 0;
    has_data_ = false;
    if (auto id = std::exchange(id_, std::nullopt)) {
        last_id_ = std::move(*id);
    }
    if (const auto asked = std::exchange(asked_retry_, std::nullopt)) {
        retry_ = asked;
    }
    if (data_.empty()) {
        type_.clear();
    }
    return !data_.empty();
}

}  // namespace mcp
