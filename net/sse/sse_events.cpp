#include "net/sse/sse_events.hpp"

#include "net/sse/sse.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace net {
namespace {

constexpr std::string_view data_field = "data";

}  // namespace

void sse_splitter::feed(std::string_view bytes)
{
    if (begin_ == buffer_.size()) {
        buffer_.clear();
    } else {
        buffer_.erase(0, begin_);
    }
    at_ -= begin_;
    begin_ = 0;
    buffer_ += bytes;
    if (start_ != start_state::undecided ||
        (buffer_.size() < byte_order_mark.size() && byte_order_mark.starts_with(buffer_))) {
        return;
    }
    start_ = buffer_.starts_with(byte_order_mark) ? start_state::marked : start_state::over;
}

std::optional<std::string> sse_splitter::next()
{
    if (start_ == start_state::marked) {
        start_ = start_state::over;
        begin_ = at_ = byte_order_mark.size();
        return std::string{byte_order_mark};
    }
    while (start_ == start_state::over && at_ < buffer_.size() && !too_large_) {
        const char c = buffer_[at_++];
        const bool after_cr = std::exchange(after_cr_, c == '\r');
        too_large_ = at_ - begin_ > limit_;
        if (c != '\r' && c != '\n') {
            line_empty_ = false;
            continue;
        }
        const bool rest_of_end = c == '\n' && after_cr;
        const bool ends_piece = rest_of_end ? at_ - begin_ == 1 : std::exchange(line_empty_, true);
        if (ends_piece && !too_large_) {
            const auto from = std::exchange(begin_, at_);
            return buffer_.substr(from, at_ - from);
        }
    }
    return std::nullopt;
}

std::optional<std::string> sse_splitter::take_rest()
{
    if (begin_ == buffer_.size() || too_large_) {
        return std::nullopt;
    }
    auto rest = buffer_.substr(begin_);
    begin_ = at_ = buffer_.size();
    return rest;
}

sse_line take_sse_line(std::string_view& rest)
{
    const auto end = find_line_end(rest);
    const auto ends_with =
        rest.substr(end).starts_with("\r\n") ? std::size_t{2} : std::min<std::size_t>(1, rest.size() - end);
    const auto text = rest.substr(0, end);
    const auto colon = std::min(text.find(':'), text.size());
    auto value = text.substr(std::min(colon + 1, text.size()));
    value.remove_prefix(value.starts_with(' ') ? 1 : 0);
    const sse_line line{rest.substr(0, end + ends_with), text.substr(0, colon), value};
    rest.remove_prefix(line.whole.size());
    return line;
}

std::optional<std::string> sse_data(std::string_view event)
{
    std::optional<std::string> found;
    while (!event.empty()) {
        const auto line = take_sse_line(event);
        if (line.name == data_field) {
            if (found) {
                *found += '\n';
            } else {
                found.emplace();
            }
            *found += line.value;
        }
    }
    return found;
}

std::string with_sse_data(std::string_view event, std::string_view data)
{
    std::string out;
    bool placed = false;
    while (!event.empty()) {
        const auto line = take_sse_line(event);
        if (line.name != data_field) {
            out += line.whole;
            continue;
        }
        if (!placed) {
            out += "data: ";
            std::ranges::transform(data, std::back_inserter(out), [](char c) {
                return c == '\n' || c == '\r' ? ' ' : c;
            });
            out.push_back('\n');
            placed = true;
        }
    }
    return out;
}

}  // namespace net
