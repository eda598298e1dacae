// The bundles of a gateway that has MCP servers as a test says, on a loop that runs when the test says.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/bundles/bundle_plane.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bundle_tests {

class bundle_rig {
public:
    using lists_pointer = std::shared_ptr<const mcp::server_lists>;

    bundle_rig()
    {
        plane.set_agent_source({[this] { return entries_; }, [this](const std::string& id) { return entries_[id]; }});
    }

    // It lists these tools from now on.
    void add(const std::string& id, const std::vector<std::string>& tools)
    {
        auto lists = std::make_shared<mcp::server_lists>();
        for (const auto& each : tools) {
            lists->lists[mcp::index_of(mcp::list_kind::tools)].push_back({each, R"({"name":")" + each + R"("})"});
        }
        lists_[id] = std::move(lists);
        plane.set_agent(id, declare(id));
    }

    // There is such an agent from now on, or another one, of which the plane has not heard.
    std::shared_ptr<const gateway::model::agent_entry> declare(const std::string& id)
    {
        auto agent = std::make_shared<gateway::model::agent_entry>();
        agent->record.id = id;
        agent->record.mcp.emplace();
        return entries_[id] = std::move(agent);
    }

    void remove(const std::string& id) { plane.set_agent(id, nullptr); }

    void configure(std::vector<core::mcp_bundle> bundles)
    {
        settings_.mcp.bundles = std::move(bundles);
        plane.apply(settings_, {{"mcp.bundles"}});
    }

    // Everything that is due has run.
    void settle() { control.io().poll(); }

    gateway::model::bundle_pointer bundle(std::string_view name)
    {
        settle();
        const auto found = plane.published()->find(name);
        return found == plane.published()->end() ? nullptr : found->second;
    }

    std::vector<std::string> members(std::string_view name)
    {
        std::vector<std::string> ids;
        for (const auto& each : bundle(name)->members) {
            ids.push_back(each.agent->record.id);
        }
        return ids;
    }

    net::loop control;

private:
    struct no_lines final : core::log_sink {
        void write(std::string_view) override {}
    };

    no_lines lines_;
    std::map<std::string, lists_pointer> lists_;
    gateway::bundles::bundle_plane::agent_map entries_;
    config::settings settings_;
    gateway::bundles::tool_searches searches_;

public:
    std::size_t published = 0;  // so many times
    core::logger log{lines_, core::log_level::error};
    gateway::bundles::bundle_plane plane{
        {control,
         log,
         [this](const std::string& id) { return lists_[id]; },
         [this](const std::string& id) {
             using enum gateway::model::member_state;
             return lists_[id] == nullptr ? starting : known;
         },
         [](const std::string&) {},
         [this](const auto&) { ++published; },
         searches_}
    };
};

inline core::mcp_bundle bundle_of(std::string name, std::vector<core::bundle_member> members)
{
    core::mcp_bundle bundle;
    bundle.name = std::move(name);
    bundle.agents = std::move(members);
    return bundle;
}

}  // namespace bundle_tests
