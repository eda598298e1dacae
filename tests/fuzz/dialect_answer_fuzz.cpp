// Any bytes as what an agent sends, whole and as an event: what callers get is JSON, nothing is left of what fails, and
// a slow translator agrees. The first byte chooses the dialects and the operation.
#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/walk.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/support/call_differential.hpp"
#include "tests/support/slow_dialect.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

using tests::require;

namespace {

constexpr std::array dialects{
    a2a::dialect{a2a::generation::v03, a2a::binding::jsonrpc},
    a2a::dialect{a2a::generation::v1, a2a::binding::jsonrpc},
    a2a::dialect{a2a::generation::v03, a2a::binding::rest},
    a2a::dialect{a2a::generation::v1, a2a::binding::rest},
};

// Translations nest deeper by three at most, and readers of ours go down to 64.
constexpr unsigned depth = 60;

bool is_json(std::string_view text)
{
    return core::count_members(text).has_value();
}

void check(const a2a::exchange& how, std::string_view text)
{
    a2a::answer_options options;
    options.limits.depth = depth;
    std::string out = "before";
    for (const unsigned status : {200U, 404U}) {
        out.resize(6);
        const auto done = a2a::translate_answer(how, {status, text}, options, out);
        require(done.has_value() || out == "before", "nothing is left of a failure", text, out);
        require(!done || is_json(std::string_view{out}.substr(6)), "an answer is JSON", text, out);
        require(done || !done.error().why.empty(), "a failure has a reason", text);
    }
    out.resize(6);
    const auto done = a2a::translate_event(how, text, options, out);
    require(done.has_value() || out == "before", "nothing is left of a failure", text, out);
    require(!done || is_json(std::string_view{out}.substr(6)), "an event is JSON", text, out);
}

// As documents say it: without members that are given twice.
void compare_answer(const a2a::exchange& how, std::string_view text)
{
    const auto read = core::parse_json(text, {.bytes = text.size(), .depth = depth, .members = 1000});
    if (!read) {
        return;
    }
    const auto whole = core::to_text(*read);
    for (const unsigned status : {200U, 404U, 501U}) {
        const auto difference = tests::disagreement_on_answer(how, status, whole);
        require(difference.empty(), "both translators say the same of an answer", whole, difference);
    }
}

// The same of an event.
void compare(const a2a::exchange& how, std::string_view text)
{
    const auto from = a2a::shape_of(how.agent);
    const auto to = a2a::shape_of(how.caller);
    const auto read = core::parse_json(text, {.bytes = text.size(), .depth = depth, .members = 1000});
    if (!read || from == to) {
        return;
    }
    const auto* const result = core::member(*read, "result");
    const auto whole = core::to_text(result != nullptr ? *result : *read);
    const auto document = nlohmann::json::parse(whole);
    const auto expected = tests::slow_dialect{from, to, true}.event(document);
    std::string made;
    a2a::walk w{from, to, a2a::origin_side::agent, made};
    a2a::event_facts facts;
    const bool good = a2a::translate_stream_event(w, whole, facts);
    require(good == expected.has_value(), "both translators accept it or neither does", whole, made);
    require(!good || nlohmann::json::parse(made) == *expected, "both translators say the same", whole, made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    a2a::exchange how;
    how.agent = dialects.at(data[0] & 3U);
    how.caller = dialects.at((data[0] >> 2U) & 3U);
    how.without_history = (data[0] & 0x10U) != 0;
    for (std::size_t what = 0; what < a2a::operation_count; ++what) {
        how.asked = static_cast<a2a::operation>(what);
        how.sent = how.asked;
        how.first_config = (data[0] & 0x20U) != 0 && how.asked == a2a::operation::get_push;
        check(how, text);
        compare_answer(how, text);
    }
    compare(how, text);
    return 0;
}
