#include "gateway/mcp_path/single_call.hpp"

#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/modern_request.hpp"

namespace gateway::mcp_path {

mcp::kept_message initialize_of(const single_call& call)
{
    std::string client{"{"};
    mcp::append_text_member(client, "name", "cardea");
    mcp::append_text_member(client, "version", model::version());
    mcp::close(client, '}');
    std::string params{"{"};
    mcp::append_text_member(params, "protocolVersion", call.version);
    mcp::append_member(params, "capabilities", call.capabilities.empty() ? "{}" : call.capabilities);
    mcp::append_member(params, "clientInfo", client);
    mcp::close(params, '}');
    return mcp::own_request("0", "initialize", params);
}

restored_state state_of(const single_call& call)
{
    restored_state state;
    state.initialized();
    if (!call.level.empty()) {
        std::string params{"{"};
        mcp::append_member(params, "level", call.level);
        mcp::close(params, '}');
        mcp::client_message wish;
        wish.method = "logging/setLevel";
        wish.params = params;
        state.note(wish);
    }
    return state;
}

}  // namespace gateway::mcp_path
