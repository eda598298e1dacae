#include "core/host_names.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("core/host_names");

namespace {

std::string label(std::size_t size)
{
    return std::string(size, 'a');
}

// Of 253 bytes with `last` as the last label.
std::string longest_name(const std::string& last)
{
    const auto dots = label(63) + '.' + label(63) + '.' + label(63) + '.';
    return dots + label(core::longest_host_name - dots.size() - 1 - last.size()) + '.' + last;
}

}  // namespace

TEST_CASE("A host name has labels of letters, digits and hyphens")
{
    for (const auto* name :
         {"a", "words.example.com", "WORDS.Example.COM", "1.example", "a-b.c--d", "xn--bcher-kva.de", "4.a1"}) {
        CAPTURE(name);
        CHECK(core::valid_host_name(name));
    }
    for (const auto* name :
         {"",
          ".",
          "a.",
          ".a",
          "a..b",
          "-a",
          "a-",
          "a.-b",
          "a_b",
          "a b",
          "a:80",
          "*.a",
          "b\xC3\xBC"
          "cher.de",
          "127.0.0.1",
          "a.1",
          "[::1]",
          "http://a"}) {
        CAPTURE(name);
        CHECK_FALSE(core::valid_host_name(name));
    }
}

TEST_CASE("A label has at most 63 bytes and a name at most 253")
{
    CHECK(core::valid_host_name(label(62) + ".a"));
    CHECK(core::valid_host_name(label(63) + ".a"));
    CHECK_FALSE(core::valid_host_name(label(64) + ".a"));
    REQUIRE(longest_name("com").size() == 253);
    CHECK(core::valid_host_name(longest_name("com").substr(1)));
    CHECK(core::valid_host_name(longest_name("com")));
    CHECK_FALSE(core::valid_host_name(longest_name("com") + "a"));
}

TEST_CASE("A pattern has {id} once, in the first of at least two labels")
{
    for (const auto* pattern : {"{id}.example.com", "{id}.a", "agent-{id}.example.com", "{id}-1.example.com"}) {
        CAPTURE(pattern);
        CHECK(core::valid_host_pattern(pattern));
    }
    for (const auto* pattern :
         {"",
          "{id}",
          "example.com",
          "a.{id}.com",
          "{id}.{id}.com",
          "{id}{id}.com",
          "-{id}.com",
          "{id}-.com",
          "{id}.1",
          "{ID}.com",
          "{id}.Com",
          "{name}.com",
          "{id}_.com",
          "{id}.com:80",
          "*.{id}.com"}) {
        CAPTURE(pattern);
        CHECK_FALSE(core::valid_host_pattern(pattern));
    }
}

TEST_CASE("An id of small letters, digits and hyphens makes a name, and the name leads back to it")
{
    for (const auto* pattern : {"{id}.example.com", "agent-{id}.example.com", "{id}-x.example.com"}) {
        for (const auto* id : {"words", "a", "7", "a-b", "a--b"}) {
            CAPTURE(pattern);
            CAPTURE(id);
            const auto name = core::host_of_agent(pattern, id);
            CHECK_FALSE(name.empty());
            CHECK(core::agent_of_host(pattern, name) == id);
        }
    }
    CHECK(core::host_of_agent("{id}.example.com", "words") == "words.example.com");
    CHECK(core::host_of_agent("a-{id}-b.example.com", "words") == "a-words-b.example.com");
}

TEST_CASE("An id that would make no label, or one that reads as another id, makes no name")
{
    for (const auto* id : {"", "Words", "a.b", "a_b", "-a", "a-"}) {
        CAPTURE(id);
        CHECK(core::host_of_agent("{id}.example.com", id).empty());
    }
    CHECK(core::host_of_agent("", "words").empty());
    CHECK_FALSE(core::host_of_agent("a{id}.example.com", label(62)).empty());
    CHECK(core::host_of_agent("a{id}.example.com", label(63)).empty());
}

TEST_CASE("An id makes no name in another script, which could look like the name of another agent")
{
    CHECK(core::host_of_agent("{id}.example.com", "xn--wrds-jta").empty());
    CHECK(core::agent_of_host("{id}.example.com", "xn--wrds-jta.example.com").empty());
    CHECK(core::host_of_agent("x{id}.example.com", "n--wrds-jta").empty());
    CHECK(core::agent_of_host("x{id}.example.com", "xn--wrds-jta.example.com").empty());
    CHECK(core::host_of_agent("a-{id}.example.com", "xn--a") == "a-xn--a.example.com");
    CHECK(core::host_of_agent("{id}.example.com", "xn-a") == "xn-a.example.com");
    CHECK(core::valid_host_name("xn--wrds-jta.example.com"));
}

TEST_CASE("A name that the pattern does not make leads to no agent")
{
    for (const auto* name :
         {"",
          "example.com",
          ".example.com",
          "words.example.org",
          "words.example.com.org",
          "a.b.example.com",
          "Words.example.com",
          "words_1.example.com",
          "-a.example.com",
          "xwords.example.com.",
          "words"}) {
        CAPTURE(name);
        CHECK(core::agent_of_host("{id}.example.com", name).empty());
    }
    CHECK(core::agent_of_host("", "words.example.com").empty());
    CHECK(core::agent_of_host("a-{id}.example.com", "a-.example.com").empty());
    CHECK(core::agent_of_host("a-{id}.example.com", "b-words.example.com").empty());
    CHECK(core::agent_of_host("{id}.example.com", label(63) + ".example.com") == label(63));
    CHECK(core::agent_of_host("{id}.example.com", label(64) + ".example.com").empty());
}

TEST_SUITE_END();
