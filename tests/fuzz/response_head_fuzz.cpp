// A response head reads the same however it is cut, under any limits and for any request; one that is accepted is clean,
// and written out again it reads the same.
#include "tests/fuzz/http1_properties.hpp"

using namespace net::http1;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    tests::numbers random{bytes};
    const head_limits small{.bytes = 1 + random.below(size + 2), .fields = random.below(6)};
    for (const auto to : {method::get, method::head}) {
        for (const auto& limits : {head_limits{}, small}) {
            tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer where) {
                return tests::read_response(bytes, to, cuts, where, limits);
            });
        }
        response_parser parser{{}};
        const auto parsed = parser.parse(bytes, to);
        if (parsed.has_error() || *parsed == 0) {
            continue;
        }
        const auto& head = parser.head();
        tests::require_clean(bytes.substr(0, *parsed));
        const std::string written = "HTTP/1." + std::to_string(head.minor_version) + " " + std::to_string(head.status) +
                                    " \r\n" + tests::write_fields(head.fields);
        response_parser again{{}};
        const auto parsed_again = again.parse(written, to);
        tests::require(
            parsed_again.has_value() && *parsed_again == written.size(),
            "written out it is a head",
            written
        );
        const auto one = tests::describe(head);
        const auto other = tests::describe(again.head());
        tests::require(one == other, "written out it reads the same", one, other);
    }
    return 0;
}
