#include "mcp/translation/subscription.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <cstddef>

namespace mcp {
namespace {

constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
constexpr std::size_t most_acknowledged = 10'000;

}  // namespace

std::string listen_params(const std::set<std::string, std::less<>>& uris)
{
    std::string list{"["};
    for (const auto& each : uris) {
        core::append_json_string(list, each);
        list += ',';
    }
    close(list, ']');
    return R"({"notifications":{"resourceSubscriptions":)" + list + "}}";
}

std::vector<std::string> acknowledged_resources(std::string_view notification)
{
    std::vector<std::string> found;
    const auto params = members_of(members_of(notification).object("params"));
    const auto told = members_of(params.object("notifications"));
    const auto uris = core::scan_elements(told.find("resourceSubscriptions"), most_acknowledged);
    if (!uris) {
        return found;
    }
    for (const auto each : uris->raw) {
        if (auto uri = text_of(each)) {
            found.push_back(std::move(*uri));
        }
    }
    return found;
}

std::string without_subscription(std::string_view notification)
{
    const auto meta = members_of(members_of(notification).object("params")).object("_meta");
    const auto members = members_of(meta);
    if (members.find(subscription_id).empty()) {
        return std::string{notification};
    }
    std::string rest{"{"};
    for (const auto& each : members.members()) {
        if (each.name != subscription_id) {
            append_member(rest, each.name, each.value);
        }
    }
    close(rest, '}');
    const auto at = static_cast<std::size_t>(meta.data() - notification.data());
    std::string out{notification.substr(0, at)};
    out.append(rest).append(notification.substr(at + meta.size()));
    return out;
}

std::string resource_updated(std::string_view uri)
{
    std::string params{"{"};
    append_text_member(params, "uri", uri);
    close(params, '}');
    return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":)" + params + "}";
}

}  // namespace mcp
