#include "gateway/access/hashed_cache.hpp"

#include "core/access.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>

namespace {

using namespace std::chrono_literals;
using core::keyed_hash;
using accepted_cache = gateway::access::hashed_cache<std::shared_ptr<const core::principal>>;

const core::steady_time start{1h};

std::shared_ptr<const core::principal> someone(std::string id)
{
    auto made = std::make_shared<core::principal>();
    made->id = std::move(id);
    return made;
}

TEST_SUITE("accepted credentials")
{
    TEST_CASE("What was not accepted is not known")
    {
        keyed_hash hash;
        accepted_cache cache;
        CHECK(cache.find(hash("", "a"), start) == nullptr);
        cache.insert(hash("", "a"), someone("alice"), start + 1s);
        CHECK(cache.find(hash("", "b"), start) == nullptr);
        CHECK(cache.find(hash("a", ""), start) == nullptr);
    }

    TEST_CASE("A hash of nothing is not known where a place is empty")
    {
        accepted_cache cache;
        cache.insert({1, 1}, someone("alice"), start + 1s);
        CHECK(cache.find({0, 0}, start) == nullptr);
    }

    TEST_CASE("An accepted credential is known until its end")
    {
        keyed_hash hash;
        accepted_cache cache;
        cache.insert(hash("", "a"), someone("alice"), start + 1s);
        REQUIRE(cache.find(hash("", "a"), start) != nullptr);
        CHECK((*cache.find(hash("", "a"), start))->id == "alice");
        CHECK(cache.find(hash("", "a"), start + 999ms) != nullptr);
        CHECK(cache.find(hash("", "a"), start + 1s) == nullptr);
        cache.insert(hash("", "a"), someone("bob"), start + 3s);
        REQUIRE(cache.find(hash("", "a"), start + 2s) != nullptr);
        CHECK((*cache.find(hash("", "a"), start + 2s))->id == "bob");
        cache.clear();
        CHECK(cache.find(hash("", "a"), start) == nullptr);
    }

    TEST_CASE("What was accepted lately is remembered beyond its end, until it is forgotten")
    {
        keyed_hash hash;
        accepted_cache cache;
        CHECK_FALSE(cache.remembers(hash("", "a")));
        cache.forget(hash("", "a"));
        cache.insert(hash("", "a"), someone("alice"), start + 1s);
        CHECK(cache.find(hash("", "a"), start + 1h) == nullptr);
        CHECK(cache.remembers(hash("", "a")));
        CHECK_FALSE(cache.remembers(hash("", "b")));
        CHECK_FALSE(cache.remembers({0, 0}));
        cache.forget(hash("", "b"));
        CHECK(cache.remembers(hash("", "a")));
        cache.forget(hash("", "a"));
        CHECK_FALSE(cache.remembers(hash("", "a")));
        CHECK(cache.find(hash("", "a"), start) == nullptr);
    }

    TEST_CASE("A credential is kept beyond its end only as long as was said, and not once it is forgotten")
    {
        keyed_hash hash;
        accepted_cache cache;
        const auto alice = hash("", "a");
        const auto bob = hash("", "b");
        cache.insert(alice, someone("alice"), start + 1s, start + 3s);
        cache.insert(bob, someone("bob"), start + 1s);
        CHECK(cache.find(alice, start + 1s) == nullptr);
        REQUIRE(cache.find_kept(alice, start + 1s) != nullptr);
        CHECK((*cache.find_kept(alice, start + 3s - 1ns))->id == "alice");
        CHECK(cache.find_kept(alice, start + 3s) == nullptr);
        CHECK(cache.find_kept(bob, start + 1s) == nullptr);
        CHECK(cache.find_kept(hash("", "c"), start) == nullptr);
        cache.forget(alice);
        CHECK(cache.find_kept(alice, start) == nullptr);
    }

    TEST_CASE("However many are accepted, each that is known is its own owner's, and no more than fit are")
    {
        keyed_hash hash;
        accepted_cache cache;
        const auto many = 3 * accepted_cache::capacity;
        for (std::size_t i = 0; i < many; ++i) {
            cache.insert(
                hash("", std::to_string(i)),
                someone(std::to_string(i)),
                start + 1min + std::chrono::milliseconds{i}
            );
        }
        std::size_t known = 0;
        for (std::size_t i = 0; i < many; ++i) {
            const auto* owner = cache.find(hash("", std::to_string(i)), start);
            known += owner == nullptr ? 0 : 1;
            CHECK((owner == nullptr || (*owner)->id == std::to_string(i)));
        }
        CHECK(known <= accepted_cache::capacity);
        CHECK(known > accepted_cache::capacity / 2);
        CHECK(cache.find(hash("", std::to_string(many - 1)), start) != nullptr);
    }

    TEST_CASE("Two hashes have different keys, and one tells texts apart by where they are cut")
    {
        keyed_hash one;
        keyed_hash other;
        CHECK(one("", "a") == one("", "a"));
        CHECK(one("", "a") != other("", "a"));
        const std::set<core::hash_value> values{one("", "ab"), one("a", "b"), one("ab", ""), one("", "ba")};
        CHECK(values.size() == 4);
    }
}

}  // namespace
