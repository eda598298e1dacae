#include "gateway/telemetry/line_writer.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

TEST_SUITE_BEGIN("gateway/line_writer");

namespace {

using gateway::telemetry::line_writer;

// What becomes of the pieces that `add` adds.
template <class Add>
std::string written(Add add)
{
    std::string out{"before "};
    line_writer line{out};
    add(line);
    line.end();
    return out;
}

}  // namespace

TEST_CASE("Pieces stand behind one another, however many they are and however long")
{
    for (const std::size_t size : {1U, 7U, 255U, 766U, 767U, 768U, 769U, 1536U, 5000U}) {
        CAPTURE(size);
        const std::string text(size, 't');
        std::string expected{"before "};
        for (int i = 0; i < 5; ++i) {
            expected += "<" + text + "|7>";
        }
        CHECK(written([&](line_writer& line) {
                  for (int i = 0; i < 5; ++i) {
                      line.add("<");
                      line.add(text);
                      line.add("|");
                      line.add_number(7);
                      line.add(">");
                      line.add({});
                  }
              }) == expected);
    }
}

TEST_CASE("Numbers have no more digits than they need, and hexadecimal ones all sixteen")
{
    CHECK(written([](line_writer& line) {
              line.add_number(0);
              line.add(" ");
              line.add_number(std::numeric_limits<std::uint64_t>::max());
              line.add(" ");
              line.add_hex(0xbeef);
          }) == "before 0 18446744073709551615 000000000000beef");
}

TEST_CASE("A text is a JSON string in its place, escaped where JSON wants it")
{
    for (const std::string text :
         {"", "plain", "a \"quoted\" \\ word", "\x01\x7F\n", "gr\xC3\xBC\xC3\x9F", "broken \xFF"}) {
        CAPTURE(text);
        std::string expected{"before <"};
        core::append_json_string(expected, text);
        expected += ">";
        CHECK(written([&](line_writer& line) {
                  line.add("<");
                  line.add_json_string(text);
                  line.add(">");
              }) == expected);
    }
}

TEST_SUITE_END();
