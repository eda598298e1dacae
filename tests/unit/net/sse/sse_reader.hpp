// A plain reader of event streams, written after WHATWG HTML section 9.2.6 and sharing nothing with net/sse: what a
// caller makes of a stream, and where in it no event is under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

struct stream_line {
    std::string_view text;
    std::string_view end;    // "\n", "\r", "\r\n"; empty: the stream stops in it
    std::size_t end_at = 0;  // offset behind it
};

inline constexpr std::string_view bom = "\xEF\xBB\xBF";

inline std::vector<stream_line> lines_of(std::string_view stream)
{
    std::vector<stream_line> lines;
    for (std::size_t at = stream.starts_with(bom) ? bom.size() : 0; at < stream.size();) {
        const auto text = stream.substr(at, std::min(stream.find_first_of("\r\n", at), stream.size()) - at);
        at += text.size();
        const auto end =
            stream.substr(at, stream.substr(at).starts_with("\r\n") ? 2 : std::min<std::size_t>(1, stream.size() - at));
        at += end.size();
        lines.push_back({text, end, at});
    }
    return lines;
}

// Every event that is dispatched, as "type|id|data", and every reconnection time.
inline std::vector<std::string> events_of(std::string_view stream)
{
    std::vector<std::string> events;
    std::string type;
    std::string id;
    std::string data;
    for (const auto& line : lines_of(stream)) {
        if (line.end.empty()) {
            break;  // not whole: never processed
        }
        if (line.text.empty()) {
            if (!data.empty()) {
                events.push_back(type + '|' + id + '|' + data);
            }
            type.clear();
            data.clear();
            continue;
        }
        const auto colon = std::min(line.text.find(':'), line.text.size());
        const auto name = line.text.substr(0, colon);
        auto value = line.text.substr(std::min(colon + 1, line.text.size()));
        value.remove_prefix(value.starts_with(' ') ? 1 : 0);
        if (name == "data") {
            data.append(value).append("\n");
        } else if (name == "event") {
            type = value;
        } else if (name == "id" && value.find('\0') == std::string_view::npos) {
            id = value;
        } else if (name == "retry") {
            events.push_back("retry " + std::string(value));
        }
    }
    return events;
}

struct stream_position {
    bool at_boundary = true;
    std::size_t event_bytes = 0;

    friend bool operator==(const stream_position&, const stream_position&) = default;
};

// Where a stream stands that has sent `stream` so far.
inline stream_position position_in(std::string_view stream)
{
    if (stream.size() < bom.size() && bom.starts_with(stream)) {
        return {stream.empty(), stream.size()};
    }
    std::size_t boundary = stream.starts_with(bom) ? bom.size() : 0;
    bool fields = false;
    bool open_end = false;  // a LF would still belong to the last line end
    std::string_view end_before;
    for (const auto& line : lines_of(stream)) {
        fields = !line.text.empty() && (fields || !line.text.starts_with(':'));
        if (!line.end.empty() && !fields) {
            boundary = line.end_at;
        }
        open_end = line.end == "\r" && line.end_at == stream.size() && end_before != "\r";
        end_before = line.end;
    }
    return {boundary == stream.size() && !open_end, stream.size() - boundary};
}

}  // namespace tests
