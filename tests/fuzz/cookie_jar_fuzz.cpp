// Any lines as Set-Cookie fields of answers that come one second after the other, or as the text of a jar. Whatever stands in them, the jar stays within
// its bounds, what it sends is one line of visible ASCII and spaces, and it is the same after it was written and read.
#include "net/http1/cookie_jar.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

using net::http1::cookie_jar;
using tests::require;

namespace {

constexpr core::wall_time start{std::chrono::seconds{1'800'000'000}};

void check(const cookie_jar& jar, core::wall_time now)
{
    const auto line = jar.line("/a/b/c", now);
    require(line.size() <= cookie_jar::most_bytes + 3 * cookie_jar::most, "a jar is bounded", line);
    require(std::ranges::all_of(line, [](char c) { return c >= ' ' && c < '\x7f'; }), "a line is plain", line);
    const auto text = jar.to_text();
    require(cookie_jar::of_text(text) == jar, "a jar is the same after it was read", text);
    require(jar.line("/a/b/c", now + std::chrono::hours{24 * 400}).size() <= line.size(), "cookies only end", line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view text{reinterpret_cast<const char*>(data), size};
    check(cookie_jar::of_text(text), start);
    cookie_jar jar;
    auto now = start;
    while (!text.empty()) {
        const auto field = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), field.size() + 1));
        const auto before = jar;
        const bool changed = jar.take(field, {.host = "a.example", .path = "/a/b", .secure = true}, now);
        require(changed != (jar == before), "a jar says whether it has changed", field);
        check(jar, now);
        now += std::chrono::seconds{1};
    }
    return 0;
}
