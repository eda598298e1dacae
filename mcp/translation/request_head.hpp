// The header fields of a request of the modern era over HTTP that repeat its body (MCP 2026-07-28, basic/transports/streamable-http;
// SEP-2243): what a server gets where the client of the legacy era has sent no such header, and whether that of a client of the
// modern era says what its body says, where the server gets none. Pure; one thread at a time.
#pragma once

#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

// The arguments that tools of one server want repeated (`x-mcp-header` in their `inputSchema`). A server may list 10,000 tools: the schema
// of one is read when it is called first.
class parameter_fields {
public:
    // Beyond these limits nothing is repeated.
    static constexpr std::size_t most = 64;                  // arguments of one tool
    static constexpr unsigned deepest = 8;                   // names on the way to one
    static constexpr std::size_t longest_name = 128;         // bytes of the name that the schema gives a field
    static constexpr std::size_t longest_value = 8 * 1024;   // bytes of an argument, raw
    static constexpr std::size_t longest_tool = 256 * 1024;  // bytes of the tool as it is listed

    // Not null.
    explicit parameter_fields(std::shared_ptr<const server_lists> lists);

    // `Mcp-Param-…` of a call, in the order of the schema; `arguments` is raw, and read once. An argument that is absent, null or of
    // another type than string, integer and boolean has no field.
    bool repeats_any(std::string_view tool) { return find(tool) != nullptr; }
    std::vector<std::pair<std::string, std::string>> of(std::string_view tool, std::string_view arguments);

    // Whether the fields that a client has sent with a call say what it says: each argument that the tool wants repeated has its
    // field once, which header_text() decodes to the same value; one that is absent, null or of another type has none. A number
    // beyond 2^53, or with a fraction, may be without; else it is spelled as in the arguments, unless it fits 64 bits. False if
    // such an argument, or an object around it, stands twice. Fields that the tool knows nothing of do not count. True also of a
    // tool that clients have to reject (header_problem()), as far as the places, names and types of its fields show that.
    bool agree(
        std::string_view tool,
        std::string_view arguments,
        const std::vector<std::pair<std::string, std::string>>& sent
    );

private:
    // A schema, as far as it leads to arguments that are repeated.
    struct property {
        std::optional<std::size_t> field;  // of tool::fields
        std::map<std::string, std::unique_ptr<property>, std::less<>> inside;
    };
    struct tool {
        property arguments;
        std::vector<std::string> fields;
        bool sound = true;  // as far as the schema was read, clients may use it
    };
    class schema_reader;
    class argument_reader;

    const tool* find(std::string_view name);

    std::shared_ptr<const server_lists> lists_;
    std::vector<const listed_item*> by_name_;
    std::map<std::string, std::unique_ptr<const tool>, std::less<>> read_;  // of those; null: nothing is repeated
};

// The head of a request, with the name and the further fields that it has already; `tools` may be null.
message_head head_of(const client_message& request, parameter_fields* tools);

}  // namespace mcp
