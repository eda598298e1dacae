// Where a request came from, as the proxies on its way say: whom to believe, who the caller was, and what the agent is
// told (X-Forwarded-*, and Forwarded of RFC 7239). Pure.
#pragma once

#include "core/clock.hpp"
#include "core/ip.hpp"
#include "gateway/relay/request_trace.hpp"
#include "net/http1/fields.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {
class credential_reader;
}

namespace gateway::model {
struct agent_entry;
}

namespace gateway::relay {

// The proxies in front of the gateway.
class proxy_trust {
public:
    // Blocks as config::settings::trusted_proxies has them; what is none is left out.
    explicit proxy_trust(const std::vector<std::string>& blocks);

    bool empty() const noexcept { return blocks_.empty(); }

    // `address` without brackets and port. What is no address is not trusted.
    bool trusts(std::string_view address) const noexcept;

private:
    std::vector<core::ip_block> blocks_;
};

// The caller behind the proxies: from the peer, which is trusted, through the chain from right to left to the first
// address that is not trusted. X-Forwarded-For is the chain if there is one, else Forwarded. An element that is no
// address (`unknown`, `_hidden`, anything malformed) ends the walk where it stands, and so do 100 elements. A view into
// the fields, or `peer`.
std::string_view
client_address(std::string_view peer, const net::http1::field_list& fields, const proxy_trust& proxies) noexcept;

// The gateway's own hop.
struct forwarding_hop {
    std::string_view peer;                                   // an address
    std::string_view host;                                   // of the request, as Host gives it; may be empty
    std::string_view scheme;                                 // "http" or "https": how the peer spoke to the gateway
    bool trusted = false;                                    // the peer is a trusted proxy
    const access::credential_reader* credentials = nullptr;  // whose headers stay here; null: none
    const model::agent_entry* agent = nullptr;               // which says what passes nevertheless; null: nothing
    bool other_extensions = false;                           // the caller's fields of extensions stay here
    bool other_version = false;                              // so does its A2A-Version
    bool other_session = false;                              // so do its Last-Event-ID and MCP-Protocol-Version
    bool by_grpc = false;                                    // the agent is called by gRPC
    bool messages = false;                                   // as call_traits::messages
    bool waits = false;                                      // the caller has said how long it waits
    std::optional<told_trace> trace{};                       // instead of the caller's; nullopt: that passes
    std::span<const std::string> deadlines{};                // names of fields that say how long the caller waits
    core::duration left{};                                   // what the agent is told there
    bool http2 = false;                                      // the request came over HTTP/2
};

// Writes what the agent is told. From a trusted proxy: all it said, with the peer appended to X-Forwarded-For and, if there is one
// that can be read, to Forwarded; X-Forwarded-Proto and -Host are ours only where it gave none. Of anyone else: our own
// X-Forwarded-For, -Proto and -Host and nothing more. Names with '_' pass in neither case.
void write_forwarding_fields(std::string& text, const net::http1::field_list& fields, const forwarding_hop& hop);

}  // namespace gateway::relay
