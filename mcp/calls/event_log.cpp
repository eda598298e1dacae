#include "mcp/calls/event_log.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <system_error>

namespace mcp {
namespace {

template <class Number>
bool take_number(std::string_view& text, int base, Number& number) noexcept
{
    const auto end = text.find('-');
    const auto digits = text.substr(0, end);
    const auto read = std::from_chars(digits.begin(), digits.end(), number, base);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return read.ec == std::errc{} && read.ptr == digits.end();
}

}  // namespace

std::string event_position::to_text() const
{
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), stream, 16);
    return std::string{digits.data(), end.ptr} + '-' + std::to_string(number);
}

std::optional<event_position> event_position::read(std::string_view text) noexcept
{
    event_position place;
    auto rest = text;
    const bool valid = take_number(rest, 16, place.stream) && take_number(rest, 10, place.number);
    // A text that is longer, or that begins with zeros, was not written by to_text().
    return valid && rest.empty() && place.to_text() == text ? std::optional{place} : std::nullopt;
}

event_log::event_log(replay_limits limits, jose::random_source random)
    : limits_{limits},
      random_{std::move(random)}
{
}

std::uint64_t event_log::open(std::string owner)
{
    std::uint64_t stream = 0;
    do {
        std::array<unsigned char, sizeof stream> bytes{};
        random_(bytes);
        std::memcpy(&stream, bytes.data(), sizeof stream);
    } while (streams_.contains(stream));
    by_owner_.emplace(owner, stream);
    streams_[stream].owner = std::move(owner);
    return stream;
}

std::optional<event_position>
event_log::keep(std::uint64_t stream, std::shared_ptr<const std::string> text, core::steady_time now)
{
    expire(now);
    const auto found = streams_.find(stream);
    if (found == streams_.end() || found->second.ended) {
        return std::nullopt;
    }
    auto& state = found->second;
    const event_position at{stream, ++state.last};
    add(state, {stream, now, std::move(text)});
    while (state.events.size() > limits_.events || state.bytes > limits_.stream_bytes) {
        drop_first(state);
    }
    while (bytes_ > limits_.bytes) {
        drop_oldest();
    }
    return at;
}

std::optional<event_position> event_log::last(std::uint64_t stream) const
{
    const auto found = streams_.find(stream);
    return found == streams_.end() ? std::nullopt : std::optional{event_position{stream, found->second.last}};
}

void event_log::end(std::uint64_t stream, core::steady_time now)
{
    expire(now);
    const auto found = streams_.find(stream);
    if (found == streams_.end() || found->second.ended) {
        return;
    }
    found->second.ended = true;
    add(found->second, {stream, now, nullptr});
    while (bytes_ > limits_.bytes) {
        drop_oldest();
    }
}

std::vector<std::uint64_t> event_log::forget(const std::string& owner)
{
    std::vector<std::uint64_t> forgotten;
    auto each = by_owner_.lower_bound({owner, 0});
    for (; each != by_owner_.end() && each->first == owner; ++each) {
        forgotten.push_back(each->second);
    }
    for (const auto stream : forgotten) {
        drop_all(streams_.find(stream));
    }
    return forgotten;
}

std::optional<replay> event_log::after(const event_position& last, std::string_view owner, core::steady_time now)
{
    expire(now);
    const auto found = streams_.find(last.stream);
    if (found == streams_.end() || found->second.owner != owner || last.number > found->second.last) {
        return std::nullopt;
    }
    const auto& state = found->second;
    replay rest;
    rest.ended = state.ended;
    const auto count = state.events.size() - (state.ended ? 1 : 0);
    const auto first = state.last + 1 - count;  // the number of the first that is kept
    rest.gap = last.number + 1 < first;
    const auto skipped = rest.gap ? 0 : last.number + 1 - first;
    for (auto i = static_cast<std::size_t>(skipped); i < count; ++i) {
        rest.events.push_back({{last.stream, first + i}, state.events[i]->text});
    }
    return rest;
}

void event_log::expire(core::steady_time now)
{
    while (!events_.empty() && now - events_.front().at >= limits_.life) {
        drop_oldest();
    }
}

void event_log::add(stream_state& stream, kept_event event)
{
    const auto size = cost(event);
    events_.push_back(std::move(event));
    stream.events.push_back(std::prev(events_.end()));
    stream.bytes += size;
    bytes_ += size;
}

void event_log::drop_first(stream_state& stream)
{
    const auto first = stream.events.front();
    stream.events.pop_front();
    stream.bytes -= cost(*first);
    bytes_ -= cost(*first);
    events_.erase(first);
}

void event_log::drop_oldest()
{
    const auto found = streams_.find(events_.front().stream);
    drop_first(found->second);
    if (found->second.ended && found->second.events.empty()) {
        drop_all(found);
    }
}

void event_log::drop_all(stream_states::iterator stream)
{
    while (!stream->second.events.empty()) {
        drop_first(stream->second);
    }
    by_owner_.erase({stream->second.owner, stream->first});
    streams_.erase(stream);
}

}  // namespace mcp
