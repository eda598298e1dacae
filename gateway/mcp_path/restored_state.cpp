#include "gateway/mcp_path/restored_state.hpp"

#include "mcp/protocol/raw_json.hpp"

namespace gateway::mcp_path {

bool restored_state::note(const mcp::client_message& request)
{
    if (request.method == "logging/setLevel") {
        level_ = request.params;
    } else if (request.method == "resources/subscribe") {
        auto uri = mcp::members_of(request.params).text("uri");
        if (resources_.size() >= most_subscriptions && !resources_.contains(uri)) {
            return false;
        }
        resources_[std::move(uri)] = request.params;
    } else if (request.method == "resources/unsubscribe") {
        resources_.erase(mcp::members_of(request.params).text("uri"));
    }
    return true;
}

void restored_state::each(const std::function<void(std::string_view method, std::string_view params)>& put) const
{
    if (!level_.empty()) {
        put("logging/setLevel", level_);
    }
    for (const auto& [uri, params] : resources_) {
        put("resources/subscribe", params);
    }
}

}  // namespace gateway::mcp_path
