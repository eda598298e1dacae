// A connection's bytes as answers to GET and to HEAD, interim ones included: ours and Boost.Beast's reading agree, answer
// by answer, or we refuse.
#include "tests/fuzz/differential.hpp"

using namespace net::http1;
using tests::difference;
using tests::reading;

namespace {

reading read_ours(std::string_view bytes, method to)
{
    reading ours;
    response_parser parser{{}};
    const auto parsed = parser.parse(bytes, to);
    if (parsed.has_error()) {
        ours.end = tests::outcome::refused;
        ours.why = tests::describe(parsed.error());
        return ours;
    }
    if (*parsed == 0) {
        return ours;
    }
    const auto& head = parser.head();
    ours.length = *parsed;
    ours.start = std::to_string(head.status) + " 1" + std::to_string(head.minor_version);
    ours.keep_alive = head.keep_alive;
    for (const auto& line : head.fields) {
        tests::append_field(ours.fields, line.name, line.value);
    }
    tests::read_body(head, bytes.substr(*parsed), ours);
    return ours;
}

// Closing where Beast would go on loses a connection and cannot confuse two answers.
bool we_close(const reading& ours, const reading&, std::string_view)
{
    return !ours.keep_alive;
}

constexpr tests::accepted_difference accepted[] = {
    {difference::end, tests::refused_trailer, "Beast refuses framing fields in trailers, we drop them"},
    {difference::keep_alive, tests::connection_trailer, "Beast obeys Connection in trailers, we drop it"},
    {difference::keep_alive, we_close, "HTTP/1.0, and bodies announced where none may be, end the connection"},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    for (const auto to : {method::get, method::head}) {
        std::string_view bytes{reinterpret_cast<const char*>(data), size};
        while (!bytes.empty()) {
            const auto ours = read_ours(bytes, to);
            tests::beast_reader<false> beast;
            tests::require_agreement(ours, beast.read(bytes, to == method::head), bytes, accepted);
            if (ours.end != tests::outcome::message || !ours.keep_alive) {
                break;
            }
            bytes.remove_prefix(ours.length);
        }
    }
    return 0;
}
