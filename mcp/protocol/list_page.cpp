#include "mcp/protocol/list_page.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/tool_headers.hpp"

#include <utility>

namespace mcp {
namespace {

struct list_words {
    std::string_view items;  // the member of a result
    std::string_view key;    // the member of an item
};

constexpr std::array<list_words, list_kinds> words{{
    {"tools", "name"},
    {"resources", "uri"},
    {"resourceTemplates", "uriTemplate"},
    {"prompts", "name"},
}};

list_page::items read_items(std::string_view raw, list_kind list, std::size_t most)
{
    list_page::items items;
    const auto elements = core::scan_elements(raw, most);
    if (!elements) {
        items.problem = elements.error();
        return items;
    }
    items.count = elements->count;
    items.read.reserve(elements->raw.size());
    for (const auto each : elements->raw) {
        items.read.push_back(read_list_item(each, list, /*with_headers=*/true));
    }
    return items;
}

}  // namespace

std::string_view member_of(list_kind list) noexcept
{
    return words[index_of(list)].items;
}

list_item read_list_item(std::string_view raw, list_kind list, bool with_headers)
{
    list_item item;
    item.bytes = raw.size();
    const auto members = raw_object::read(raw);
    if (!members) {
        item.problem = members.error().detail;
        return item;
    }
    item.key = members->text(words[index_of(list)].key);
    auto text = usable(raw, deepest_fact);
    if (item.key.empty()) {
        item.problem = "has no key";
    } else if (!text) {
        item.problem = text.error().detail;
    } else {
        item.raw = std::move(*text);
        if (with_headers && list == list_kind::tools) {
            item.headers = header_problem(members->find("inputSchema")).value_or(std::string{});
        }
    }
    return item;
}

list_page read_list_page(std::string_view result, std::size_t most_items)
{
    list_page page;
    const auto members = raw_object::read(result);
    if (!members) {
        page.problem = members.error();
        return page;
    }
    page.type = members->find("resultType");
    page.time_to_live = members->find("ttlMs");
    page.scope = members->find("cacheScope");
    page.cursor = members->find("nextCursor");
    for (std::size_t i = 0; i < list_kinds; ++i) {
        if (const auto items = members->find(words[i].items); is_array(items)) {
            page.lists[i] = read_items(items, static_cast<list_kind>(i), most_items);
        }
    }
    return page;
}

}  // namespace mcp
