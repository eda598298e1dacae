#include "gateway/access/weak_key_verifier.hpp"

#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::access::weak_key_verifier;
using gateway::model::presented_credential;

constexpr core::wall_time wall{1'800'000'000s};

// Of "hunter2" and of "correct horse", made with Python's hashlib.scrypt.
const std::string hunter = "$scrypt$ln=14,r=8,p=1$c2FsdC1vZi1hbGljZQ$46q/weqCruL37qU8w4gapHZkk0GLkCCSu70XxnQvRhA";
const std::string horse = "$scrypt$ln=14,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$JbN2hANm9NOw4h5BRHZnbjzQ6Jr0QwNWojTOC2WgIbU";

core::api_key key(const std::string& name, const std::string& hash)
{
    core::api_key made;
    made.scrypt = hash;
    made.owner.id = name;
    made.owner.provider = "keys";
    return made;
}

core::access_provider keys(std::vector<core::api_key> all)
{
    return {.name = "keys", .type = core::api_key_provider{.keys = std::move(all)}};
}

struct rig : access_test::key_set_rig {
    std::string owner(const std::string& text, const std::string& field = "x-api-key")
    {
        const auto got = run(verifier.verify({.field = field, .text = text}));
        return got ? got->owner->id : std::string{core::name(got.error().code)};
    }

    weak_key_verifier verifier{[] { return wall; }};
};

TEST_SUITE("access weak_key_verifier")
{
    TEST_CASE("A key is its owner's if it has the hash that another library made")
    {
        rig x;
        x.verifier.set_providers({keys({key("alice", hunter), key("bob", horse)})});
        CHECK(x.owner("hunter2") == "alice");
        CHECK(x.owner("correct horse") == "bob");
        CHECK(x.owner("Hunter2") == "unauthenticated");
        CHECK(x.owner("") == "unauthenticated");
        CHECK(x.owner("hunter2", "X-Other") == "unauthenticated");
        CHECK(x.verifier.reads(core::credential_place::header, "X-API-KEY"));
        CHECK_FALSE(x.verifier.reads(core::credential_place::cookie, "X-API-Key"));
    }

    TEST_CASE("A key is refused from the moment it expires and while it is disabled")
    {
        rig x;
        auto old = key("alice", hunter);
        old.expires = wall;
        auto off = key("bob", horse);
        off.disabled = true;
        x.verifier.set_providers({keys({old, off})});
        CHECK(x.owner("hunter2") == "unauthenticated");
        CHECK(x.owner("correct horse") == "unauthenticated");
        old.expires = wall + 1ms;
        x.verifier.set_providers({keys({old})});
        const auto got = x.run(x.verifier.verify({.field = "X-API-Key", .text = "hunter2"}));
        CHECK(got.value().until == wall + 1ms);
    }

    TEST_CASE("Only some keys wait at a time, and one that comes twice waits once")
    {
        rig x;
        x.verifier.set_providers({keys({key("alice", hunter)})});
        std::vector<std::shared_ptr<std::optional<core::result<gateway::model::accepted_credential>>>> asked;
        const auto ask = [&](const std::string& text) {
            const auto sender = asked.size() / 4;
            asked.push_back(x.begin(x.verifier.verify({.field = "X-API-Key", .text = text, .sender = sender})));
        };
        for (int i = 0; i < 15; ++i) {
            ask("the same");
        }
        for (int i = 0; i < 60; ++i) {
            ask(std::to_string(i));
        }
        const auto all_known = [&] {
            return std::ranges::all_of(asked, [](const auto& each) { return each->has_value(); });
        };
        x.run_until(all_known);
        int unavailable = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const auto code = (**asked[i]).error().code;
            CHECK((code == errc::unauthenticated || i >= 16));
            unavailable += code == errc::access_unavailable ? 1 : 0;
        }
        CHECK(unavailable > 0);
        CHECK(unavailable <= 45);
    }

    TEST_CASE("One address takes a quarter of the places, and others are checked meanwhile")
    {
        rig x;
        x.verifier.set_providers({keys({key("alice", hunter)})});
        std::vector<std::shared_ptr<std::optional<core::result<gateway::model::accepted_credential>>>> asked;
        const auto ask = [&](const std::string& text, std::uint64_t sender) {
            asked.push_back(x.begin(x.verifier.verify({.field = "X-API-Key", .text = text, .sender = sender})));
        };
        for (int i = 0; i < 16; ++i) {
            ask(std::to_string(i), 1);
        }
        ask("hunter2", 2);
        x.run_until([&] { return std::ranges::all_of(asked, [](const auto& each) { return each->has_value(); }); });
        const auto refused = std::ranges::count_if(asked, [](const auto& each) {
            return each->value().has_error() && each->value().error().code == errc::access_unavailable;
        });
        CHECK(refused == 12);
        CHECK(asked.back()->value().has_value());
    }

    TEST_CASE("A place is given back when a check ends in an exception")
    {
        const auto taken = std::make_shared<gateway::access::taken_places>();
        try {
            const gateway::access::waiting_place place{taken, 7};
            CHECK(taken->size() == 1);
            throw std::bad_alloc{};
        } catch (const std::bad_alloc&) {
            CHECK(taken->empty());
        }
    }

    TEST_CASE("What was found among keys that have changed meanwhile does not count")
    {
        rig x;
        x.verifier.set_providers({keys({key("alice", hunter)})});
        const auto asked = x.begin(x.verifier.verify({.field = "X-API-Key", .text = "hunter2"}));
        x.verifier.set_providers({});
        x.run_until([&] { return asked->has_value(); });
        CHECK((**asked).error().code == errc::access_unavailable);
    }
}

}  // namespace
