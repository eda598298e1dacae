#include "bench/request.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

constexpr std::string_view length = "content-length:";

bool named(std::string_view field, std::string_view name)
{
    return field.size() > name.size() && std::equal(name.begin(), name.end(), field.begin(), [](char a, char b) {
               return a == std::tolower(static_cast<unsigned char>(b));
           });
}

std::size_t length_of(std::string_view value)
{
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    std::size_t out = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), out).ec != std::errc{}) {
        throw std::runtime_error{"not a length: " + std::string{value}};
    }
    return out;
}

}  // namespace

std::optional<request> first_request(std::string_view bytes)
{
    const auto head_end = bytes.find("\r\n\r\n");
    if (head_end == std::string_view::npos) {
        return std::nullopt;
    }
    request out;
    auto line_end = bytes.find("\r\n");
    const auto line = bytes.substr(0, line_end);
    const auto space = line.find(' ');
    const auto second = line.find(' ', space + 1);
    if (space == std::string_view::npos || second == std::string_view::npos) {
        throw std::runtime_error{"not a request line: " + std::string{line}};
    }
    out.method = line.substr(0, space);
    out.target = line.substr(space + 1, second - space - 1);
    std::size_t body = 0;
    while (line_end < head_end) {
        const auto start = line_end + 2;
        line_end = bytes.find("\r\n", start);
        const auto field = bytes.substr(start, line_end - start);
        if (named(field, length)) {
            body = length_of(field.substr(length.size()));
        } else if (named(field, "transfer-encoding:")) {
            throw std::runtime_error{"a chunked request"};
        }
    }
    out.length = head_end + 4 + body;
    return out.length <= bytes.size() ? std::optional{out} : std::nullopt;
}

}  // namespace bench
