// What a server keeps for a session by the client's wish: the next program must be told again. Pure; one thread.
#pragma once

#include "mcp/calls/client_message.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace gateway::mcp_path {

class restored_state {
public:
    static constexpr std::size_t most_subscriptions = 1000;

    // False: a subscription beyond most_subscriptions, which must not go up.
    bool note(const mcp::client_message& request);

    void initialized() noexcept { initialized_ = true; }
    bool is_initialized() const noexcept { return initialized_; }

    // Method and raw params of each request, in order.
    void each(const std::function<void(std::string_view method, std::string_view params)>& put) const;

private:
    bool initialized_ = false;
    std::string level_;                                          // raw params of `logging/setLevel`; empty: none
    std::map<std::string, std::string, std::less<>> resources_;  // raw params of `resources/subscribe`, by raw URI
};

}  // namespace gateway::mcp_path
