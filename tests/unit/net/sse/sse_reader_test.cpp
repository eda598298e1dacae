#include "net/sse/sse_events.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("net/sse/sse_reader");

namespace {

std::vector<std::string> read_all(net::sse_reader& reader, std::string_view text, std::size_t step)
{
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size(); at += step) {
        reader.feed(text.substr(at, step));
        while (const auto event = reader.next()) {
            all.push_back(event->type + ":" + event->data);
        }
    }
    return all;
}

// The same, of events that are cut out of the stream whole.
std::vector<std::string> data_of(std::string_view text)
{
    net::sse_splitter splitter{1'000'000};
    splitter.feed(text);
    std::vector<std::string> all;
    while (const auto event = splitter.next()) {
        if (const auto data = net::sse_data(*event); data && !data->empty()) {
            all.push_back(":" + *data);
        }
    }
    return all;
}

bool takes(std::size_t bytes, std::size_t step)
{
    net::sse_reader reader{100};
    const auto text = "data: " + std::string(bytes - 8, 'x') + "\n\n";
    const auto read = read_all(reader, text, step);
    CHECK(reader.too_large() == read.empty());
    return !read.empty();
}

}  // namespace

TEST_CASE("events are the same however the stream is cut, and an unfinished one is none")
{
    constexpr std::string_view text =
        "\xEF\xBB\xBFid: 1\r\nretry: 70\r\ndata:\r\n\r\n: comment\r\n\r\nevent: endpoint\r\ndata: /m?x\r\n\r\n"
        "data: a\ndata: b\nid: 2\n\nid: \x01\nretry: 7x\nretry: 99999999999\ndata: c\n\nevent: x\ndata:\n\n"
        "data: d\n\nid: 3\nretry: 8\ndata: half";
    for (std::size_t step = 1; step < 30; ++step) {
        CAPTURE(step);
        net::sse_reader reader{100};
        CHECK(read_all(reader, text, step) == std::vector<std::string>{"endpoint:/m?x", ":a\nb", ":c", ":d"});
        CHECK(reader.last_id() == "2");
        CHECK(reader.retry() == core::duration{70});
        reader.begin();
        CHECK(read_all(reader, "data: e\n\n", step) == std::vector<std::string>{":e"});
        CHECK(reader.last_id() == "2");
    }
}

TEST_CASE("The data of an event are its data lines and nothing else, however its lines begin and end")
{
    const std::vector<std::string> streams{
        "data\n\ndata:\n\ndata: \n\ndata:  \n\ndata:x\n\n",
        "data\ndata\n\ndata:\ndata:y\n\ndat: a\ndatas: b\ndata : c\nData: d\n\ndata: e\n\n",
        "\n\r\r\n\ndata: a\r\rdata: b\r\n\r\ndata: c\r\n\ndata: d\r\r\n\ndata: e\n\r\n",
        "\xEF\xBB\xBF\xEF\xBB\xBF"
        "data: a\n\ndata: b\n\n\xEF\xBB\xBF"
        "data: c\n\ndata: d\n\n",
        "\xEF\xBB\xBF\n\ndata: a\n\n",
        "\xEF\xBB\n\ndata: a\n\n",
        "\xEF\xBB\xBF"
        "data: a\n\n: data: b\n\ndata: : c\n:data: d\n\n",
    };
    for (const auto& stream : streams) {
        for (std::size_t step = 1; step <= stream.size(); ++step) {
            CAPTURE(stream);
            CAPTURE(step);
            net::sse_reader reader{1000};
            CHECK(read_all(reader, stream, step) == data_of(stream));
        }
    }
}

TEST_CASE("an event may have the message's limit and 64 KiB, and not a byte more")
{
    constexpr auto limit = 100 + net::sse_reader::extra;
    for (const std::size_t step : {limit + 1, std::size_t{1000}}) {
        CHECK(takes(limit - 1, step));
        CHECK(takes(limit, step));
        CHECK_FALSE(takes(limit + 1, step));
    }
    net::sse_reader reader{100};
    for (int i = 0; i < 10; ++i) {
        CHECK(read_all(reader, ": " + std::string(limit - 20, 'x') + "\n\ndata: a\n\n", limit).size() == 1);
    }
}

TEST_SUITE_END();
