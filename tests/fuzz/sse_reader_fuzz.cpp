// The events of a server are the same however the stream is cut, also where one is too large, and their data are those of the events
// that are cut out of it whole.
#include "net/sse/sse_events.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t no_limit = 1'000'000;

// In pieces, each of which is gone when the next one comes.
std::string read(std::string_view stream, const tests::cuts& cuts)
{
    net::sse_reader reader{no_limit};
    std::string all;
    std::size_t from = 0;
    const auto feed = [&](std::size_t to) {
        reader.feed(std::string{stream.substr(from, to - from)});
        from = to;
        while (const auto event = reader.next()) {
            all.append(event->type).append(1, '\x1e').append(event->data).append(1, '\x1f');
        }
    };
    for (const auto cut : cuts) {
        feed(cut);
    }
    feed(stream.size());
    const auto retry = reader.retry();
    all.append(reader.last_id()).append(retry ? std::to_string(retry->count()) : std::string{});
    return all;
}

// How many events there are in front of one that is too large, behind a comment that leaves little room.
std::string read_to_limit(std::string_view stream, std::size_t room, std::size_t step)
{
    net::sse_reader reader{0};
    reader.feed(": " + std::string(net::sse_reader::extra - room, 'x') + "\n");
    std::size_t events = 0;
    for (std::size_t at = 0; at < stream.size(); at += step) {
        reader.feed(stream.substr(at, step));
        while (reader.next()) {
            ++events;
        }
    }
    return std::to_string(events) + (reader.too_large() ? " too large" : "");
}

std::string data_of_events(std::string_view stream)
{
    net::sse_reader reader{no_limit};
    reader.feed(stream);
    std::string all;
    while (const auto event = reader.next()) {
        all.append(event->data).append(1, '\x1f');
    }
    return all;
}

std::string data_of_whole_events(std::string_view stream)
{
    net::sse_splitter splitter{no_limit};
    splitter.feed(stream);
    std::string all;
    while (const auto event = splitter.next()) {
        if (const auto data = net::sse_data(*event); data && !data->empty()) {
            all.append(*data).append(1, '\x1f');
        }
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view stream{reinterpret_cast<const char*>(data), size};
    tests::require_same_in_pieces(stream, [stream](const tests::cuts& cuts, tests::buffer) {
        return read(stream, cuts);
    });
    const auto ours = data_of_events(stream);
    const auto theirs = data_of_whole_events(stream);
    tests::require(ours == theirs, "the data of an event are its data lines", ours, theirs);
    tests::numbers random{stream};
    const auto room = 3 + random.below(60);
    const auto whole = read_to_limit(stream, room, size + 1);
    const auto single = read_to_limit(stream, room, 1);
    tests::require(single == whole, "what is too large is so however it is cut", single, whole);
    return 0;
}
