#include "core/boxed.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>

namespace {

using text_box = core::boxed<std::string>;

}  // namespace

TEST_SUITE_BEGIN("boxed");

TEST_CASE("a box that has nothing is equal to another such box only")
{
    const text_box none;
    CHECK_FALSE(none.has_value());
    CHECK(none == text_box{});
    CHECK_FALSE(none == text_box{std::string{}});
    CHECK(none.value_or("other") == "other");
    CHECK(sizeof(none) == sizeof(void*));
}

TEST_CASE("a copy has a value of its own")
{
    text_box first{std::string{"a"}};
    text_box second = first;
    CHECK(second == first);
    *second += "b";
    CHECK(*first == "a");
    second = first;
    CHECK(*second == "a");
    second = std::move(first);
    CHECK(*second == "a");
    second->push_back('c');
    CHECK(second.value_or("other") == "ac");
    second.reset();
    CHECK_FALSE(second);
    second = text_box{second};
    CHECK_FALSE(second.has_value());
    CHECK(second.emplace().empty());
}

TEST_SUITE_END();
