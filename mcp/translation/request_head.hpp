// What the header of a request to a server of the modern era over HTTP repeats of its body (MCP 2026-07-28,
// basic/transports/streamable-http; SEP-2243), where the client of the legacy era has sent no such header. Pure; any thread.
#pragma once

#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

// The arguments that tools of one server want repeated (`x-mcp-header` in their `inputSchema`).
class parameter_fields {
public:
    explicit parameter_fields(const server_lists& lists);

    // `Mcp-Param-…` of a call; `arguments` is raw. An argument that is absent, null or of another type than string, integer and boolean has no field.
    std::vector<std::pair<std::string, std::string>> of(std::string_view tool, std::string_view arguments) const;

private:
    struct parameter {
        std::vector<std::string> path;  // of names of properties
        std::string field;
    };

    static void read(std::string_view schema, std::vector<std::string>& path, std::vector<parameter>& found);

    std::map<std::string, std::vector<parameter>, std::less<>> tools_;
};

// The head of a request, with the further fields that it has already; `tools` may be null.
message_head head_of(const client_message& request, const parameter_fields* tools);

}  // namespace mcp
