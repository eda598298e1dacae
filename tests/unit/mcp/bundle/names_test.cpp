#include "mcp/bundle/names.hpp"

#include "jose/digest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/bundle/names");

using mcp::exposed_name;
using mcp::name_claim;
using mcp::name_form;
using mcp::settled_names;

namespace {

std::string digits_of(std::string_view text)
{
    return jose::sha256_hex(text).substr(0, 8);
}

}  // namespace

TEST_CASE("a name has its prefix, and characters that strict clients refuse become underscores")
{
    CHECK(exposed_name("files", "read-file_2", 48) == "files__read-file_2");
    CHECK(exposed_name("", "read", 48) == "read");
    CHECK(exposed_name("a", "x.y/z w", 48) == "a__x_y_z_w");
    CHECK(exposed_name("a", "caf\xC3\xA9\xF0\x9F\x98\x80!", 48) == "a__caf___");
    CHECK(exposed_name("a", "\xFF\xC3", 48) == "a____");
}

TEST_CASE("a name that is too long ends in digits of the SHA-256 of the name at the member")
{
    const std::string own(60, 'n');
    const auto name = exposed_name("a", own, 24);
    CHECK(name == "a__" + std::string(12, 'n') + "_" + digits_of(own));
    CHECK(name.size() == 24);
    CHECK(exposed_name("a", std::string(21, 'n'), 24).size() == 24);
    CHECK(exposed_name("a", std::string(21, 'n'), 24) == "a__" + std::string(21, 'n'));
    CHECK(exposed_name("", std::string(200, '.'), 128).size() == 128);
}

TEST_CASE("of names that become equal all are marked, in any order")
{
    std::vector<name_claim> claims{{"m", "a.b"}, {"m", "a_b"}, {"m", "c"}};
    const auto settled = settled_names(claims, 48);
    CHECK(settled[0].exposed == "m__a_b_" + digits_of("a.b"));
    CHECK(settled[0].form == name_form::marked);
    CHECK(settled[1].exposed == "m__a_b_" + digits_of("a_b"));
    CHECK(settled[2].exposed == "m__c");
    std::ranges::reverse(claims);
    CHECK(settled_names(claims, 48)[2].exposed == settled[0].exposed);
    CHECK(settled_names(claims, 48)[1].exposed == settled[1].exposed);
}

TEST_CASE("a member without a prefix renames nothing of others")
{
    const std::vector<name_claim> claims{{"", "a__x"}, {"a", "x"}};
    const auto settled = settled_names(claims, 48);
    CHECK(settled[0].exposed == "a__x_" + digits_of("a__x"));
    CHECK(settled[1].exposed == "a__x");
}

TEST_CASE("a name that looks like a marked one moves out of its way")
{
    const std::string impostor = "a_b_" + digits_of("a.b");
    const std::vector<name_claim> claims{{"m", "a.b"}, {"m", "a_b"}, {"m", impostor}};
    const auto settled = settled_names(claims, 48);
    CHECK(settled[0].exposed == "m__" + impostor);
    CHECK(settled[2].exposed == "m__" + impostor + "_" + digits_of(impostor));
}

TEST_CASE("prefixes that are cut to the same text are told apart by the SHA-256 of the whole")
{
    const std::string one = "abcdefghijklmnopqrstuvwxyz1";
    const std::string two = "abcdefghijklmnopqrstuvwxyz2";
    const std::vector<name_claim> claims{{one, "x"}, {two, "x"}};
    const auto settled = settled_names(claims, 24);
    CHECK(settled[0].exposed == one.substr(0, 15) + "_" + digits_of(one + "__x"));
    CHECK(settled[1].exposed == two.substr(0, 15) + "_" + digits_of(two + "__x"));
    CHECK(settled[1].form == name_form::marked_twice);
}

TEST_CASE("taken names are given to nobody, and what stays equal has no name")
{
    const std::vector<std::string> taken{"find_tools"};
    const std::vector<name_claim> claims{{"", "find_tools"}, {"", "same"}, {"", "same"}};
    const auto settled = settled_names(claims, 48, taken);
    CHECK(settled[0].exposed == "find_tools_" + digits_of("find_tools"));
    CHECK(settled[1].exposed.empty());
    CHECK(settled[2].exposed.empty());
}

TEST_CASE("a chain of names, each the marked form of the one before, is settled quickly and without equal ones")
{
    std::vector<std::string> owns{"a.b", "a_b"};
    for (int i = 0; i < 3000; ++i) {
        owns.push_back(exposed_name("", owns.back(), 48, name_form::marked));
    }
    std::vector<name_claim> claims;
    for (const auto& own : owns) {
        claims.push_back({"", own});
    }
    std::set<std::string> names;
    for (const auto& each : settled_names(claims, 48)) {
        CHECK(each.exposed.size() <= 48);
        if (!each.exposed.empty()) {
            CHECK(names.insert(each.exposed).second);
        }
    }
    CHECK(names.size() > 1000);
}

TEST_SUITE_END();
