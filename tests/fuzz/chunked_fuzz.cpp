// A chunked body decodes the same however it is cut and under any limits, and its data, encoded again, decodes to itself.
#include "tests/fuzz/http1_properties.hpp"

using namespace net::http1;

namespace {

std::string encode(std::string_view data, tests::numbers& random)
{
    std::string bytes;
    while (!data.empty()) {
        const auto piece = data.substr(0, 1 + random.below(data.size()));
        bytes.append(chunk_header{piece.size()}.text()).append(piece).append(chunk_end);
        data.remove_prefix(piece.size());
    }
    return bytes.append(last_chunk);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    tests::numbers random{bytes};
    const chunk_limits small{
        .line = random.below(24),
        .extensions = random.below(24),
        .trailers = random.below(40),
        .trailer_fields = random.below(4),
    };
    for (const auto& limits : {chunk_limits{}, small}) {
        tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer) {
            const auto outcome = tests::read_chunked(bytes, cuts, limits);
            tests::require(outcome.end != "stuck", "every step takes a byte", bytes);
            tests::require(outcome.consumed <= bytes.size(), "no more is taken than there is", bytes);
            return outcome.end + " " + std::to_string(outcome.consumed) + " " + outcome.data;
        });
    }
    const auto outcome = tests::read_chunked(bytes);
    const auto encoded = encode(outcome.data, random);
    const auto again = tests::read_chunked(encoded);
    tests::require(again.end == "over" && again.consumed == encoded.size(), "what is encoded is a body", encoded);
    tests::require(again.data == outcome.data, "encoded and decoded it is the same", again.data, outcome.data);
    return 0;
}
