// Heads of HTTP/2 reach the parsers with their lines known. Whoever reads the text alone comes to the same verdict.
#include "net/http2/heads.hpp"

#include "tests/unit/net/http1/outcome.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("net/http2/heads");

namespace {

using net::http1::method;
using net::http2::head_builder;
using kind = head_builder::kind;
using fields = std::vector<std::pair<std::string, std::string>>;

constexpr net::http1::head_limits limits{.bytes = 2048, .fields = 12, .target = 60, .value = 90};

struct verdict {
    bool accepted = false;
    std::string told;
};

verdict read_known(head_builder& of, kind what)
{
    if (what == kind::request) {
        net::http1::request_parser parser{limits};
        const auto read = parser.read(of.text(), of.lines());
        return {read.has_value(), read ? tests::describe(parser.head()) : tests::describe(read.error())};
    }
    net::http1::response_parser parser{limits};
    const auto read = parser.read(of.text(), of.lines(), method::get);
    return {read.has_value(), read ? tests::describe(parser.head()) : tests::describe(read.error())};
}

verdict read_text(const std::string& text, kind what)
{
    const auto told = what == kind::request ? tests::read_request(text, {}, tests::buffer::still, limits)
                                            : tests::read_response(text, method::get, {}, tests::buffer::still, limits);
    const auto head = "head of " + std::to_string(text.size()) + " bytes: ";
    return told.starts_with(head) ? verdict{true, told.substr(head.size())} : verdict{false, told};
}

// Gives false if the builder has refused the head itself.
bool build(head_builder& out, kind what, const fields& list, bool last)
{
    out.begin(what);
    for (const auto& [name, value] : list) {
        if (!out.add(name, value)) {
            return false;
        }
    }
    return !out.finish(last);
}

std::string one_of(std::minstd_rand& random, const std::vector<std::string>& words)
{
    return words[random() % words.size()];
}

const std::vector<std::string> names{
    "accept",
    "content-type",
    "content-length",
    "content-length",
    "te",
    "cookie",
    "cookie",
    "host",
    "date",
    "expect",
    "authorization",
    "via",
    "x_y",
    "a!#$%&'*+-.^_`|~9",
    "x-forwarded-for",
    "a-name-that-is-longer-than-a-block-of-sixteen",
    "connection",
    "transfer-encoding",
    "keep-alive",
    "",
    "a b",
    "a:b"
};
const std::vector<std::string> values{
    "",
    "x",
    "trailers",
    "0",
    "7",
    "18446744073709551616",
    "a, b",
    "close",
    "chunked",
    "gzip, chunked",
    "100-continue",
    "timeout=5",
    " padded\t",
    "a.test",
    "caf\xc3\xa9",
    "tab\there",
    std::string(89, 'v'),
    std::string(90, 'v'),
    std::string(91, 'v'),
    std::string(88, 'v') + " \t ",
    "del\x7f",
    std::string("nul\0", 4),
    "\x01",
    "x\r\ny: z",
    "x\r\n\r\n"
};

// Whoever finds the lines by their ends finds others than were added. The library lets no such field in.
bool tells_of_other_lines(const fields& list)
{
    return std::any_of(list.begin(), list.end(), [](const auto& each) {
        const auto& [name, value] = each;
        return value.find('\r') != value.npos || (!name.starts_with(':') && name.find(':') != name.npos);
    });
}

fields some_request(std::minstd_rand& random)
{
    fields out{
        {":method", one_of(random, {"POST", "GET", "POST", "OPTIONS", "HEAD", "BREW", "post", "CONNECT", ""})},
        {":scheme", "http"},
        {":path",
         one_of(
             random,
             {"/",
              "/a.b/C-d_~?x=%41",
              "*",
              "/%4",
              "/[",
              "/ ",
              "//",
              "/a#b",
              "/" + std::string(58, 'p'),
              "/" + std::string(59, 'p'),
              "/" + std::string(60, 'p'),
              "http://a.test/",
              "/ HTTP/1.1\r\nx: y"}
         )}
    };
    if (random() % 8 != 0) {
        out.emplace_back(
            ":authority",
            one_of(random, {"a.test", "a.test:80", "[::1]:8", "A.Test", "a b", "a.test:99999", "@"})
        );
    }
    return out;
}

}  // namespace

TEST_CASE("A head whose lines are known is read like its text")
{
    std::minstd_rand random{39};
    int accepted = 0;
    int refused = 0;
    int hostile = 0;
    for (int round = 0; round < 40'000; ++round) {
        const auto what = round % 2 == 0 ? kind::request : kind::answer;
        auto list = what == kind::request
                        ? some_request(random)
                        : fields{
                              {":status",
                               one_of(random, {"200", "204", "304", "404", "100", "101", "099", "600", "20", "2000"})}
                          };
        for (auto left = random() % 5; left > 0; --left) {
            list.emplace_back(one_of(random, names), one_of(random, values));
        }
        head_builder built{limits};
        if (!build(built, what, list, random() % 2 == 0)) {
            continue;
        }
        const auto known = read_known(built, what);
        CAPTURE(built.text());
        if (tells_of_other_lines(list)) {
            CHECK_FALSE(known.accepted);
            ++hostile;
            continue;
        }
        const auto text = read_text(built.text(), what);
        CHECK(known.told == text.told);
        CHECK(known.accepted == text.accepted);
        (known.accepted ? accepted : refused) += 1;
    }
    CHECK(accepted > 3'000);
    CHECK(refused > 3'000);
    CHECK(hostile > 3'000);
}

TEST_CASE("The facts of a name are the same whenever it comes and however it is written")
{
    using id = net::http1::field_name;
    struct row {
        std::string name;
        id is;
        bool of_http1;
        bool secret_of_requests;
        bool secret_of_answers;
    };
    const row rows[] = {
        {"te", id::te, true, false, false},
        {"host", id::host, true, false, false},
        {"connection", id::connection, true, false, false},
        {"transfer-encoding", id::transfer_encoding, true, false, false},
        {"content-type", id::content_type, false, false, false},
        {"authorization", id::authorization, false, true, true},
        {"x-api-key", id::api_key, false, true, true},
        {"set-cookie", id::set_cookie, false, true, true},
        {"cardea-error", id::cardea, false, true, true},
        {"grpc-timeout", id::other, false, false, false},
        {"user-agent", id::other, false, false, false},
        {"x-my-own", id::other, false, true, false},
        {"x-my-token", id::other, false, true, true},
        {"x-mine-of-thirty-bytes-or-more", id::other, false, true, false},
        {"x-session-of-more-than-thirty-bytes", id::other, false, true, true},
        {"x", id::other, false, true, false},
    };
    std::minstd_rand random{7};
    for (int round = 0; round < 20'000; ++round) {
        const auto& each = rows[random() % std::size(rows)];
        auto name = round % 3 == 0 ? "n" + std::to_string(random() % 5000) : each.name;
        const auto lowered = name;
        for (auto& letter : name) {
            letter =
                random() % 4 == 0 && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
        }
        const auto facts = net::http2::facts_of(name.data(), name.size());
        CAPTURE(lowered);
        REQUIRE(name == lowered);
        if (round % 3 != 0) {
            REQUIRE(facts.id == each.is);
            REQUIRE(facts.of_http1 == each.of_http1);
            REQUIRE(facts.secret_of_requests == each.secret_of_requests);
            REQUIRE(facts.secret_of_answers == each.secret_of_answers);
        }
    }
}

TEST_SUITE_END();
