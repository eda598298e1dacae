// tests/data/json: one JSON text a file; y_ is JSON by RFC 8259, n_ is not (or is nested deeper than 64). Our parser
// of documents also refuses two kinds of valid text, which the files' names say: number_out_of_range and
// lone_surrogate.
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("core/json_suite");

namespace {

struct json_case {
    std::string name;
    std::string text;
};

std::vector<json_case> cases(std::string_view prefix)
{
    std::vector<json_case> found;
    for (const auto& entry : std::filesystem::directory_iterator(CARDEA_TEST_DATA "/json")) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(prefix)) {
            std::ifstream file{entry.path(), std::ios::binary};
            found.push_back({name, {std::istreambuf_iterator<char>{file}, {}}});
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

// A request whose parameters are `text` as it stands, moved by `shift` bytes so that blocks of sixteen fall elsewhere.
std::string as_params(std::string_view text, std::size_t shift = 0)
{
    return std::string(shift, ' ') + R"({"jsonrpc":"2.0","id":17,"method":"m","params":)" + std::string(text) + "}";
}

bool same(const core::scan_outcome& a, const core::scan_outcome& b)
{
    return a.problem == b.problem && a.why == b.why && a.call.method.data() == b.call.method.data() &&
           a.call.method.size() == b.call.method.size() && a.call.method_escaped == b.call.method_escaped &&
           a.call.id == b.call.id && a.call.params.data() == b.call.params.data() &&
           a.call.params.size() == b.call.params.size();
}

bool only_our_parser_refuses(std::string_view name)
{
    return name.find("number_out_of_range") != std::string_view::npos ||
           name.find("lone_surrogate") != std::string_view::npos;
}

bool parser_objects_only_to_range_or_surrogate(const std::string& text)
{
    constexpr int number_overflow = 406;
    try {
        (void)nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& refusal) {
        return refusal.id == number_overflow ||
               std::string_view{refusal.what()}.find("surrogate") != std::string_view::npos;
    }
    return false;
}

}  // namespace

TEST_CASE("every valid text is accepted, alone and as parameters")
{
    const auto valid = cases("y_");
    REQUIRE(valid.size() >= 80);
    for (const auto& [name, text] : valid) {
        CAPTURE(name);
        CHECK(core::count_members(text).has_value());
        CHECK(core::parse_json(text).has_value() != only_our_parser_refuses(name));
        for (std::size_t shift = 0; shift < 16; ++shift) {
            const auto body = as_params("[" + text + "]", shift);
            const auto found = core::scan_jsonrpc(body);
            REQUIRE(!found.problem.has_value());
            CHECK(found.call.id == "17");
            CHECK(found.call.params == "[" + text + "]");
            CHECK(same(found, core::scan_jsonrpc_bytewise(body)));
        }
    }
}

TEST_CASE("every invalid text is refused, alone and as parameters")
{
    const auto invalid = cases("n_");
    REQUIRE(invalid.size() >= 150);
    for (const auto& [name, text] : invalid) {
        CAPTURE(name);
        CHECK(core::scan_jsonrpc(text).problem == core::errc::parse_error);
        CHECK(core::count_members(text).has_error());
        CHECK(core::parse_json(text).has_error());
        for (std::size_t shift = 0; shift < 16; ++shift) {
            const auto body = as_params(text, shift);
            const auto found = core::scan_jsonrpc(body);
            CHECK(found.problem == core::errc::parse_error);
            CHECK(found.call.id.empty());
            CHECK(same(found, core::scan_jsonrpc_bytewise(body)));
        }
    }
}

TEST_CASE("every cut of a valid object or array is refused")
{
    for (const auto& [name, text] : cases("y_")) {
        CAPTURE(name);
        const auto end = text.find_last_of("]}");
        if (text.find_first_not_of(" \t\r\n") != text.find_first_of("[{") || end == std::string::npos) {
            continue;
        }
        for (std::size_t length = 0; length <= end; ++length) {
            CAPTURE(length);
            // Of exactly this size, so that the address sanitizer sees a byte read behind it.
            const std::vector<char> cut(text.data(), text.data() + length);
            CHECK(core::count_members({cut.data(), cut.size()}).has_error());
            CHECK(core::scan_jsonrpc_bytewise({cut.data(), cut.size()}).problem == core::errc::parse_error);
        }
    }
}

TEST_CASE("with and without vector instructions the same is found in changed texts, and it agrees with the parser")
{
    std::vector<std::string> seeds;
    for (const auto* prefix : {"y_", "n_"}) {
        for (const auto& c : cases(prefix)) {
            if (c.text.size() < 2000 && !only_our_parser_refuses(c.name)) {
                seeds.push_back(as_params("[" + c.text + "]"));
                seeds.push_back(as_params(c.text));
            }
        }
    }
    std::mt19937 random{20260101};  // NOLINT(bugprone-random-generator-seed): the same changes every time
    const auto below = [&random](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    constexpr std::string_view bytes = "\"\\{}[],:0123456789eE+-. \n\tutrfn\x01\x1f\x7f\x80\xbf\xc3\xe2\xed\xf0\xff/aA";
    std::size_t accepted = 0;
    for (int round = 0; round < 40000; ++round) {
        auto body = seeds[below(seeds.size())];
        for (auto changes = 1 + below(3); changes > 0 && !body.empty(); --changes) {
            const auto at = below(body.size());
            const char byte = bytes[below(bytes.size())];
            switch (below(4)) {
                case 0:
                    body[at] = byte;
                    break;
                case 1:
                    body.insert(at, 1, byte);
                    break;
                case 2:
                    body.erase(at, 1 + below(3));
                    break;
                default:
                    body.insert(at, body.substr(below(body.size()), below(24)));
            }
        }
        const auto wide = core::scan_jsonrpc(body);
        REQUIRE(same(wide, core::scan_jsonrpc_bytewise(body)));
        const bool valid = wide.problem != core::errc::parse_error;
        accepted += valid ? 1 : 0;
        if (valid != core::parse_json(body).has_value()) {
            CAPTURE(body);
            CHECK(valid);
            CHECK(parser_objects_only_to_range_or_surrogate(body));
        }
    }
    CHECK(accepted > 1000);
}

TEST_CASE("text that is trusted is passed over as the strict reader does, and no reader leaves its bounds")
{
    for (const std::string_view prefix : {"y_", "n_"}) {
        for (const auto& each : cases(prefix)) {
            CAPTURE(each.name);
            const std::vector<char> exact{each.text.begin(), each.text.end()};  // sanitizers see one byte more
            const std::string_view text{exact.data(), exact.size()};
            core::json_cursor<core::wide_bytes> strict{text, 64};
            core::json_cursor<core::trusted_bytes> trusting{text, 64};
            strict.skip_space();
            trusting.skip_space();
            const bool passed = trusting.value();
            if (strict.value() && strict.finish()) {
                CHECK(passed);
                CHECK(trusting.finish());
            }
        }
    }
}

TEST_CASE("a string ends at the byte that both readers find, wherever it stands and whatever it is")
{
    for (std::size_t length = 0; length < 150; ++length) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            auto text = '"' + std::string(length, 'a') + static_cast<char>(byte) + "bc\"" + std::string(70, 'd');
            const auto* const end = text.data() + text.size();
            const auto wide = core::string_end<core::wide_bytes>(text.data(), end);
            const auto single = core::string_end<core::single_bytes>(text.data(), end);
            REQUIRE(wide.behind == single.behind);
            REQUIRE(wide.escaped == single.escaped);
            if (wide.behind != nullptr) {
                REQUIRE(core::trusted_string_end(text.data(), end) == wide.behind);
            }
        }
    }
    const std::string_view escaped = R"("a\\\"b\\",1)";
    const auto* const end = escaped.data() + escaped.size();
    CHECK(core::trusted_string_end(escaped.data(), end) == end - 2);
    CHECK(core::trusted_string_end(escaped.data(), end - 3) == nullptr);
}

TEST_SUITE_END();
