#include "bench/hostile_lists.hpp"

#include <array>
#include <string>
#include <utility>

namespace bench {
namespace {

using enum mcp::list_kind;

// As many items as fit, of those that `item(number)` makes.
template <class Item>
mcp::server_lists filled(mcp::list_kind list, std::size_t bytes, Item item)
{
    mcp::server_lists made;
    made.server.name = "s";
    made.server.offers.set();
    auto& items = made.lists[mcp::index_of(list)];
    std::size_t size = 0;
    for (std::size_t i = 0; i < mcp::discovery_limits{}.items; ++i) {
        std::string raw = item(i);
        size += raw.size() + 1;
        if (size > bytes) {
            break;
        }
        items.push_back({std::to_string(i), std::move(raw)});
    }
    return made;
}

// What is left for items beside the rest of a card.
std::size_t fitting(std::size_t bytes)
{
    return bytes - bytes / 8;
}

std::string tool(std::size_t i, const std::string& rest = {})
{
    return R"({"name":")" + std::to_string(i) + '"' + rest + '}';
}

// The skill of a tool with a name and nothing else is several times as long as the tool.
mcp::server_lists bare_tools(std::size_t bytes)
{
    return filled(tools, bytes / 10, [](std::size_t i) { return tool(i); });
}

mcp::server_lists too_many_tools(std::size_t bytes)
{
    return filled(tools, bytes / 4, [](std::size_t i) { return tool(i); });
}

mcp::server_lists with_schemas(std::size_t bytes)
{
    return filled(tools, fitting(bytes) / 2, [](std::size_t i) {
        return tool(
            i,
            R"(,"description":"What it does","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}})"
        );
    });
}

mcp::server_lists with_wide_schemas(std::size_t bytes)
{
    std::string members;
    for (int i = 0; i < 900; ++i) {
        members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
    }
    return filled(tools, fitting(bytes), [&](std::size_t i) {
        return tool(i, R"(,"inputSchema":{"properties":{)" + members + "}}");
    });
}

// Each schema takes time to be read and little room.
mcp::server_lists with_lists_in_schemas(std::size_t bytes)
{
    std::string list;
    for (int i = 0; i < 900; ++i) {
        list += i == 0 ? "[]" : ",[]";
    }
    return filled(tools, fitting(bytes), [&](std::size_t i) {
        return tool(i, R"(,"inputSchema":{"x":[)" + list + "]}");
    });
}

mcp::server_lists with_long_texts(std::size_t bytes)
{
    return filled(tools, fitting(bytes) / 2, [](std::size_t i) {
        return tool(i, R"(,"description":")" + std::string(100000, 'd') + '"');
    });
}

mcp::server_lists many_resources(std::size_t bytes)
{
    return filled(resources, fitting(bytes), [](std::size_t i) {
        return R"({"uri":"r:)" + std::to_string(i) + R"(","name":"n","icons":[{"src":"https://h/i.png"}]})";
    });
}

mcp::server_lists too_many_resources(std::size_t bytes)
{
    return filled(resources, 16 * bytes, [](std::size_t i) {
        return R"({"uri":"r:)" + std::to_string(i) + R"(","name":")" + std::string(1500, 'n') + "\"}";
    });
}

constexpr std::array<hostile_list, 8> all{{
    {"tools", bare_tools},
    {"too-many-tools", too_many_tools},
    {"tools-with-schemas", with_schemas},
    {"tools-with-wide-schemas", with_wide_schemas},
    {"tools-with-lists", with_lists_in_schemas},
    {"tools-with-long-texts", with_long_texts},
    {"resources", many_resources},
    {"too-many-resources", too_many_resources},
}};

}  // namespace

std::span<const hostile_list> hostile_lists() noexcept
{
    return all;
}

}  // namespace bench
