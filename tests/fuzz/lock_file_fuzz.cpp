// Any text as a lock file: one that is read is written so that it is read as the same, and one that is not is refused with a reason.
#include "mcp/pins/lock_file.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using tests::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto read = mcp::read_lock_file(text);
    if (!read) {
        require(read.error().code == core::errc::config_invalid, "a refusal has one code", text);
        require(!read.error().detail.empty(), "a refusal has a reason", text);
        return 0;
    }
    const auto written = mcp::lock_file_text(*read);
    const auto again = mcp::read_lock_file(written);
    require(again && *again == *read, "what was written is read as the same", text, written);
    return 0;
}
