// Any lines as the handshake's result and the results of the walk: whatever a server lists, the walk ends, the same again,
// and every shape of its card is one that our own linter finds no error in.
#include "a2a/card/card_lint.hpp"
#include "mcp/card/card.hpp"
#include "mcp/protocol/discovery.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>

using tests::require;

namespace {

constexpr mcp::discovery_limits limits{.pages = 8, .items = 64, .bytes = 64 * 1024, .cursor_bytes = 64};

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

// Lines that run out are errors, of which the first is that there is no such method.
mcp::server_lists walked(mcp::server_facts facts, std::string_view lines)
{
    mcp::list_reader walk{mcp::list_set{}.set(), facts.speaks, limits};
    std::size_t asked = 0;
    while (const auto question = walk.next()) {
        require(++asked <= mcp::list_kinds * (limits.pages + 1), "a walk ends");
        const bool more = !lines.empty();
        const auto line = take_line(lines);
        const auto taken =
            more ? walk.accept(line) : walk.refuse({.code = mcp::method_not_found, .text = {}, .data = {}});
        const auto next = walk.next();
        require(taken || !next || next->list > question->list, "a list that has failed is over");
        require(taken || walk.left()[mcp::index_of(question->list)], "a list that has failed is left");
    }
    mcp::server_lists base;
    base.server = std::move(facts);
    return std::move(walk).onto(std::move(base));
}

void check_card(const mcp::server_lists& found, core::card_shape shape)
{
    const mcp::card_request asked{.agent_id = "x", .at = {"https://gw.example/agents/x"}, .shape = shape};
    const auto card = mcp::synthesize_card(found, asked);
    require(card.has_value(), "a card is made");
    const auto report = a2a::lint_card(*card);
    for (const auto& problem : report.problems) {
        require(problem.severity != a2a::problem_severity::error, "a card has no errors", *card, problem.path);
    }
    require(*card == *mcp::synthesize_card(found, asked), "a card is the same again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view lines{reinterpret_cast<const char*>(data), size};
    const auto first = take_line(lines);
    auto facts = mcp::read_initialize_result(first);
    if (!facts) {
        facts = mcp::read_discover_result(first);
    }
    if (!facts) {
        return 0;
    }
    const auto found = walked(*facts, lines);
    const auto again = walked(*facts, lines);
    require(mcp::same_content(found, again), "a walk finds the same again");
    using enum core::card_shape;
    for (const auto shape : {automatic, v1, v03, hybrid}) {
        check_card(found, shape);
    }
    return 0;
}
