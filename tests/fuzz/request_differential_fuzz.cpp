// A connection's bytes as requests: ours and Boost.Beast's reading agree, request by request, or we refuse.
#include "tests/fuzz/differential.hpp"

using namespace net::http1;
using tests::difference;
using tests::reading;

namespace {

reading read_ours(std::string_view bytes)
{
    reading ours;
    request_parser parser{{}};
    const auto parsed = parser.parse(bytes);
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
    ours.start = std::string{name(head.verb)} + " 1" + std::to_string(head.minor_version);
    ours.target = head.target;
    ours.keep_alive = head.keep_alive;
    for (const auto& line : head.fields) {
        tests::append_field(ours.fields, line.name, line.value);
    }
    tests::read_body(head, bytes.substr(*parsed), ours);
    return ours;
}

// What is ours of an absolute-form target: the rest of it, or what RFC 9112 section 3.2 puts in its place.
bool reduced(const reading& ours, const reading& theirs, std::string_view)
{
    const std::string_view whole = theirs.target;
    const bool absolute = core::equal_ignoring_case(whole.substr(0, 7), "http://") ||
                          core::equal_ignoring_case(whole.substr(0, 8), "https://");
    const auto path = whole.find('/', whole.find("//") + 2);
    return absolute && (path == std::string_view::npos ? ours.target == "/" || ours.target == "*"
                                                       : ours.target == whole.substr(path));
}

bool http_1_0(const reading& ours, const reading&, std::string_view)
{
    return ours.start.ends_with(" 10") && !ours.keep_alive;
}

constexpr tests::accepted_difference accepted[] = {
    {difference::end, tests::refused_trailer, "Beast refuses framing fields in trailers, we drop them"},
    {difference::keep_alive, tests::connection_trailer, "Beast obeys Connection in trailers, we drop it"},
    {difference::target, reduced, "an absolute-form target is reduced to origin-form (RFC 9112 section 3.2.2)"},
    {difference::keep_alive, http_1_0, "a connection of HTTP/1.0 is never kept; Beast keeps it if it is asked to"},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view bytes{reinterpret_cast<const char*>(data), size};
    while (!bytes.empty()) {
        const auto ours = read_ours(bytes);
        // RFC 9112 section 2.2 lets a server ignore empty lines before a request: we do, up to two. Beast does not.
        std::size_t skipped = 0;
        while (skipped < 4 && bytes.substr(skipped).starts_with("\r\n")) {
            skipped += 2;
        }
        tests::beast_reader<true> beast;
        auto theirs = beast.read(bytes.substr(skipped));
        theirs.length += skipped;
        tests::require_agreement(ours, theirs, bytes, accepted);
        if (ours.end != tests::outcome::message || !ours.keep_alive) {
            break;
        }
        bytes.remove_prefix(ours.length);
    }
    return 0;
}
