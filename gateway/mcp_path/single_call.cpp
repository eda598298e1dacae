#include "gateway/mcp_path/single_call.hpp"

#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"

namespace gateway::mcp_path {
namespace {

constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view before_params = R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":)";

}  // namespace

own_initialize::own_initialize(const single_call& of)
    : text_{before_params}
{
    std::string client;
    mcp::append_text_member(client, "name", "cardea");
    mcp::append_text_member(client, "version", model::version());
    mcp::close(client, '}');
    std::string params;
    mcp::append_text_member(params, "protocolVersion", of.version);
    mcp::append_member(params, "capabilities", of.capabilities.empty() ? "{}" : of.capabilities);
    mcp::append_member(params, "clientInfo", "{" + client);
    mcp::close(params, '}');
    text_ += "{" + params + "}";
}

mcp::client_message own_initialize::view() const noexcept
{
    mcp::client_message message;
    message.text = text_;
    message.method = "initialize";
    message.id = message.text.substr(before_id.size(), 1);
    message.params = message.text.substr(before_params.size(), text_.size() - before_params.size() - 1);
    return message;
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
