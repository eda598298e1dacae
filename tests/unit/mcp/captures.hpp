// What public servers answered (tests/data/mcp): the handshake and every list of each, as one snapshot.
#pragma once

#include "mcp/protocol/discovery.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tests {

struct capture {
    std::string file;
    std::string initialize;            // the raw result
    std::vector<std::string> results;  // of the lists, by mcp::index_of(); empty: answered with -32601
    std::vector<std::string> server_messages;
};

// Every one, by file name.
const std::vector<capture>& captures();

// The result `{"<items>":[...]}` of a list with these raw items.
std::string list_result(mcp::list_kind list, std::string_view items);

// The capture as the walk finds it.
mcp::server_lists discovered(const capture& from);

}  // namespace tests
