#include "gateway/access/principal_parts.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace gateway::access;
using core::json;
using texts = std::vector<std::string>;

TEST_SUITE("access principal_parts")
{
    TEST_CASE("An id is one line of 1 to 256 bytes")
    {
        CHECK(is_principal_id("spiffe://a/b"));
        CHECK(is_principal_id(std::string(256, 'a')));
        CHECK_FALSE(is_principal_id(std::string(257, 'a')));
        CHECK_FALSE(is_principal_id(""));
        CHECK_FALSE(is_principal_id("a\nb"));
        CHECK_FALSE(
            is_principal_id("a\xC2\x85"
                            "b")
        );
        CHECK_FALSE(is_principal_id(std::string{"a\0b", 3}));
    }

    TEST_CASE("Words are in a text with spaces or in a list, texts only in a list")
    {
        CHECK(words_in(json(" a  b ")) == texts{"a", "b"});
        CHECK(words_in(json{"a b", "", "c", 7}) == texts{"a b", "c"});
        CHECK(words_in(json(7)).empty());
        CHECK(texts_in(json("a b")).empty());
        CHECK(texts_in(json(nullptr)).empty());
    }

    TEST_CASE("Claims are simple values and lists of them, up to the limits")
    {
        const json object{{"a", 1}, {"b", {true, "x"}}, {"c", {{"d", 1}}}, {"e", nullptr}, {"left", "out"}};
        constexpr std::array<std::string_view, 1> others{"left"};
        CHECK(claims_in(object, others) == std::vector<core::claim>{{"a", "1"}, {"b", "true"}, {"b", "x"}});
        json many = json::object();
        for (int i = 0; i < 65; ++i) {
            many["c" + std::to_string(i)] = std::string(i == 0 ? 257 : 256, 'v');
        }
        CHECK(claims_in(many, {}).size() == 64);
        CHECK(claims_in(many, {})[0].first == "c1");
    }
}

}  // namespace
