// Any text as a card: read, judged, rewritten and brought into every shape. Whatever an agent sends, no address of its own
// is served, with bridging or without, `v1` and `v0.3` stay what they are when they are made again, and what is served is a
// sound card.
#include "a2a/card/card.hpp"
#include "a2a/card/card_lint.hpp"
#include "a2a/card/card_shape.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

const a2a::public_address passing{"https://gw.example/agents/x"};
const a2a::public_address bridged{.base = passing.base, .bridged = true};

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

void check_shape(const core::json& served, core::card_shape shape, const a2a::public_address& at)
{
    const auto made = a2a::shape_card(served, shape, at);
    require(made.has_value());
    const auto again = a2a::shape_card(made->document, shape, at);
    require(again.has_value() && again->document == made->document);
    require(a2a::parse_card(a2a::render(made->document), {.bytes = 64 * 1024 * 1024}).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto report = a2a::lint_card(text);
    const auto made = a2a::parse_card(text);
    if (made.has_error()) {
        require(report.count(a2a::problem_severity::error) > 0);
        return 0;
    }
    require(report.generation == made->generation);
    for (const auto* at : {&passing, &bridged}) {
        const auto served = a2a::rewrite_card(*made, *at, {"http://agent.internal:9000/a2a", ""});
        if (served.has_error()) {
            require(served.error().code == core::errc::card_unrewritable);
            continue;
        }
        for (const auto shape : {core::card_shape::automatic, core::card_shape::v1, core::card_shape::v03}) {
            check_shape(*served, shape, *at);
        }
        require(a2a::shape_card(*served, core::card_shape::hybrid, *at).has_value());
    }
    return 0;
}
