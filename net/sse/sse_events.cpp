#include "net/sse/sse_events.hpp"

#include "net/sse/sse.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace net {
namespace {

constexpr std::string_view data_field = "data";
constexpr std::size_t longest_id = 1024;
constexpr std::size_t longest_kept = 16 * 1024;  // of what was given out

bool is_id(std::string_view text) noexcept
{
    return text.size() <= longest_id && std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

std::optional<core::duration> delay_of(std::string_view text) noexcept
{
    std::uint32_t milliseconds = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, milliseconds);
    return read.ec == std::errc{} && read.ptr == end ? std::optional{core::duration{milliseconds}} : std::nullopt;
}

// Leaves the event's data alone, which move to the front: each line of them gives up more bytes than the LF that joins it. Its other lines
// go to `each` before. False: it has none.
template <class Each>
bool keep_data(std::string& event, Each&& each)
{
    std::size_t size = 0;
    bool found = false;
    for (std::string_view rest = event; !rest.empty();) {
        const auto line = take_sse_line(rest);
        if (line.name != data_field) {
            each(line);
            continue;
        }
        if (std::exchange(found, true)) {
            event[size++] = '\n';
        }
        std::copy(line.value.begin(), line.value.end(), event.begin() + static_cast<std::ptrdiff_t>(size));
        size += line.value.size();
    }
    event.resize(size);
    return found;
}

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
        if (const auto end = find_line_end(buffer_, at_); end != at_) {
            after_cr_ = false;
            line_empty_ = false;
            at_ = end;
            too_large_ = at_ - begin_ > limit_;
            continue;
        }
        const char c = buffer_[at_++];
        const bool after_cr = std::exchange(after_cr_, c == '\r');
        too_large_ = at_ - begin_ > limit_;
        const bool rest_of_end = c == '\n' && after_cr;
        const bool ends_piece = rest_of_end ? at_ - begin_ == 1 : std::exchange(line_empty_, true);
        if (ends_piece && !too_large_) {
            if (begin_ == 0 && at_ == buffer_.size()) {
                at_ = 0;
                return std::exchange(buffer_, {});
            }
            const auto from = std::exchange(begin_, at_);
            auto piece = buffer_.substr(from, at_ - from);
            if (begin_ > longest_kept) {
                buffer_ = buffer_.substr(begin_);  // nobody may want the next one for days
                begin_ = at_ = 0;
            }
            return piece;
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

std::optional<std::string> take_sse_data(std::string event)
{
    const bool found = keep_data(event, [](const sse_line&) {});
    return found ? std::optional{std::move(event)} : std::nullopt;
}

std::string with_sse_data(std::string_view event, std::string_view data)
{
    constexpr std::string_view of_data = "data: ";
    std::string out;
    bool placed = false;
    while (!event.empty()) {
        const auto line = take_sse_line(event);
        if (line.name != data_field) {
            out += line.whole;
            continue;
        }
        if (!placed) {
            out.reserve(out.size() + data.size() + event.size() + of_data.size() + 1);
            out += of_data;
            const auto begin = static_cast<std::ptrdiff_t>(out.size());
            out += data;
            std::replace_if(out.begin() + begin, out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
            out.push_back('\n');
            placed = true;
        }
    }
    return out;
}

std::string
with_sse_id(std::string_view event, const std::function<std::optional<std::string>(std::string_view id)>& id_of)
{
    std::string out;
    while (!event.empty()) {
        const auto line = take_sse_line(event);
        const auto id = line.name == "id" ? id_of(line.value) : std::nullopt;
        if (id) {
            out.append("id: ").append(*id) += '\n';
        } else {
            out += line.whole;
        }
    }
    return out;
}

std::optional<sse_event> sse_reader::next()
{
    while (auto piece = splitter_.next()) {
        if (auto event = read(std::move(*piece)); !event.data.empty()) {
            return event;
        }
    }
    return std::nullopt;
}

sse_event sse_reader::read(std::string piece)
{
    sse_event event;
    keep_data(piece, [&](const sse_line& line) {
        if (line.name == "event") {
            event.type = line.value;
        } else if (line.name == "id" && is_id(line.value)) {
            last_id_ = line.value;
        } else if (line.name == "retry") {
            if (const auto asked = delay_of(line.value)) {
                retry_ = asked;
            }
        }
    });
    event.data = std::move(piece);
    return event;
}

}  // namespace net
