// `subscriptions/listen` of a client of the modern era, for changes of lists that the gateway itself has noticed (MCP 2026-07-28,
// basic/patterns/subscriptions). Pure; any thread.
#pragma once

#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/message.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// The params of `subscriptions/listen` for changes of these resources.
std::string listen_params(const std::set<std::string, std::less<>>& uris);

// The resources of which the server will tell, by its `notifications/subscriptions/acknowledged`.
std::vector<std::string> acknowledged_resources(std::string_view notification);

// A notification without the id of the subscription in its `_meta`; all other bytes stay.
std::string without_subscription(std::string_view notification);

// `notifications/resources/updated`.
std::string resource_updated(std::string_view uri);

// The lists whose changes are asked for; `notifications`: that member of the params, raw. Templates go with resources.
list_set lists_listened_to(std::string_view notifications);

// Those that differ in a way that callers could see.
list_set changed_lists(const server_lists& before, const server_lists& after) noexcept;

// changed_lists() from several states to one, which outlives it. Each is compared once: many may know it, and lists are long.
class list_differences {
public:
    explicit list_differences(const server_lists& now)
        : now_{now}
    {
    }

    list_set from(const std::shared_ptr<const server_lists>& before);

private:
    const server_lists& now_;
    std::map<std::shared_ptr<const server_lists>, list_set> known_;
};

// The acknowledgement, which names the lists whose changes will be reported, and the single resources.
std::string acknowledged_text(std::string_view raw_id, list_set lists, const std::vector<std::string>& resources = {});

// One notification for each kind of list that clients know. Without `raw_id`: as clients of the legacy era hear it.
std::vector<std::string> changed_texts(std::string_view raw_id, list_set lists);

// Nothing more will be told; without what modern_answer() adds.
std::string listened_answer(std::string_view raw_id);

}  // namespace mcp
