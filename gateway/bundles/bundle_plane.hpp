// The bundles: which agents each of them has, and what they list, as values that the workers serve (model::published_bundle). Nobody is
// asked for a bundle's sake: lists are those that the gateway's own sessions know, or those of an A2A agent's card. On the thread of the
// control loop.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/published_bundle.hpp"
#include "mcp/bundle/member_catalog.hpp"
#include "mcp/calls/name_filter.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::bundles {

// What the plane needs of the gateway; references outlive it.
struct bundle_sources {
    net::loop& control;
    const core::logger& log;
    // What the agent lists as an MCP server, also while it is away; null: nothing is known of that.
    std::function<std::shared_ptr<const ::mcp::server_lists>(const std::string& id)> lists;
    // Whether it is there; `known` and `down` as long as there are lists, too.
    std::function<model::member_state(const std::string& id)> state;
    std::function<void(const std::string& id)> demand;                                 // a lazy session begins
    std::function<void(std::shared_ptr<const model::published_bundles> all)> publish;  // to all who serve them
    tool_searches& searches;
};

class bundle_plane final : public model::plane, private net::timed {
public:
    using agent_map = std::map<std::string, std::shared_ptr<const model::agent_entry>>;

    explicit bundle_plane(bundle_sources from);

    // Looks agents up, also contained ones: all, when the first bundle comes (without bundles none are kept), and one that is contained; null:
    // it is not served. To be set before that.
    struct agent_source {
        std::function<agent_map()> all;
        std::function<std::shared_ptr<const model::agent_entry>(const std::string& id)> one;
    };
    void set_agent_source(agent_source source) { source_ = std::move(source); }

    // What an agent lists as an MCP server has changed.
    void lists_changed(const std::string& id);

    // As model::bundle_services::wait.
    net::task<bool> wait(std::string bundle);

    // The bundles as they were published last; not null.
    const std::shared_ptr<const model::published_bundles>& published() const noexcept { return published_; }

    // The first bundle behind this name for operators, its name in front: `{"name","path","members":[{"agent","as","state","tools",
    // "prompts","resources"}],"renamed":[{"agent","list","name","exposed"}],"skipped":[{"agent","reason"}],"tools","left_out"}`. Both are
    // empty if there is none.
    std::pair<std::string, std::string> description_after(const std::string& name) const;

    const core::logger& log() const noexcept { return from_.log; }

    // Who hears of it when they have been published again; empty: nobody.
    void set_observer(std::function<void()> changed) { changed_ = std::move(changed); }

    void set_agents(const std::shared_ptr<const model::snapshot>& now) override;
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    // The agent is a member with its last lists, if there are any, as one whose server is away: workers then know for whom they refuse a
    // call.
    void contain(const std::string& id) override;
    void apply(const config::settings& now, const model::changed_settings& changed) override;
    void collect(telemetry::metrics& into) const override;
    void stop() override { stopped_ = true; }

private:
    // A catalog and what it was made of.
    struct made_catalog {
        std::shared_ptr<const ::mcp::server_lists> lists;
        std::shared_ptr<const ::mcp::name_filters> filters;
        std::string as;
        std::shared_ptr<const ::mcp::member_catalog> catalog;
    };

    struct known_bundle {
        core::mcp_bundle settings;
        std::shared_ptr<const ::mcp::name_filters> filters;  // of the bundle itself
        std::map<std::string, made_catalog> made;            // by agent
        std::map<std::string, std::string_view> skipped;     // why, by agent
        std::optional<std::vector<std::string>> ids;         // that a member's fits, ascending; nothing: not looked for
        std::optional<core::bundle_places> places;           // of these; nothing: one has come or gone
        model::bundle_pointer built;                         // the last one; null: none was built
        bool is_due = false;                                 // due_ has its name
    };

    void on_due() override;

    void set_dirty();
    void post_turn();
    void mark(const std::string& name, known_bundle& bundle);
    void mark_all_of(const std::string& id);
    void go_on();
    void build_next();
    void publish();
    const core::bundle_places& places_of(known_bundle& bundle) const;
    model::bundle_pointer build(known_bundle& bundle);
    std::shared_ptr<const ::mcp::member_catalog>
    catalog_of(known_bundle& bundle, const model::published_member& member, const std::string& as);
    void set_catalog(
        model::published_bundle& bundle,
        ::mcp::bundle_catalog::member_list catalogs,
        const model::published_bundle* before
    ) const;
    static std::shared_ptr<const ::mcp::name_filters>
    filters_for(const core::mcp_bundle& settings, const std::map<std::string, known_bundle>& others);
    void tell_skipped(known_bundle& bundle, std::map<std::string, std::string_view> now);
    void mark_changed_states();
    model::published_member member_of(const known_bundle& bundle, const std::string& id) const;

    bundle_sources from_;
    std::shared_ptr<const model::agent_entry> self_;  // published_bundle::self of all
    agent_source source_;
    std::set<std::string, std::less<>> contained_;
    agent_map agents_;                             // empty: there are no bundles
    std::map<std::string, known_bundle> bundles_;  // by name
    std::shared_ptr<const model::published_bundles> published_ = std::make_shared<const model::published_bundles>();
    std::function<void()> changed_;
    core::steady_time looked_{};   // by whoever waits for members
    std::deque<std::string> due_;  // names of bundles to be built again; the first comes next
    std::size_t batch_ = 0;        // of due_, which are published together
    bool dirty_ = false;           // something is to be published
    bool stopped_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::bundles
