#include "gateway/model/push_addresses.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/push_addresses");

namespace {

using gateway::model::push_addresses;
using gateway::model::push_receiver;

push_addresses with_keys(const std::string& fills)
{
    std::vector<core::secret> keys;
    for (const char each : fills) {
        keys.emplace_back(std::string(jose::sealing_key_bytes, each));
    }
    return push_addresses{jose::text_sealer{keys}};
}

const push_receiver receiver{
    .url = "https://caller.test/hook?x=1",
    .token = R"("t\u0000")",
    .authentication = R"({"scheme":"Bearer","credentials":"c"})",
    .version = a2a::generation::v1,
    .proof = "proof"
};

}  // namespace

TEST_CASE("an address says for whom its notifications are, to its agent and to whoever has the key")
{
    const auto addresses = with_keys("a");
    const auto sealed = addresses.seal("words", receiver);
    CHECK(addresses.open("words", sealed) == receiver);
    CHECK(with_keys("ba").open("words", sealed) == receiver);
    CHECK_FALSE(addresses.open("dice", sealed).has_value());
    CHECK_FALSE(with_keys("b").open("words", sealed).has_value());
    CHECK_FALSE(addresses.open("words", sealed + "A").has_value());
    CHECK_FALSE(addresses.open("words", "").has_value());
    CHECK(sealed.find("caller.test") == std::string::npos);
    CHECK(addresses.seal("words", receiver) != sealed);
}

TEST_CASE("a receiver without token and authentication comes back as it was")
{
    const auto addresses = with_keys("a");
    const push_receiver plain{.url = "http://h/", .proof = "p"};
    CHECK(addresses.open("a", addresses.seal("a", plain)) == plain);
}

TEST_CASE("a proof is another one each time, and only itself")
{
    const auto addresses = with_keys("a");
    const auto proof = addresses.new_proof();
    CHECK(proof.size() == 22);
    CHECK(addresses.new_proof() != proof);
    const push_receiver owner{.url = "http://h/", .proof = proof};
    CHECK(push_addresses::is_proof(owner, proof));
    CHECK_FALSE(push_addresses::is_proof(owner, proof.substr(1)));
    CHECK_FALSE(push_addresses::is_proof(owner, std::string(22, 'A') == proof ? "B" : std::string(22, 'A')));
    CHECK_FALSE(push_addresses::is_proof(owner, ""));
    CHECK_FALSE(push_addresses::is_proof(push_receiver{}, ""));
}

TEST_CASE("a lane is of one agent, one URL and one task")
{
    using gateway::model::push_lane;
    const push_receiver to{.url = "http://u/"};
    CHECK(push_lane("a", to, "1") == push_lane("a", to, "1"));
    CHECK(push_lane("a", to, "1") != push_lane("a", to, "2"));
    CHECK(push_lane("a", to, "1") != push_lane("a", {.url = "http://v/"}, "1"));
    CHECK(push_lane("a", to, "1") != push_lane("b", to, "1"));
    CHECK(push_lane("a", {.url = "http://bc/"}, "") != push_lane("a", {.url = "http://b/"}, "c"));
}

TEST_CASE("A lane names its owner and its hook, which is one server to one owner")
{
    using gateway::model::names_in;
    using gateway::model::push_lane;
    using gateway::model::push_owner;
    const auto one = push_owner("keys", "one");
    CHECK(one.size() == 16);
    CHECK(one != push_owner("keyso", "ne"));
    const auto lane = push_lane("a", {.url = "http://u/x", .owner = one}, "1");
    CHECK(names_in(lane).owner == one);
    const auto hook = std::string{names_in(lane).hook};
    CHECK(names_in(push_lane("b", {.url = "http://u:80/y", .owner = one}, "2")).hook == hook);
    CHECK(names_in(push_lane("a", {.url = "http://u:81/x", .owner = one}, "1")).hook != hook);
    CHECK(names_in(push_lane("a", {.url = "http://u/x", .owner = push_owner("keys", "two")}, "1")).hook != hook);
    const auto nobodys = push_lane("a", {.url = "http://u/x"}, "1");
    CHECK(names_in(nobodys).owner.empty());
    CHECK(names_in(nobodys).hook == names_in(push_lane("a", {.url = "http://u/y"}, "2")).hook);
    // Of an earlier release.
    CHECK(names_in("HrnDUpxN5mWsvpPCTgxQZQ").owner.empty());
    CHECK(names_in("HrnDUpxN5mWsvpPCTgxQZQ").hook.empty());
}

TEST_CASE("An address says whose it is, and one that an earlier release has sealed is nobody's")
{
    const std::vector<core::secret> keys{core::secret{std::string(jose::sealing_key_bytes, 'a')}};
    const push_addresses addresses{jose::text_sealer{keys}};
    const push_receiver owned{.url = "http://h/", .proof = "p", .owner = gateway::model::push_owner("keys", "one")};
    CHECK(addresses.open("a", addresses.seal("a", owned)) == owned);
    using namespace std::string_view_literals;
    const auto purpose = std::array<std::string_view, 2>{"A2A push 1", "a"};
    const auto old = jose::text_sealer{keys}.seal_long("0p\0http://h/\0\0\0"sv, purpose);
    CHECK(addresses.open("a", old) == push_receiver{.url = "http://h/", .proof = "p"});
}

TEST_SUITE_END();
