// What a tool's schema says about header fields (`x-mcp-header`): MCP 2026-07-28, basic/transports/streamable-http, "Custom
// Headers from Tool Parameters". Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mcp {

// Why clients over streamable HTTP have to reject a tool with this `inputSchema`, the parameter's path first, in the server's
// words and of any length. Nothing: every annotation is as it has to be, or there is none. An annotation is a token (RFC 9110)
// that stands once, whatever its case; on a parameter of type integer, string or boolean that the root leads to by
// `properties` alone. Everywhere else it is an error, but for what is no schema: names of parameters and definitions, and
// values (`default`, `const`, `enum`, `examples`).
//
// `schema` is the raw text of a value that usable() takes. Linear in it.
std::optional<std::string> header_problem(std::string_view schema);

}  // namespace mcp
