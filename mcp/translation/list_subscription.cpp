#include "mcp/translation/list_subscription.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <array>
#include <cstddef>

namespace mcp {
namespace {

constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
constexpr std::size_t most_acknowledged = 10'000;

struct told_list {
    list_kind list;
    std::string_view wish;    // in what is asked for and acknowledged
    std::string_view method;  // of the notification
};

constexpr std::array<told_list, 3> told_lists{{
    {list_kind::tools, "toolsListChanged", "notifications/tools/list_changed"},
    {list_kind::prompts, "promptsListChanged", "notifications/prompts/list_changed"},
    {list_kind::resources, "resourcesListChanged", "notifications/resources/list_changed"},
}};

bool has(list_set lists, list_kind list) noexcept
{
    return lists[index_of(list)];
}

// `"_meta":{...},`
std::string meta_of(std::string_view raw_id)
{
    std::string id{"{"};
    append_member(id, "io.modelcontextprotocol/subscriptionId", raw_id);
    close(id, '}');
    std::string meta;
    append_member(meta, "_meta", id);
    return meta;
}

std::string text_list(const auto& texts)
{
    std::string list{"["};
    for (const auto& each : texts) {
        core::append_json_string(list, each);
        list += ',';
    }
    close(list, ']');
    return list;
}

std::string notification(std::string_view method, std::string_view params)
{
    std::string text{R"({"jsonrpc":"2.0",)"};
    append_text_member(text, "method", method);
    if (!params.empty()) {
        append_member(text, "params", params);
    }
    close(text, '}');
    return text;
}

}  // namespace

std::string listen_params(const std::set<std::string, std::less<>>& uris)
{
    return R"({"notifications":{"resourceSubscriptions":)" + text_list(uris) + "}}";
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

list_set lists_listened_to(std::string_view notifications)
{
    list_set asked;
    const auto wishes = members_of(notifications);
    for (const auto& each : told_lists) {
        asked[index_of(each.list)] = wishes.find(each.wish) == "true";
    }
    asked[index_of(list_kind::templates)] = has(asked, list_kind::resources);
    return asked;
}

list_set changed_lists(const server_lists& before, const server_lists& after) noexcept
{
    list_set changed;
    for (std::size_t i = 0; i < list_kinds; ++i) {
        changed[i] = before.lists[i] != after.lists[i];
    }
    return changed;
}

list_set list_differences::from(const std::shared_ptr<const server_lists>& before)
{
    const auto known = known_.find(before);
    return known != known_.end() ? known->second : known_.emplace(before, changed_lists(*before, now_)).first->second;
}

std::string acknowledged_text(std::string_view raw_id, list_set lists, const std::vector<std::string>& resources)
{
    std::string told{"{"};
    for (const auto& each : told_lists) {
        if (has(lists, each.list)) {
            append_member(told, each.wish, "true");
        }
    }
    if (!resources.empty()) {
        append_member(told, "resourceSubscriptions", text_list(resources));
    }
    close(told, '}');
    auto params = "{" + meta_of(raw_id);
    append_member(params, "notifications", told);
    close(params, '}');
    return notification("notifications/subscriptions/acknowledged", params);
}

std::vector<std::string> changed_texts(std::string_view raw_id, list_set lists)
{
    lists[index_of(list_kind::resources)] = has(lists, list_kind::resources) || has(lists, list_kind::templates);
    std::string params;
    if (!raw_id.empty()) {
        params = "{" + meta_of(raw_id);
        close(params, '}');
    }
    std::vector<std::string> texts;
    for (const auto& each : told_lists) {
        if (has(lists, each.list)) {
            texts.push_back(notification(each.method, params));
        }
    }
    return texts;
}

std::string listened_answer(std::string_view raw_id)
{
    auto result = "{" + meta_of(raw_id);
    close(result, '}');
    return answer_text(raw_id, "result", result);
}

}  // namespace mcp
