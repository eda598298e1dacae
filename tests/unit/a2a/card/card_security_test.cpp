#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace a2a_test;
using core::card_shape;

TEST_SUITE_BEGIN("a2a/card/card_security");

TEST_CASE("Alternatives of a requirement follow the order in which clients prefer flows, the last scheme first")
{
    const auto made = shaped(
        with_member(
            old_url,
            R"("securitySchemes":{"a":{"type":"oauth2","flows":{"password":{},"implicit":{}}},"k":{"type":"mutualTLS"},)"
            R"("b":{"type":"oauth2","flows":{"clientCredentials":{},"authorizationCode":{}}}},)"
            R"("security":[{"a":["x"],"k":[],"b":["y","z"]}])"
        ),
        card_shape::v1
    );
    std::vector<std::string> names;
    for (const auto& each : made.document["securityRequirements"]) {
        auto& all = names.emplace_back();
        for (const auto& [name, scopes] : each["schemes"].items()) {
            all += name + ' ';
        }
        CHECK(each["schemes"]["k"] == parsed(R"({"list":[]})"));
        CHECK(each["schemes"].front() == parsed(R"({"list":["x"]})"));
        CHECK(each["schemes"].back() == parsed(R"({"list":["y","z"]})"));
    }
    CHECK(
        names ==
        std::vector<std::string>{
            "a k b ",
            "a k b__clientCredentials ",
            "a__password k b ",
            "a__password k b__clientCredentials "
        }
    );
}

TEST_CASE("The parts of a scheme get names that no other scheme has")
{
    const auto made = shaped(
        with_member(
            old_url,
            R"("securitySchemes":{"o__password":{"type":"mutualTLS"},"o":{"type":"oauth2","flows":{"implicit":{},"password":{}}},)"
            R"("o__password_2":{"type":"mutualTLS"}},"security":[{"o":[]},{"o":[],"o__password_3":["s"]}])"
        ),
        card_shape::v1
    );
    std::vector<std::string> names;
    for (const auto& [name, scheme] : made.document["securitySchemes"].items()) {
        names.push_back(name);
    }
    CHECK(names == std::vector<std::string>{"o__password", "o", "o__password_3", "o__password_2"});
    const auto& demands = made.document["securityRequirements"];
    REQUIRE(demands.size() == 4);
    CHECK(demands[1] == parsed(R"({"schemes":{"o__password_3":{"list":[]}}})"));
    // Asked for by the part's own name too: once.
    CHECK(demands[3] == parsed(R"({"schemes":{"o__password_3":{"list":[]}}})"));
}

TEST_CASE("What alternatives add to a card is bounded, and each requirement keeps its first")
{
    const std::string scope(1000, 's');
    std::string demands;
    for (int i = 0; i < 64; ++i) {
        demands += (i == 0 ? "" : ",") + (R"({"o":[")" + scope + R"("],"p":[")" + std::to_string(i) + "\"]}");
    }
    const std::string scheme = R"({"type":"oauth2","flows":{"implicit":{},"password":{},"clientCredentials":{}}})";
    const auto made = shaped(
        with_member(
            old_url,
            R"("securitySchemes":{"o":)" + scheme + R"(,"p":)" + scheme + R"(},"security":[)" + demands + "]"
        ),
        card_shape::v1
    );
    std::set<std::string> seen;
    for (const auto& each : made.document["securityRequirements"]) {
        for (const auto& [name, scopes] : each["schemes"].items()) {
            if (name.starts_with('p')) {
                seen.insert(scopes["list"][0].get<std::string>());
            }
        }
    }
    CHECK(seen.size() == 64);
    const auto added = made.document["securityRequirements"].size() - 64;
    CHECK(added * 1024 > 56 * 1024);
    CHECK(added * 1024 <= 65 * 1024);
}

TEST_CASE("Names that an agent has taken make the parts of a scheme no longer")
{
    std::string taken;
    std::string name = "a__password";
    for (int i = 0; i < 900; ++i) {
        taken += ",\"" + name + R"(":{"type":"mutualTLS"})";
        name += '_';
    }
    std::string demands;
    for (int i = 0; i < 64; ++i) {
        demands += std::string{i == 0 ? "" : ","} + R"({"a":[]})";
    }
    const auto made = shaped(
        with_member(
            old_url,
            R"("securitySchemes":{"a":{"type":"oauth2","flows":{"implicit":{},"password":{}}})" + taken +
                R"(},"security":[)" + demands + "]"
        ),
        card_shape::v1
    );
    CHECK(made.document["securityRequirements"].size() == 128);
    CHECK(core::to_text(made.document["securityRequirements"]).size() < 128 * 64);
}

TEST_CASE("64 requirements are kept, and 64 schemes of one")
{
    const auto names = [](std::size_t count) {
        std::string demand = "{";
        for (std::size_t i = 0; i < count; ++i) {
            demand += (i == 0 ? "\"s" : ",\"s") + std::to_string(i) + "\":[]";
        }
        return demand + "}";
    };
    const auto read = [](const std::string& member, const std::string& demands) {
        const auto list = "\"" + member + "\":[" + demands + "]";
        return *a2a::parse_card(with_member(old_url, list + R"(,"x":0)"));
    };
    for (const std::string member : {"security", "securityRequirements"}) {
        CAPTURE(member);
        for (const std::size_t count : {63U, 64U, 65U}) {
            CAPTURE(count);
            std::string demands = R"({"a":[]})";
            for (std::size_t i = 1; i < count; ++i) {
                demands += R"(,{"b":[]})";
            }
            const auto many = read(member, demands);
            CHECK(many.document[member].size() == std::min<std::size_t>(count, 64));
            const a2a::card_problem cut{member + "[64]", "dropped with what follows: too many"};
            CHECK(std::ranges::count(many.problems, cut) == (count > 64 ? 1 : 0));

            const auto wide = read(member, names(count) + R"(,{"a":[]})");
            CHECK(wide.document[member].size() == (count > 64 ? 1 : 2));
            const a2a::card_problem dropped{member + "[0]", "asks for more than 64 schemes at once"};
            CHECK(std::ranges::count(wide.problems, dropped) == (count > 64 ? 1 : 0));
        }
        // An empty list would say that no caller has to authenticate.
        const auto only = read(member, names(65) + "," + names(66));
        REQUIRE(only.document[member].size() == 1);
        CHECK(only.document[member][0].size() == 64);
        const auto wrapped = read(member, R"({"schemes":)" + names(990) + "}");
        CHECK(wrapped.document[member][0]["schemes"].size() == 64);
    }
    const auto skill = *a2a::parse_card(
        R"({"name":"n","url":"http://agent.internal:9000/","skills":[{"id":"s","security":[)" + names(65) +
        R"(,{"a":[]}]}]})"
    );
    CHECK(skill.document["skills"][0]["security"] == parsed(R"([{"a":[]}])"));
    CHECK(std::ranges::count(skill.problems, std::string{"skills[0].security[0]"}, &a2a::card_problem::path) == 1);
}

TEST_SUITE_END();
