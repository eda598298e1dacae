#include "gateway/telemetry/gzip_stream.hpp"

#include "tests/support/gunzip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/gzip_stream");

namespace {

using gateway::telemetry::gzip_stream;

// In pieces of this size.
std::string packed(std::string_view text, std::size_t piece)
{
    const auto stream = gzip_stream::make();
    REQUIRE(stream != nullptr);
    std::string out;
    while (!text.empty()) {
        stream->add(text.substr(0, piece), out);
        text.remove_prefix(std::min(piece, text.size()));
    }
    stream->finish(out);
    return out;
}

// Digits that do not repeat, so that there is more output than the stream has room for at a time.
std::string digits(std::size_t size)
{
    std::string out;
    for (std::size_t i = 1; out.size() < size; i = i * 6364136223846793005U + 1442695040888963407U) {
        out += std::to_string(i);
    }
    out.resize(size);
    return out;
}

}  // namespace

TEST_CASE("What comes out is one member of gzip with the text, in whatever pieces it was added")
{
    for (const auto& text : {std::string{}, std::string{"a"}, std::string(1'000'000, 'a'), digits(300'000)}) {
        for (const std::size_t piece : {std::size_t{1000}, std::size_t{16 * 1024}, std::size_t{1'000'000}}) {
            CAPTURE(text.size());
            CAPTURE(piece);
            const auto unpacked = test_support::gunzip(packed(text, piece));
            REQUIRE(unpacked.has_value());
            CHECK(*unpacked == text);
        }
    }
}

TEST_CASE("Text that repeats becomes small")
{
    std::string page;
    for (int i = 0; i < 10'000; ++i) {
        page += "cardea_agent_calls_total{agent=\"agent-" + std::to_string(i) + "\",outcome=\"upstream_error\"} 0\n";
    }
    CHECK(packed(page, 16 * 1024).size() < page.size() / 20);
}

TEST_SUITE_END();
