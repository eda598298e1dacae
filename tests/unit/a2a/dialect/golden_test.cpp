// The rows of tests/data/dialect: what each dialect makes of what another says. A row holds the same thing in two
// dialects, `a` and `b`, and is translated both ways, unless `only` names one way. `lost` and `refused` belong to that
// way. tests/data/dialect_tables.json lists what the tables of a translation between generations say, a row each, with the cases that
// show it.
#include "a2a/dialect/walk.hpp"
#include "tests/unit/a2a/dialect/wire_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("a2a/dialect golden files");

namespace {

struct golden_row {
    std::string file;
    std::string says;
    std::string what;
    a2a::operation op = a2a::operation::none;
    std::string only;
    std::string a_name;
    std::string b_name;
    std::string a;
    std::string b;
    std::size_t lost = 0;
    std::string refused;
    a2a::error_profile profile = a2a::error_profile::v1_0_1;
};

a2a::operation operation_called(const std::string& name)
{
    static const std::vector<std::string> names{
        "send",
        "stream",
        "get",
        "list",
        "cancel",
        "subscribe",
        "create_push",
        "get_push",
        "list_push",
        "delete_push",
        "extended_card"
    };
    const auto found = std::ranges::find(names, name);
    REQUIRE_MESSAGE(found != names.end(), name);
    return static_cast<a2a::operation>(found - names.begin());
}

golden_row read_row(const std::string& file, std::string_view raw)
{
    const auto text = [raw](std::string_view name) { return tests::text_of(tests::member_of(raw, name)); };
    golden_row row;
    row.file = file;
    row.says = text("says");
    row.what = text("what");
    row.op = operation_called(text("op"));
    row.only = text("only");
    row.a_name = text("a");
    row.b_name = text("b");
    row.a = tests::member_of(raw, "in_a");
    row.b = tests::member_of(raw, "in_b");
    const std::string lost{tests::member_of(raw, "lost")};
    row.lost = lost.empty() ? 0 : std::stoul(lost);
    row.refused = tests::member_of(raw, "refused");
    row.profile = text("profile") == "1.0.0" ? a2a::error_profile::v1_0_0 : a2a::error_profile::v1_0_1;
    return row;
}

// Calls `each` for the elements of the array in the file.
template <class Each>
void each_in(const std::filesystem::path& file, Each&& each)
{
    std::ifstream in{file, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    const auto begin = text.find('[');
    REQUIRE(begin != std::string::npos);
    a2a::array_walker at{std::string_view{text}.substr(begin)};
    std::string_view raw;
    while (at.next(raw)) {
        each(raw);
    }
    CHECK(text.substr(text.size() - at.rest.size()).find_first_not_of(" \n]") == std::string::npos);
}

std::vector<golden_row> all_rows()
{
    std::vector<golden_row> rows;
    for (const auto& entry : std::filesystem::directory_iterator{CARDEA_TEST_DATA "/dialect"}) {
        if (entry.path().extension() == ".json") {
            each_in(entry.path(), [&](std::string_view raw) {
                rows.push_back(read_row(entry.path().filename().string(), raw));
            });
        }
    }
    return rows;
}

using way = std::pair<std::string, std::string>;  // from a dialect to another

// Calls `each(way)` for what the row shows.
template <class Each>
void each_way(const golden_row& row, Each&& each)
{
    if (row.only != "b>a") {
        each(way{row.a_name, row.b_name});
    }
    if (row.only != "a>b") {
        each(way{row.b_name, row.a_name});
    }
}

std::string generation_in(const std::string& dialect)
{
    return dialect.substr(0, 3);
}

// From `a` to `b`, or back.
tests::outcome translated(const golden_row& row, bool forth)
{
    const auto from = tests::dialect_called(forth ? row.a_name : row.b_name);
    const auto to = tests::dialect_called(forth ? row.b_name : row.a_name);
    const auto& said = forth ? row.a : row.b;
    if (row.what == "request") {
        return tests::translated_request(from, to, row.op, said);
    }
    a2a::exchange how{.caller = to, .agent = from, .asked = row.op, .sent = row.op};
    how.first_config = row.what == "first of answer";
    how.without_history = row.what == "answer without history";
    return row.what == "event" ? tests::translated_event(how, said) : tests::translated_answer(how, said, row.profile);
}

void check(const golden_row& row, bool forth)
{
    CAPTURE(row.file);
    CAPTURE(row.says);
    CAPTURE(forth);
    const auto made = translated(row, forth);
    CHECK(made.lost == row.lost);
    if (row.refused.empty()) {
        CHECK(made.member.empty());
        CHECK(made.code == 0);
        CHECK(tests::compact(made.text) == tests::compact(forth ? row.b : row.a));
    } else {
        CHECK(made.code == std::stoi(std::string{tests::member_of(row.refused, "code")}));
        CHECK(made.member == tests::text_of(tests::member_of(row.refused, "member")));
    }
}

}  // namespace

TEST_CASE("every row of the golden files is translated as it says, both ways where it says both")
{
    const auto rows = all_rows();
    CHECK(rows.size() > 100);
    for (const auto& row : rows) {
        REQUIRE((row.only.empty() || row.only == "a>b" || row.only == "b>a"));
        REQUIRE((!row.only.empty() || (row.refused.empty() && row.lost == 0)));
        if (row.only != "b>a") {
            check(row, true);
        }
        if (row.only != "a>b") {
            check(row, false);
        }
    }
}

TEST_CASE("every row of the tables of translation has its cases, in each direction that it has")
{
    std::map<std::string, std::set<way>> shown;
    for (const auto& row : all_rows()) {
        each_way(row, [&](const way& each) {
            shown[row.says].insert({generation_in(each.first), generation_in(each.second)});
        });
    }
    std::size_t tables = 0;
    each_in(CARDEA_TEST_DATA "/dialect_tables.json", [&](std::string_view raw) {
        ++tables;
        const auto name = tests::text_of(tests::member_of(raw, "row"));
        const auto ways = tests::text_of(tests::member_of(raw, "ways"));
        CAPTURE(name);
        REQUIRE((ways == "both" || ways == "to 1.0" || ways == "to 0.3" || ways == "any"));
        std::set<way> found;
        a2a::array_walker at{tests::member_of(raw, "says")};
        std::string_view says;
        while (at.next(says)) {
            CAPTURE(says);
            const auto rows = shown.find(tests::text_of(says));
            REQUIRE(rows != shown.end());
            found.insert(rows->second.begin(), rows->second.end());
        }
        CHECK_FALSE(found.empty());
        CHECK((ways == "to 0.3" || ways == "any" || found.contains({"0.3", "1.0"})));
        CHECK((ways == "to 1.0" || ways == "any" || found.contains({"1.0", "0.3"})));
    });
    CHECK(tables >= 78);
}

TEST_CASE("every operation has a request and an answer that are translated from each dialect to each other one")
{
    std::map<std::pair<std::string, a2a::operation>, std::set<way>> shown;
    for (const auto& row : all_rows()) {
        if (row.refused.empty()) {
            each_way(row, [&](const way& each) { shown[{row.what, row.op}].insert(each); });
        }
    }
    for (std::size_t i = 0; i < a2a::operation_count; ++i) {
        const auto what = static_cast<a2a::operation>(i);
        CAPTURE(i);
        // Lists of tasks are of 1.0 alone; cards are shaped by a2a/card/.
        const bool old = what != a2a::operation::list;
        CHECK(shown[{"request", what}].size() == (old ? 12 : 2));
        if (a2a::streaming(what)) {
            CHECK(shown[{"event", what}].size() == 12);
        } else if (old && what != a2a::operation::extended_card) {
            CHECK(shown[{"answer", what}].size() == 12);
        }
    }
}

TEST_SUITE_END();
