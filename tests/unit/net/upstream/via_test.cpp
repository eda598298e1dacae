#include "net/upstream/via.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("net/upstream/via");

namespace {

net::http1::field_list lines(const std::vector<std::string>& values)
{
    net::http1::field_list made;
    for (const auto& value : values) {
        made.push_back({net::http1::field_name::via, "Via", value});
    }
    made.push_back({net::http1::field_name::other, "X-Via", "1.1 another"});
    return made;
}

const std::string own{net::own_pseudonym()};

std::string written(const std::vector<std::string>& values, std::string_view version = "1.1")
{
    std::string text;
    net::write_via(text, lines(values), version);
    return text;
}

}  // namespace

TEST_CASE("the process has one name, which is a pseudonym that nobody guesses")
{
    CHECK(own.starts_with("cardea-"));
    CHECK(own.size() == 23);
    CHECK(own.find_first_not_of("0123456789abcdef", 7) == std::string::npos);
    CHECK(std::string_view{own} == net::own_pseudonym());
}

TEST_CASE("what came before is kept in one line, in its order, and the process is the last")
{
    CHECK(written({}) == "Via: 1.1 " + own + "\r\n");
    CHECK(written({}, "1.0") == "Via: 1.0 " + own + "\r\n");
    CHECK(written({"1.1 a"}, "2.0") == "Via: 1.1 a, 2.0 " + own + "\r\n");
    CHECK(written({"1.0 a (x, y)", "", "HTTP/2 b:80"}) == "Via: 1.0 a (x, y), HTTP/2 b:80, 1.1 " + own + "\r\n");
}

TEST_CASE("each pass through the process counts, wherever it stands in a line and whatever others wrote")
{
    const auto passes = [](const std::vector<std::string>& values) { return net::way_of(lines(values)).passes; };
    CHECK(passes({}) == 0);
    CHECK(passes({"1.1 cardea", "1.1 cardea-0123456789abcdef"}) == 0);
    CHECK(passes({"1.1 " + own}) == 1);
    CHECK(passes({"1.1 a, 1.1 " + own + ", 1.1 b", "1.0 c (open, 1.1 " + own}) == 2);
    CHECK(passes({"1.1 " + own + ",1.1 " + own + ",1.0 " + own}) == 3);
}

TEST_CASE("Each gateway of this kind on the way counts, this process too")
{
    const auto hops = [](const std::vector<std::string>& values) { return net::way_of(lines(values)).hops; };
    CHECK(hops({}) == 0);
    CHECK(hops({"1.1 another, 1.0 proxy (squid)"}) == 0);
    CHECK(hops({"1.1 " + own}) == 1);
    CHECK(hops({"1.1 cardea-0123456789abcdef, 1.1 b", "1.1 " + own + ", 1.1 cardea"}) == 3);
}

TEST_CASE("the length is that of the line that would be written, without the process")
{
    for (const auto& values : std::vector<std::vector<std::string>>{
             {},
             {""},
             {"1.1 a"},
             {"1.1 a", "1.1 b", "", "1.1 " + own},
         }) {
        const auto length = net::way_of(lines(values)).length;
        const auto rest = std::string{"Via: "}.size() + (length > 0 ? 2 : 0) + 4 + own.size() + 2;
        CHECK(length + rest == written(values).size());
    }
}

TEST_SUITE_END();
