#include "mcp/calls/upstream_names.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/calls/upstream_names");

using mcp::upstream_names;

TEST_CASE("Strings go up as they are up to their limits, numbers as long as they rise")
{
    upstream_names names{false};
    const auto text = [](std::size_t size) { return '"' + std::string(size - 2, 'a') + '"'; };
    CHECK(names.name_for(text(upstream_names::longest_string)) == text(upstream_names::longest_string));
    CHECK(names.name_for(text(upstream_names::longest_string + 1)) == "1000000000");
    for (std::size_t each = 1; each < upstream_names::most_strings; ++each) {
        const auto name = '"' + std::to_string(each) + '"';
        CHECK(names.name_for(name) == name);
    }
    CHECK(names.name_for(R"("one more")") == "1000000001");
    CHECK(names.name_for("5") == "5");
    CHECK(names.name_for("5") == "1000000002");
    CHECK(names.name_for("4") == "1000000003");
    CHECK(names.name_for("6") == "6");
}
