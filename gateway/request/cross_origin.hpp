// Which web pages may call the gateway and read its answers (Fetch standard, "CORS protocol"; RFC 6454; MCP 2025-11-25, basic/transports,
// "Security Warning"). One thread.
#pragma once

#include "gateway/request/route_base.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::request {

enum class origin_verdict : std::uint8_t {
    none,      // no field: no page
    own,       // the gateway's
    loopback,  // of this machine, on a listener that only this machine reaches
    listed,    // in `cors.origins`
    forbidden,
};

struct origin_policy {
    std::span<const std::string> own;     // origins or URLs of the gateway
    bool loopback_listener = false;       // the request came to an address of this machine only
    std::span<const std::string> listed;  // `cors.origins`
    std::span<const std::string> also{};  // `mcp.origins`, the previous name of that key
};

// `count`: of the fields; two are forbidden. `null` is always forbidden, and so is text that is not an origin. Pure.
origin_verdict judge_origin(std::string_view origin, unsigned count, const origin_policy& policy);

class cross_origin final : route_base {
public:
    using route_base::route_base;

    // Sets the fields that let the page of the request read the answer, if it may; before anything is answered.
    origin_verdict note(request_context& request) const;

    // The answer to a browser that asks, without a credential, whether a page may make a request; nullopt: the request is another one.
    // `asks_callers`: callers need a credential.
    std::optional<net::routine<>> answer_preflight(request_context& request, origin_verdict page, bool asks_callers)
        const;

    // For a route that is a document, once the owner of the request is known: lets any page read one that anybody may read.
    void publish(request_context& request) const;

private:
    bool publishes(bool asks_callers) const noexcept;
};

}  // namespace gateway::request
