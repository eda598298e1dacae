#include "tests/support/gunzip.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <array>
#include <utility>

namespace test_support {

std::optional<std::string> gunzip(std::string_view packed)
{
    constexpr int window_of_gzip = 15 + 16;
    z_stream stream{};
    if (inflateInit2(&stream, window_of_gzip) != Z_OK) {
        return std::nullopt;
    }
    stream.next_in = reinterpret_cast<const unsigned char*>(packed.data());
    stream.avail_in = static_cast<unsigned>(packed.size());
    std::string text;
    std::array<unsigned char, 64 * 1024> room{};
    int step = Z_OK;
    while (step == Z_OK) {
        stream.next_out = room.data();
        stream.avail_out = static_cast<unsigned>(room.size());
        step = inflate(&stream, Z_NO_FLUSH);
        text.append(reinterpret_cast<const char*>(room.data()), room.size() - stream.avail_out);
    }
    const bool whole = step == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    return whole ? std::optional{std::move(text)} : std::nullopt;
}

}  // namespace test_support
