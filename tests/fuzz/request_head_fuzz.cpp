// A request head reads the same however it is cut and under any limits; one that is accepted is clean, and written out
// again it reads the same.
#include "tests/fuzz/http1_properties.hpp"

using namespace net::http1;

namespace {

std::string write(const request_head& head)
{
    return std::string{name(head.verb)} + " " + std::string{head.target} + " HTTP/1." +
           std::to_string(head.minor_version) + "\r\n" + tests::write_fields(head.fields);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    tests::numbers random{bytes};
    const head_limits small{
        .bytes = 1 + random.below(size + 2),
        .fields = random.below(6),
        .target = random.below(40),
    };
    for (const auto& limits : {head_limits{}, small}) {
        tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer where) {
            return tests::read_request(bytes, cuts, where, limits);
        });
    }
    request_parser parser{{}};
    const auto parsed = parser.parse(bytes);
    if (parsed.has_error() || *parsed == 0) {
        return 0;
    }
    tests::require_clean(bytes.substr(0, *parsed));
    const std::string written = write(parser.head());
    request_parser again{{}};
    const auto parsed_again = again.parse(written);
    tests::require(parsed_again.has_value() && *parsed_again == written.size(), "written out it is a head", written);
    const auto one = tests::describe(parser.head());
    const auto other = tests::describe(again.head());
    tests::require(one == other, "written out it reads the same", one, other);
    return 0;
}
