// Where the callers of an MCP server log in: what its own metadata as a protected resource says (RFC 9728), which the server names in a
// challenge, or which is at a well-known path. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

// How callers log in at an MCP server that asks them to (RFC 9728 section 2).
struct server_login {
    std::vector<std::string> authorization_servers;  // URLs; not empty
    std::vector<std::string> scopes;
};

// The value of a parameter of a challenge, in quotes or not, if it has nothing but what a scope may have (RFC 6749 section 3.3) and spaces
// between; else empty. Pure.
std::string_view challenge_parameter(std::string_view challenge, std::string_view name) noexcept;

// Where the metadata of a server may be, the likeliest first: `named` by its challenge, if that is on its origin, and the well-known
// paths of RFC 9728 section 3.1. Pure.
std::vector<std::string> metadata_places(const std::string& server, std::string_view named);

// Reads a document. Fails with upstream_status and upstream_protocol. Pure.
core::result<server_login> login_in(const core::result<net::fetch_response>& document);

class server_metadata {
public:
    static constexpr std::uint64_t longest_document = 64 * 1024;
    static constexpr core::duration kept = std::chrono::minutes{5};
    static constexpr core::duration failure_kept = std::chrono::seconds{10};
    static constexpr core::duration longest_fetch = std::chrono::seconds{5};  // in all
    static constexpr std::size_t most_servers = 1000;  // of which something is kept; over that all is forgotten
    static constexpr std::size_t most_named = 16;      // authorization servers, and four times as many scopes

    // References outlive it.
    server_metadata(net::fetcher& fetcher, std::function<core::steady_time()> clock)
        : fetcher_{fetcher},
          clock_{std::move(clock)}
    {
    }

    // All who ask at once share what is fetched. No credential is sent.
    net::task<core::result<server_login>> find(std::shared_ptr<const model::agent_entry> agent);

private:
    struct server {
        std::optional<core::result<server_login>> login;
        core::steady_time until{};
        bool asked = false;  // a fetch is under way
        net::waiting_tasks waiting;
    };

    net::task<core::result<server_login>> fetch(const model::agent_entry& agent);
    net::fetch_request request_of(const model::agent_entry& agent, std::string url, core::steady_time until) const;

    net::fetcher& fetcher_;
    std::function<core::steady_time()> clock_;
    std::map<std::string, std::shared_ptr<server>> servers_;  // by agent and URL
};

}  // namespace gateway::access
