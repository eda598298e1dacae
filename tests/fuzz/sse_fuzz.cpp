// A stream of events stands at the same place however it is cut, as a plain reader of the whole of it says; a comment
// put in wherever the scanner allows one changes no event; the limit holds for every cut.
#include "net/sse/sse.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <limits>

namespace {

std::string read(std::string_view bytes, const tests::cuts& cuts, std::uint64_t limit)
{
    net::sse_scanner scanner{limit};
    std::size_t from = 0;
    for (auto cut : cuts) {
        if (!scanner.feed(bytes.substr(from, cut - from))) {
            return "too large";
        }
        from = cut;
    }
    if (!scanner.feed(bytes.substr(from))) {
        return "too large";
    }
    return std::to_string(scanner.event_bytes()) + (scanner.at_boundary() ? " free" : " busy");
}

std::string joined(const std::vector<std::string>& events)
{
    std::string text;
    for (const auto& each : events) {
        text += each + '\x1e';
    }
    return text;
}

// The stream with comments wherever they may go, but for some.
std::string with_comments(std::string_view bytes, tests::numbers& random)
{
    net::sse_scanner scanner{std::numeric_limits<std::uint64_t>::max()};
    net::late_bom mark;
    bool marked = false;
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (scanner.at_boundary() && random.below(3) > 0) {
            marked = marked || scanner.untouched();
            out += net::sse_keep_alive;
        }
        const auto byte = bytes.substr(at, 1);
        scanner.feed(byte);
        const auto took = marked ? mark.take(byte) : net::late_bom::outcome{{}, byte};
        out.append(took.held).append(took.rest);
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    tests::numbers random{bytes};
    const std::uint64_t limits[] = {
        std::numeric_limits<std::uint64_t>::max(),
        3 + random.below(40)
    };  // a mark is none before it is whole
    for (const auto limit : limits) {
        tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer) {
            return read(bytes, cuts, limit);
        });
    }
    const auto stands = tests::position_in(bytes);
    const auto wanted = std::to_string(stands.event_bytes) + (stands.at_boundary ? " free" : " busy");
    tests::require(read(bytes, {}, limits[0]) == wanted, "the scanner stands where the reader does", bytes, wanted);
    const auto commented = with_comments(bytes, random);
    tests::require(
        joined(tests::events_of(commented)) == joined(tests::events_of(bytes)),
        "comments change no event",
        bytes,
        commented
    );
    return 0;
}
