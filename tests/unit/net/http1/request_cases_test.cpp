#include "core/error.hpp"
#include "core/json/json.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

using namespace net::http1;

namespace {

// The file's text is Latin-1 written as UTF-8: only code points up to U+00FF occur.
std::string latin1(const std::string& text)
{
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte < 0x80) {
            bytes.push_back(text[at]);
        } else {
            ++at;
            bytes.push_back(static_cast<char>((byte & 0x03U) << 6U | (static_cast<unsigned char>(text.at(at)) & 0x3fU))
            );
        }
    }
    return bytes;
}

std::string piece(const core::json& part)
{
    if (part.is_string()) {
        return latin1(part.get<std::string>());
    }
    std::string bytes;
    for (auto times = part.at("times").get<unsigned>(); times > 0; --times) {
        bytes += latin1(part.at("repeat").get<std::string>());
    }
    return bytes;
}

core::json cases()
{
    std::ifstream file{CARDEA_TEST_DATA "/http/requests.json"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto parsed = core::parse_json(text);
    REQUIRE(parsed.has_value());
    return parsed->at("cases");
}

struct conversation {
    unsigned messages = 0;             // complete ones
    std::optional<core::error> error;  // what follows them is refused
};

// Length of the body in `rest`; nothing as long as it is not complete.
core::result<std::optional<std::size_t>> body_length(const request_head& head, std::string_view rest)
{
    if (head.body != framing::chunked) {
        return head.content_length <= rest.size() ? std::optional<std::size_t>{head.content_length} : std::nullopt;
    }
    chunked_decoder decoder;
    std::size_t length = 0;
    while (length < rest.size()) {
        const auto step = decoder.decode(rest.substr(length));
        if (step.has_error()) {
            return step.error();
        }
        length += step->consumed;
        if (step->finished) {
            return std::optional<std::size_t>{length};
        }
    }
    return std::optional<std::size_t>{};
}

// Reads as a server does: message after message, until the connection is not to be kept.
conversation converse(std::string_view rest)
{
    conversation result;
    request_parser parser{{}};
    while (!rest.empty()) {
        parser.reset();
        const auto length = parser.parse(rest);
        if (length.has_error()) {
            result.error = length.error();
            break;
        }
        if (*length == 0) {
            break;
        }
        rest.remove_prefix(*length);
        const auto body = body_length(parser.head(), rest);
        if (body.has_error()) {
            result.error = body.error();
            break;
        }
        const std::optional<std::size_t>& complete = *body;
        if (!complete) {
            break;
        }
        ++result.messages;
        if (!parser.head().keep_alive) {
            break;
        }
        rest.remove_prefix(*complete);
    }
    return result;
}

}  // namespace

TEST_SUITE_BEGIN("net/http1/request cases");

TEST_CASE("every raw request case ends as its row says")
{
    const auto rows = cases();
    CHECK(rows.size() == 123);
    for (const auto& row : rows) {
        const auto id = row.at("id").get<std::string>();
        CAPTURE(id);
        std::string bytes;
        for (const auto& part : row.at("send")) {
            bytes += piece(part);
        }
        const auto seen = converse(bytes);
        CHECK(seen.messages == row.at("messages").get<unsigned>());
        CHECK(seen.error.has_value() == row.contains("refused"));
        if (!seen.error || !row.contains("refused")) {
            continue;
        }
        CAPTURE(seen.error->detail);
        const auto allowed = row.at("refused").get<std::vector<unsigned>>();
        CHECK(std::find(allowed.begin(), allowed.end(), core::http_status(seen.error->code)) != allowed.end());
        CHECK(seen.error->from == core::side::caller);
    }
}

TEST_SUITE_END();
