#include "gateway/management/advice.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/management/advice");

using gateway::management::advice;
using gateway::management::advice_for;

namespace {

void check(std::string_view of, const advice& words)
{
    CAPTURE(of);
    for (const auto text : {words.why, words.what_to_do}) {
        CHECK(!text.empty());
        CHECK(text.size() <= 200);
        CHECK(text.ends_with('.'));
        CHECK(text.find('`') == std::string_view::npos);
    }
}

}  // namespace

TEST_CASE("every code and every reason has two sentences of at most 200 characters")
{
    for (const auto& row : core::error_rows()) {
        check(row.name, advice_for(row.code));
        CHECK(advice_for(row.name).what_to_do == advice_for(row.code).what_to_do);
    }
    for (std::size_t i = 1; i < ::mcp::session_reasons; ++i) {
        const auto reason = static_cast<::mcp::session_reason>(i);
        check(::mcp::name(reason), advice_for(reason));
        if (reason != ::mcp::session_reason::none) {
            CHECK(advice_for(::mcp::name(reason)).why == advice_for(reason).why);
        }
    }
    for (const auto* reason : {"disabled", "unusable", "inline_card", "not_fetched", "card_stale", "calls_failing"}) {
        check(reason, advice_for(std::string_view{reason}));
    }
}

TEST_CASE("what is no reason has no sentences")
{
    CHECK(advice_for(std::string_view{"made_up"}).why.empty());
    CHECK(advice_for(::mcp::session_reason::none).what_to_do.empty());
}

TEST_SUITE_END();
