// The scan of a tool's result says the same however its bytes are cut, and the same as a parser where one can say it.
#include "mcp/calls/tool_scan.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

struct seen {
    bool tool_error;
    bool failed;

    friend bool operator==(const seen&, const seen&) = default;
};

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

seen seen_in(const mcp::tool_scan& scan)
{
    return {scan.tool_error(), scan.failed()};
}

seen scanned(std::string_view body, std::size_t piece)
{
    mcp::tool_scan scan;
    while (!body.empty()) {
        scan.feed(body.substr(0, piece));
        body.remove_prefix(std::min(piece, body.size()));
    }
    return seen_in(scan);
}

// Of one object whose keys stand once and have no escapes, as the answers of servers are.
void compare(std::string_view body, const seen& found)
{
    const auto document = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!document.is_object() || body.find('\\') != body.npos) {
        return;
    }
    bool several = false;
    for (const auto* key : {"\"result\"", "\"error\"", "\"isError\""}) {
        several = several || body.find(key) != body.rfind(key);
    }
    if (several) {
        return;
    }
    const auto result = document.find("result");
    const auto error = document.find("error");
    const bool failed = error != document.end() && error->is_object();
    const bool flagged =
        result != document.end() && result->is_object() && result->contains("isError") && (*result)["isError"] == true;
    require(found.tool_error || found.failed || (!flagged && (!failed || result != document.end())));
    require(!found.tool_error || flagged);
    require(!found.failed || failed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view body{reinterpret_cast<const char*>(data), size};
    const auto whole = scanned(body, size);
    require(!(whole.tool_error && whole.failed));
    require(scanned(body, 1) == whole);
    require(scanned(body, 3) == whole);
    compare(body, whole);
    return 0;
}
