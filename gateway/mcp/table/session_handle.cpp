#include "gateway/mcp/table/session_handle.hpp"

#include <random>

namespace gateway::mcp::table {

std::string new_session_handle()
{
    std::random_device source;
    std::string handle;
    for (int word = 0; word < 4; ++word) {
        auto bits = source();
        for (int byte = 0; byte < 4; ++byte, bits >>= 8U) {
            handle += static_cast<char>(bits & 255U);
        }
    }
    return handle;
}

}  // namespace gateway::mcp::table
