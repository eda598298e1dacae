// Three lines as a card that grows: what begins it, an item of which there are many (`#` is the item's number), what ends it.
// Whatever they are, eight times the bytes cost at most twenty-four times the time, and no byte costs too much. Time is that
// of this thread alone, and the least of several runs: other work on the machine makes nothing fail.
#include "a2a/card/card.hpp"
#include "a2a/card/card_lint.hpp"
#include "a2a/card/card_shape.hpp"
#include "a2a/card/card_signature.hpp"
#include "core/json/ambiguity.hpp"
#include "core/json/json_patch.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t small_size = 2 * 1024;
constexpr std::size_t growth = 8;
constexpr double most_growth = 3 * growth;
constexpr double most_per_byte = 4e-4;      // seconds, of this build; `./dev bench cards` has the bound of a release
constexpr double least_that_counts = 0.02;  // seconds
constexpr int most_runs = 6;

const a2a::public_address gateway{.base = "https://gw.example/agents/x", .bridged = true};

struct growing_card {
    std::string_view begin;
    std::string_view item;
    std::string_view end;

    std::string text(std::size_t size) const
    {
        std::string out{begin};
        for (std::size_t number = 0; out.size() + item.size() + end.size() < size; ++number) {
            out += number == 0 ? "" : ",";
            for (const char c : item) {
                out += c == '#' ? std::to_string(number) : std::string(1, c);
            }
        }
        return out.append(end);
    }
};

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

const jose::json_web_key& key()
{
    static const auto made = jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "k");
    return *made;
}

// All that is done to cards.
void work_on(const std::string& text)
{
    static_cast<void>(a2a::lint_card(text));
    auto card = a2a::parse_card(text);
    if (!card) {
        return;
    }
    auto signed_card = a2a::signable_card(card->document);
    tests::require(a2a::sign_card(signed_card, key(), "").has_value(), "a card is signed");
    static_cast<void>(core::ambiguity(text));
    static_cast<void>(a2a::verify_card(card->document, {&key(), 1}));
    static_cast<void>(a2a::facts(*card));
    const auto served = a2a::rewrite_card(std::move(*card), gateway, {"http://agent.internal:9000/a2a", ""});
    if (!served) {
        return;
    }
    for (const auto shape : {core::card_shape::v1, core::card_shape::v03, core::card_shape::hybrid}) {
        const auto made = a2a::shape_card(*served, shape, gateway);
        tests::require(made.has_value(), "what is rewritten has every shape", text);
        static_cast<void>(core::json_patch(*served, made->document));
        static_cast<void>(a2a::render(made->document));
    }
}

double cost(const std::string& text)
{
    timespec begun{};
    timespec ended{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    work_on(text);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    return static_cast<double>(ended.tv_sec - begun.tv_sec) + static_cast<double>(ended.tv_nsec - begun.tv_nsec) / 1e9;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view lines{reinterpret_cast<const char*>(data), size};
    growing_card card;
    card.begin = take_line(lines);
    card.item = take_line(lines);
    card.end = take_line(lines);
    if (card.item.empty() || card.begin.size() + card.item.size() + card.end.size() > small_size / 2) {
        return 0;
    }
    const auto small = card.text(small_size);
    const auto large = card.text(small_size * growth);
    auto of_small = std::numeric_limits<double>::max();
    auto of_large = of_small;
    for (int run = 0; run < most_runs; ++run) {
        of_small = std::min(of_small, cost(small));
        of_large = std::min(of_large, cost(large));
        if (of_large < least_that_counts ||
            (of_large <= of_small * most_growth && of_large <= most_per_byte * static_cast<double>(large.size()))) {
            return 0;
        }
    }
    tests::require(of_large <= of_small * most_growth, "time grows as the card does", large);
    tests::require(false, "no byte of a card costs too much", large);
    return 0;
}
