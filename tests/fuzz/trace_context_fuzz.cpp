// Any text as `traceparent`: what is taken is what the grammar of W3C Trace Context says, and what goes on is version 00 of it.
#include "core/trace_context.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <string>
#include <string_view>

using tests::require;

namespace {

// As the specification has it (sections 3.2.2 to 3.2.4), told by a regular expression.
bool is_valid(const std::string& text)
{
    static const std::regex grammar{"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[^]*)?"};
    std::smatch parts;
    return std::regex_match(text, parts, grammar) && parts[1] != "ff" && parts[2] != std::string(32, '0') &&
           parts[3] != std::string(16, '0') && !(parts[1] == "00" && parts[5].matched);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // The end of a longer one is not looked at, and a regular expression would run out of stack there.
    constexpr std::size_t longest = 256;
    const std::string text{reinterpret_cast<const char*>(data), std::min(size, longest)};
    const auto read = core::read_traceparent(text);
    require(read.has_value() == is_valid(text), "what is taken is what the grammar says", text);
    if (!read) {
        return 0;
    }
    std::string written;
    core::append_traceparent(written, *read);
    require(written.substr(3, 50) == text.substr(3, 50), "the ids are those that came", text);
    require(core::read_traceparent(written) == read, "what goes on can be read", written);
    return 0;
}
