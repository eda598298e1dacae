#include "core/json/json_patch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using core::json;

TEST_SUITE_BEGIN("core/json/json_patch");

namespace {

json read(const std::string& text)
{
    auto parsed = core::parse_json(text);
    REQUIRE(parsed.has_value());
    return *parsed;
}

}  // namespace

TEST_CASE("a patch turns every document into every other")
{
    const std::vector<std::string> documents{
        "null",
        "1",
        R"("a")",
        "[]",
        "{}",
        "[1,2,3]",
        "[1,[2],3,4,5]",
        R"([{"a":1}])",
        R"({"a":1,"b":[1,2],"c":{"d":"x"}})",
        R"({"c":{"d":"y","e":null},"b":[1,2,3],"a":1})",
        R"({"a/b":1,"m~n":{"~1":[0]}})",
        R"({"a/b":2,"m~n":{"~1":[]},"":{"":1}})",
        R"({"name":"n","skills":[{"id":"a","tags":["x"]},{"id":"b"}]})",
        R"({"name":"n","skills":[{"id":"b"}]})",
    };
    for (const auto& from : documents) {
        for (const auto& to : documents) {
            CAPTURE(from);
            CAPTURE(to);
            const auto patch = core::json_patch(read(from), read(to));
            // An unordered reader, as those of patches are.
            const auto made = nlohmann::json(read(from)).patch(nlohmann::json(read(patch)));
            CHECK(made == nlohmann::json(read(to)));
            CHECK((patch == "[]") == (nlohmann::json(read(from)) == nlohmann::json(read(to))));
        }
    }
}

TEST_CASE("A patch that is as long as one that replaces the whole is taken, and one that is a byte longer is not")
{
    bool whole = false;
    bool as_long = false;
    for (std::size_t length = 0; length < 100; ++length) {
        CAPTURE(length);
        const json same(std::string(length, 'x'));
        const auto patch = core::json_patch({{"a", 1}, {"b", 1}, {"c", same}}, {{"a", 2}, {"b", 2}, {"c", same}});
        const auto most = core::json_patch_of_whole("replace", {{"a", 2}, {"b", 2}, {"c", same}}).size();
        CHECK(patch.size() <= most);
        whole = whole || read(patch)[0]["path"] == "";
        as_long = as_long || (read(patch)[0]["path"] == "/a" && patch.size() == most);
    }
    CHECK(whole);
    CHECK(as_long);
}

TEST_CASE("a patch is never longer than one that replaces the whole document")
{
    const std::string name(1000, 'n');
    for (const int changes : {1, 2, 100}) {
        CAPTURE(changes);
        json before{{name, json::array()}};
        json after = before;
        for (int i = 0; i < 100; ++i) {
            before[name].push_back(0);
            after[name].push_back(i < changes ? 1 : 0);
        }
        const auto patch = core::json_patch(before, after);
        CHECK(patch.size() <= core::json_patch_of_whole("replace", after).size());
        CHECK((read(patch)[0]["path"] == "") == (changes > 1));
        CHECK(before.patch(read(patch)) == after);
    }
}

TEST_SUITE_END();
