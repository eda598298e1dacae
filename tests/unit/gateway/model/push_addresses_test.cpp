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
    CHECK(push_lane("a", "u", "1") == push_lane("a", "u", "1"));
    CHECK(push_lane("a", "u", "1") != push_lane("a", "u", "2"));
    CHECK(push_lane("a", "u", "1") != push_lane("a", "v", "1"));
    CHECK(push_lane("a", "u", "1") != push_lane("b", "u", "1"));
    CHECK(push_lane("a", "bc", "") != push_lane("a", "b", "c"));
}

TEST_SUITE_END();
