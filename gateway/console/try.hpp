// Calls of operators to agents from where the console is (POST /try/agents/<id>…), so that no page needs rights at the traffic listener. A
// worker gets the request on one end of a pair of sockets, as any caller's: access, limits, relay, counters and log are those. On the control
// loop's thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/responses/answer.hpp"
#include "net/http1/head.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::console {

inline constexpr std::string_view try_path = "/try";

// Whether the path is /try or below it.
bool is_try_path(std::string_view path) noexcept;

// Why the request is none to an agent: 404 for other paths, 405 for other methods than POST, and DELETE of a session of MCP. Pure.
std::optional<responses::answer> refusal_of_try(const net::http1::request_head& asked);

class tries {
public:
    // Tries that can be under way.
    static constexpr std::size_t most = 16;

    // `serve`: gives a connection to a worker. The settings and `public_base` outlive this.
    using server = std::function<void(net::accepted_socket from)>;
    tries(const config::settings& settings, const std::string& public_base, server serve)
        : settings_{settings},
          public_base_{public_base},
          serve_{std::move(serve)}
    {
    }

    // Answers a request for a path of /try from somebody who may act; one that is interrupted before its answer has begun gets none here. A
    // caller that leaves is seen by the worker as it leaves.
    net::routine<> serve(net::caller_exchange& caller);

private:
    const config::settings& settings_;
    const std::string& public_base_;
    server serve_;
    std::size_t under_way_ = 0;
};

}  // namespace gateway::console
