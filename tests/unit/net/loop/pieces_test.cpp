#include "net/loop/transport.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("net/pieces");

namespace {

std::string joined(const net::pieces& what)
{
    std::string text;
    for (const auto& piece : what) {
        text.append(static_cast<const char*>(piece.data()), piece.size());
    }
    return text;
}

}  // namespace

TEST_CASE("what is left after any number of bytes was taken is the rest of the text")
{
    const std::string text = "headbody-of-some-lengthend";
    for (std::size_t taken = 0; taken <= text.size(); ++taken) {
        CAPTURE(taken);
        net::pieces what;
        what.add("head");
        what.add("");
        what.add("body-of-some-length");
        what.add("end");
        what.consume(taken);
        CHECK(what.size() == text.size() - taken);
        CHECK(joined(what) == text.substr(taken));
    }
}

TEST_CASE("There is room for twelve pieces, and empty ones take none")
{
    net::pieces what;
    for (int i = 0; i < 12; ++i) {
        CHECK_FALSE(what.full());
        what.add("x");
        what.add("");
    }
    CHECK(what.full());
    CHECK(joined(what) == "xxxxxxxxxxxx");
}

TEST_SUITE_END();
