#include "gateway/upgrade/carried_lists.hpp"

#include "gateway/upgrade/handover_messages.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace gateway::upgrade {
namespace {

void add(handover_writer& out, const std::vector<std::string>& texts)
{
    out.number(texts.size());
    for (const auto& each : texts) {
        out.text(each);
    }
}

void add(handover_writer& out, const ::mcp::server_facts& server)
{
    out.number(static_cast<std::uint64_t>(server.speaks)).text(server.protocol_version).text(server.name);
    out.text(server.title).text(server.version).text(server.description).text(server.website);
    out.text(server.instructions).text(server.info).text(server.capabilities);
    out.number(server.offers.to_ulong()).number(server.announces.to_ulong());
    add(out, server.icons);
}

// Of what a count says there is, only what really comes takes memory.
std::vector<std::string> texts_in(handover_content& from)
{
    std::vector<std::string> all;
    for (auto left = from.number(); left > 0 && from.good(); --left) {
        all.push_back(from.text());
    }
    return all;
}

std::vector<::mcp::listed_item> items_in(handover_content& from)
{
    std::vector<::mcp::listed_item> all;
    for (auto left = from.number(); left > 0 && from.good(); --left) {
        auto key = from.text();
        all.push_back({std::move(key), from.text()});
    }
    return all;
}

::mcp::server_facts server_in(handover_content& from)
{
    ::mcp::server_facts server;
    server.speaks =
        from.number() == static_cast<std::uint64_t>(::mcp::era::modern) ? ::mcp::era::modern : ::mcp::era::legacy;
    for (auto* each :
         {&server.protocol_version,
          &server.name,
          &server.title,
          &server.version,
          &server.description,
          &server.website,
          &server.instructions,
          &server.info,
          &server.capabilities}) {
        *each = from.text();
    }
    server.offers = ::mcp::list_set{from.number()};
    server.announces = ::mcp::list_set{from.number()};
    server.icons = texts_in(from);
    return server;
}

}  // namespace

std::string content_of(const sessions::passed_lists& lists)
{
    handover_writer out;
    const auto& all = *lists.lists;
    out.text(lists.agent).text(lists.made_of);
    add(out, all.server);
    for (const auto& items : all.lists) {
        out.number(items.size());
        for (const auto& each : items) {
            out.text(each.key).text(each.raw);
        }
    }
    for (const auto& each : all.left_out) {
        out.number(each.count);
        add(out, each.first);
    }
    const auto life = all.time_to_live.value_or(core::duration{0});
    out.number(all.time_to_live ? 1 : 0);
    out.number(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(life).count()));
    return out.number(all.shareable ? 1 : 0).take();
}

std::optional<sessions::passed_lists> lists_in(std::string_view content)
{
    handover_content from{content};
    sessions::passed_lists out{from.text(), from.text(), nullptr};
    ::mcp::server_lists all;
    all.server = server_in(from);
    for (auto& items : all.lists) {
        items = items_in(from);
    }
    for (auto& each : all.left_out) {
        each.count = static_cast<std::size_t>(from.number());
        each.first = texts_in(from);
    }
    const bool has_life = from.number() == 1;
    const std::chrono::milliseconds life{static_cast<std::int64_t>(from.number())};
    all.time_to_live = has_life ? std::optional<core::duration>{life} : std::nullopt;
    all.shareable = from.number() == 1;
    if (!from.good()) {
        return std::nullopt;
    }
    out.lists = std::make_shared<const ::mcp::server_lists>(std::move(all));
    return out;
}

}  // namespace gateway::upgrade
