#include "core/trace_context.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("core/trace_context");

namespace {

const std::string trace = "0af7651916cd43dd8448eb211c80319c";
const std::string span = "b7ad6b7169203331";

constexpr core::trace_context expected{{0x0af7651916cd43dd, 0x8448eb211c80319c}, 0xb7ad6b7169203331, true};

std::string field(std::string_view version, std::string_view flags, std::string_view more = "")
{
    return std::string{version} + '-' + trace + '-' + span + '-' + std::string{flags} + std::string{more};
}

bool valid(std::string_view value)
{
    return core::read_traceparent(value).has_value();
}

}  // namespace

TEST_CASE("a field of version 00 says which trace, which span, and whether it is recorded")
{
    CHECK(core::read_traceparent(field("00", "01")) == expected);
    auto unrecorded = expected;
    unrecorded.sampled = false;
    CHECK(core::read_traceparent(field("00", "00")) == unrecorded);
}

TEST_CASE("flags that are not known say nothing")
{
    CHECK(core::read_traceparent(field("00", "03")) == expected);
    CHECK(core::read_traceparent(field("00", "ff")) == expected);
    CHECK_FALSE(core::read_traceparent(field("00", "fe"))->sampled);
}

TEST_CASE("a later version is read as far as version 00 goes")
{
    CHECK(core::read_traceparent(field("01", "01")) == expected);
    CHECK(core::read_traceparent(field("cc", "01", "-what-the-future-will-be-like")) == expected);
    CHECK(core::read_traceparent(field("fe", "01", "-")) == expected);
    CHECK_FALSE(valid(field("cc", "01", ".what-the-future-will-be-like")));
    CHECK_FALSE(valid(field("cc", "01", "1")));
}

TEST_CASE("version ff is not valid")
{
    CHECK_FALSE(valid(field("ff", "01")));
    CHECK_FALSE(valid(field("ff", "01", "-more")));
}

TEST_CASE("version 00 has nothing behind its flags")
{
    CHECK_FALSE(valid(field("00", "01", "-")));
    CHECK_FALSE(valid(field("00", "01", "-more")));
    CHECK_FALSE(valid(field("00", "01", " ")));
    CHECK_FALSE(valid(field("00", "01", "," + field("00", "01"))));
}

TEST_CASE("ids that are all zero are not valid")
{
    CHECK_FALSE(valid("00-00000000000000000000000000000000-" + span + "-01"));
    CHECK_FALSE(valid("00-" + trace + "-0000000000000000-01"));
    CHECK(valid("00-00000000000000000000000000000001-" + span + "-01"));
    CHECK(valid("00-10000000000000000000000000000000-" + span + "-01"));
    CHECK(valid("00-" + trace + "-0000000000000001-01"));
}

TEST_CASE("upper case is not valid, nor is what is no hex digit")
{
    CHECK_FALSE(valid("00-0AF7651916CD43DD8448EB211C80319C-" + span + "-01"));
    CHECK_FALSE(valid("00-" + trace + "-B7AD6B7169203331-01"));
    CHECK_FALSE(valid("0A-" + trace + '-' + span + "-01"));
    CHECK_FALSE(valid(field("00", "0A")));
    const auto good = field("00", "01");
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bad = good;
        bad[at] = 'g';
        CAPTURE(at);
        CHECK_FALSE(valid(bad));
        bad[at] = good[at] == '-' ? '0' : '-';
        CHECK_FALSE(valid(bad));
    }
}

TEST_CASE("a field that is too short is not valid, wherever it ends")
{
    const auto good = field("00", "01");
    REQUIRE(good.size() == core::traceparent_length);
    for (std::size_t size = 0; size < good.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(valid(std::string_view{good}.substr(0, size)));
    }
}

TEST_CASE("what is written is what is read")
{
    std::string out = "x";
    core::append_traceparent(out, expected);
    CHECK(out == "x" + field("00", "01"));
    auto unrecorded = expected;
    unrecorded.sampled = false;
    out.clear();
    core::append_traceparent(out, unrecorded);
    CHECK(out == field("00", "00"));
}

TEST_CASE("ids are written with all their digits")
{
    std::string out;
    core::append_hex(out, std::uint64_t{0xa});
    CHECK(out == "000000000000000a");
    out.clear();
    core::append_hex(out, core::trace_id{1, 2});
    CHECK(out == "00000000000000010000000000000002");
}

TEST_CASE("every hexadecimal digit is written at every place")
{
    for (unsigned place = 0; place < 16; ++place) {
        for (std::uint64_t digit = 0; digit < 16; ++digit) {
            std::string out;
            core::append_hex(out, digit << (4 * place));
            std::string digits(16, '0');
            digits[15 - place] = "0123456789abcdef"[digit];
            CHECK(out == digits);
        }
    }
    std::string out;
    core::append_hex(out, std::uint64_t{0xfedcba9876543210});
    core::append_hex(out, std::uint64_t{0xffffffffffffffff});
    CHECK(out == "fedcba9876543210ffffffffffffffff");
}

TEST_SUITE_END();
