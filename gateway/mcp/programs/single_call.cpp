#include "gateway/mcp/programs/single_call.hpp"

#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_request.hpp"

#include <string>

namespace gateway::mcp::programs {

namespace {

// Servers of the legacy era refuse one without a name or a version.
std::string client_info(std::string_view raw)
{
    auto info = ::mcp::short_client_info(raw);
    const auto read = ::mcp::members_of(info);
    if (::mcp::is_string(read.find("name")) && ::mcp::is_string(read.find("version"))) {
        return info;
    }
    info = "{";
    ::mcp::append_text_member(info, "name", "cardea");
    ::mcp::append_text_member(info, "version", model::version());
    ::mcp::close(info, '}');
    return info;
}

}  // namespace

::mcp::kept_message initialize_of(const single_call& call)
{
    std::string params{"{"};
    ::mcp::append_text_member(params, "protocolVersion", call.version);
    ::mcp::append_member(params, "capabilities", call.capabilities.empty() ? "{}" : call.capabilities);
    ::mcp::append_member(params, "clientInfo", client_info(call.client));
    ::mcp::close(params, '}');
    return ::mcp::own_request("0", "initialize", params);
}

table::restored_state state_of(const single_call& call)
{
    table::restored_state state;
    state.initialized();
    if (!call.level.empty()) {
        std::string params{"{"};
        ::mcp::append_member(params, "level", call.level);
        ::mcp::close(params, '}');
        ::mcp::client_message wish;
        wish.method = "logging/setLevel";
        wish.params = params;
        state.note(wish);
    }
    return state;
}

}  // namespace gateway::mcp::programs
