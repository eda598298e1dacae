// Catalogs of servers that list what a test says.
#pragma once

#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/bundle/member_catalog.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

inline void add_item(mcp::server_lists& lists, mcp::list_kind list, std::string key, std::string raw)
{
    lists.lists[mcp::index_of(list)].push_back({std::move(key), std::move(raw)});
}

inline void add_tool(mcp::server_lists& lists, const std::string& name)
{
    add_item(lists, mcp::list_kind::tools, name, R"({"name":")" + name + R"(","x":1.50})");
}

inline void add_resource(mcp::server_lists& lists, const std::string& uri)
{
    add_item(lists, mcp::list_kind::resources, uri, R"({"uri":")" + uri + R"(","name":"r"})");
}

inline void add_template(mcp::server_lists& lists, const std::string& uri)
{
    add_item(lists, mcp::list_kind::templates, uri, R"({"uriTemplate":")" + uri + R"(","name":"t"})");
}

struct example_filters {
    core::mcp_server own{};
    core::mcp_bundle bundle{};
};

inline std::shared_ptr<const mcp::member_catalog> catalog_of(
    std::string as,
    const mcp::server_lists& lists,
    const example_filters& filters = {},
    std::size_t longest = 48
)
{
    return std::make_shared<const mcp::member_catalog>(
        &lists,
        std::make_shared<const mcp::name_filters>(filters.own),
        std::make_shared<const mcp::name_filters>(mcp::filters_of(filters.bundle)),
        mcp::member_terms{std::move(as), longest}
    );
}

inline mcp::server_lists tools_of(const std::vector<std::string>& names)
{
    mcp::server_lists lists;
    for (const auto& each : names) {
        add_tool(lists, each);
    }
    return lists;
}

}  // namespace tests
