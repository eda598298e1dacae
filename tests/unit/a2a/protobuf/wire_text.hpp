// Messages on the wire, written by hand in the tests of a2a/protobuf/.
#pragma once

#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/wire.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace tests {

inline std::string delimited(std::uint32_t number, std::string_view bytes)
{
    std::string out;
    a2a::protobuf::wire_writer to{out, 16};
    to.delimited(number, bytes);
    to.finish();
    return out;
}

inline std::string varint(std::uint32_t number, std::uint64_t value)
{
    std::string out;
    a2a::protobuf::wire_writer to{out, 16};
    to.tag(number, a2a::protobuf::wire_type::varint);
    to.varint(value);
    to.finish();
    return out;
}

inline std::string number(double value)
{
    std::string out;
    a2a::protobuf::wire_writer to{out, 16};
    to.tag(2, a2a::protobuf::wire_type::fixed64);
    to.fixed64(std::bit_cast<std::uint64_t>(value));
    to.finish();
    return out;
}

// What to_json() or to_protobuf() makes of `from`, or the refusal, after which nothing is left.
inline std::string converted(
    decltype(a2a::protobuf::to_json)& convert,
    const a2a::protobuf::message_type& type,
    std::string_view from,
    const a2a::protobuf::codec_options& options = {}
)
{
    std::string out = "before";
    const auto done = convert(type, from, options, out);
    if (!done) {
        CHECK(out == "before");
        return std::to_string(done.error().code) + " " + done.error().member + ": " + std::string{done.error().why};
    }
    return out.substr(6);
}

// A Struct with one entry.
inline std::string structure(std::string_view key, std::string_view value)
{
    return delimited(1, delimited(1, key) + delimited(2, value));
}

}  // namespace tests
