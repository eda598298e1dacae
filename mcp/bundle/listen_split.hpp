// `subscriptions/listen` of a client of the modern era (MCP 2026-07-28, basic/patterns/subscriptions), by the members that its single resources belong
// to. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_listened_resources = 1000;

struct listened_member {
    std::size_t member = 0;
    // By the URI at the member: as the client has it, exposed or without a prefix. Never empty.
    std::map<std::string, std::string, std::less<>> resources;
};

struct listen_split {
    list_set lists;                        // whose changes are asked for; templates go with resources
    std::vector<listened_member> members;  // in the order of the bundle
    std::vector<std::string>
        unknown;  // URIs that lead to no member, or to several: they are not in the acknowledgement
                  // (acknowledged_text())
};

// `notifications`: that member of the params, raw. Fails with invalid_params: it is no object, `resourceSubscriptions` is no array of
// strings, has more than most_listened_resources, or stands there in another spelling too.
core::result<listen_split>
split_listen(std::string_view notifications, const bundle_catalog& catalog, const bundle_sight& sight);

// The params of `subscriptions/listen` for one member, raw, without `_meta`.
std::string listen_params(const listened_member& member);

// The URI for the client of a resource that the member says was updated: the one that it has asked for, if that is this one; as
// the member has it, if the client has asked without a prefix for what this is a part of; else `exposed`.
std::string_view asked_uri(const listened_member& member, std::string_view updated, std::string_view exposed) noexcept;

}  // namespace mcp
