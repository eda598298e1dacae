// A stream gives the same lines however it is cut: those of a reader that has all of it. The first byte is the limit.
#include "mcp/transport/line_reader.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <vector>

namespace {

constexpr std::string_view lost = "\ntoo long";

std::vector<std::string> read(std::string_view bytes, const tests::cuts& cuts, std::size_t limit)
{
    mcp::line_reader reader{limit};
    std::vector<std::string> lines;
    std::size_t from = 0;
    const auto take = [&](std::string_view piece) {
        reader.feed(piece);
        while (const auto line = reader.next()) {
            lines.emplace_back(line->too_long ? lost : line->text);
        }
        tests::require(reader.held() <= limit + 1, "no more is held than a line may have");
    };
    for (const auto cut : cuts) {
        take(bytes.substr(from, cut - from));
        from = cut;
    }
    take(bytes.substr(from));
    return lines;
}

std::vector<std::string> plainly(std::string_view bytes, std::size_t limit)
{
    std::vector<std::string> lines;
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const bool whole = end != std::string_view::npos;
        auto line = bytes.substr(0, end);
        bytes.remove_prefix(whole ? end + 1 : bytes.size());
        // Of a line that has not ended, a last CR may still be part of its end.
        const bool ends = line.ends_with('\r');
        auto text = ends ? line.substr(0, line.size() - 1) : line;
        if (text.size() > limit) {
            lines.emplace_back(lost);
            continue;
        }
        text.remove_prefix(text.starts_with("\xef\xbb\xbf") ? 3 : 0);
        if (whole && !text.empty()) {
            lines.emplace_back(text);
        }
    }
    return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const std::size_t limit = data[0];
    const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
    const auto expected = plainly(bytes, limit);
    tests::numbers random{bytes};
    tests::require(read(bytes, {}, limit) == expected, "the lines are those of the whole", bytes);
    for (int i = 0; i < 3; ++i) {
        tests::require(read(bytes, tests::some_cuts(bytes, random), limit) == expected, "no cut changes a line", bytes);
    }
    tests::cuts every;
    for (std::size_t at = 1; at < bytes.size(); ++at) {
        every.push_back(at);
    }
    tests::require(read(bytes, every, limit) == expected, "no byte changes a line", bytes);
    return 0;
}
