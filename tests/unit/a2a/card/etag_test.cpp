#include "a2a/card/card.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("a2a/card/etag");

TEST_CASE("the entity tag is strong, quoted and 128 bits of the digest")
{
    CHECK(a2a::strong_etag("abc") == "\"ba7816bf8f01cfea414140de5dae2223\"");
    CHECK(a2a::strong_etag("abc") != a2a::strong_etag("abd"));
    CHECK(a2a::strong_etag(std::string("a\0b", 3)) != a2a::strong_etag("a"));
}

TEST_SUITE_END();
