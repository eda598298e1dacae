// The rows of tests/data/dialect: what each dialect makes of what another says. A row holds the same thing in two
// dialects, `a` and `b`, and is translated both ways, unless `only` names one way. `lost` and `refused` belong to that
// way.
#include "a2a/dialect/walk.hpp"
#include "tests/unit/a2a/dialect/wire_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
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

std::vector<golden_row> all_rows()
{
    std::vector<golden_row> rows;
    for (const auto& entry : std::filesystem::directory_iterator{CARDEA_TEST_DATA "/dialect"}) {
        if (entry.path().extension() != ".json") {
            continue;
        }
        std::ifstream in{entry.path(), std::ios::binary};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        const auto begin = text.find('[');
        REQUIRE(begin != std::string::npos);
        a2a::array_walker each{std::string_view{text}.substr(begin)};
        std::string_view raw;
        while (each.next(raw)) {
            rows.push_back(read_row(entry.path().filename().string(), raw));
        }
        CHECK(text.substr(text.size() - each.rest.size()).find_first_not_of(" \n]") == std::string::npos);
    }
    return rows;
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

TEST_SUITE_END();
