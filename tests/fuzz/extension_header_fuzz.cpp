// Any lines as the fields of extensions of one message: the list has what a slow reading of the same lines has, under the same
// limits, and what the agent is told is read as the same list without the gateway's own.
#include "a2a/extension_header.hpp"
#include "core/ascii.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using tests::require;

namespace {

using texts = std::vector<std::string>;

texts split(const std::string& text, char by)
{
    texts parts;
    std::istringstream stream{text};
    for (std::string part; std::getline(stream, part, by);) {
        parts.push_back(part);
    }
    return parts;
}

// Nothing: over a limit.
std::optional<texts> slow_list(const texts& fields)
{
    texts uris;
    std::size_t seen = 0;
    std::size_t bytes = 0;
    for (const auto& field : fields) {
        bytes += field.size();
        for (const auto& element : split(field, ',')) {
            const std::string uri{core::trim(element)};
            seen += uri.empty() ? 0 : 1;
            if (!uri.empty() && std::ranges::find(uris, uri) == uris.end()) {
                uris.push_back(uri);
            }
        }
    }
    const bool over = seen > a2a::extension_list::most || bytes > a2a::extension_list::longest;
    return over ? std::nullopt : std::optional{uris};
}

bool same(const a2a::extension_list& list, const texts& expected)
{
    return std::ranges::equal(list.uris(), expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text{reinterpret_cast<const char*>(data), size};
    const auto fields = split(text, '\n');
    a2a::extension_list list;
    bool within = true;
    for (const auto& field : fields) {
        within = within && list.add(field);
    }
    const auto expected = slow_list(fields);
    require(within == expected.has_value(), "the limits are those of a slow reading", text);
    if (!expected) {
        return 0;
    }
    require(same(list, *expected), "the list is that of a slow reading", text);
    auto of_agent = *expected;
    std::erase_if(of_agent, [](const std::string& uri) { return uri.starts_with(a2a::own_extensions); });
    const auto value = list.of_agent();
    a2a::extension_list again;
    // A blank behind each comma may be one byte more than the caller has sent.
    require(
        again.add(value) || value.size() > a2a::extension_list::longest,
        "what the agent is told can be read",
        value
    );
    require(
        value.size() > a2a::extension_list::longest || same(again, of_agent),
        "the agent is told of the others",
        value
    );
    return 0;
}
