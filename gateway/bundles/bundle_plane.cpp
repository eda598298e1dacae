#include "gateway/bundles/bundle_plane.hpp"

#include "core/json/json.hpp"
#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "mcp/bundle/names.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace gateway::bundles {
namespace {

using model::member_state;

constexpr std::chrono::milliseconds look_every{250};  // at how the members are
constexpr std::chrono::milliseconds wait_step{20};

using timer = net::asio::
    basic_waitable_timer<std::chrono::steady_clock, net::asio::wait_traits<std::chrono::steady_clock>, net::executor>;

std::shared_ptr<const model::agent_entry> entry_of_bundles()
{
    model::agent_entry self;
    self.record.mcp.emplace();
    return std::make_shared<const model::agent_entry>(std::move(self));
}

const std::shared_ptr<const ::mcp::name_filters>& no_filters()
{
    static const auto none = std::make_shared<const ::mcp::name_filters>();
    return none;
}

std::string_view state_text(member_state state) noexcept
{
    return state == member_state::known ? "known" : state == member_state::starting ? "starting" : "down";
}

core::json description_of(const model::published_bundle& bundle)
{
    using ::mcp::list_kind;
    const auto& name = bundle.settings.name;
    core::json out{
        {"name", name},
        {"path", name == core::default_bundle ? "/mcp" : "/mcp/" + name},
        {"members", core::json::array()},
        {"renamed", core::json::array()},
        {"skipped", core::json::array()},
        {"tools", bundle.catalog->shown(list_kind::tools)},
        {"left_out", bundle.catalog->left_out(list_kind::tools)}
    };
    for (std::size_t i = 0; i < bundle.members.size(); ++i) {
        const auto& member = bundle.members[i];
        const auto& catalog = *bundle.catalog->members()[i];
        const auto& agent = member.agent->record.id;
        out["members"].push_back(
            {{"agent", agent},
             {"as", catalog.as()},
             {"state", state_text(member.state)},
             {"tools", catalog[list_kind::tools].size()},
             {"prompts", catalog[list_kind::prompts].size()},
             {"resources", catalog[list_kind::resources].size()}}
        );
        for (const auto list : {list_kind::tools, list_kind::prompts}) {
            for (std::size_t at = 0; at < catalog[list].size(); ++at) {
                const auto* const entry = bundle.catalog->at(i, list, at);
                if (entry != nullptr && entry->exposed != ::mcp::joined_name(catalog.as(), entry->own)) {
                    out["renamed"].push_back(
                        {{"agent", agent},
                         {"list", list == list_kind::tools ? "tools" : "prompts"},
                         {"name", entry->own},
                         {"exposed", entry->exposed}}
                    );
                }
            }
        }
    }
    return out;
}

}  // namespace

bundle_plane::bundle_plane(bundle_sources from)
    : from_{std::move(from)},
      self_{entry_of_bundles()}
{
    from_.control.timers().add(*this);
}

void bundle_plane::lists_changed(const std::string& id)
{
    if (agents_.contains(id)) {
        set_dirty();
    }
}

void bundle_plane::set_agents(const std::shared_ptr<const model::snapshot>& now)
{
    plane::set_agents(now);
    rebuild();
}

void bundle_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    if (agent == nullptr) {
        agents_.erase(id);
    } else if (!bundles_.empty()) {
        agents_[id] = agent;
    }
    set_dirty();
}

void bundle_plane::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (!changed.has_any_of("mcp.bundles")) {
        return;
    }
    const bool first = bundles_.empty();
    std::map<std::string, known_bundle> next;
    for (const auto& each : now.mcp.bundles) {
        auto before = bundles_.extract(each.name);
        const bool same = !before.empty() && before.mapped().settings == each;
        next.emplace(
            each.name,
            same ? std::move(before.mapped())
                 : known_bundle{each, std::make_shared<const ::mcp::name_filters>(::mcp::filters_of(each)), {}, {}}
        );
    }
    bundles_ = std::move(next);
    if (bundles_.empty()) {
        agents_.clear();
    } else if (first && all_agents_) {
        agents_ = all_agents_();
    }
    set_dirty();
}

// Once for all that changes at a time.
void bundle_plane::set_dirty()
{
    if (bundles_.empty() && published_->empty()) {
        return;
    }
    if (!std::exchange(dirty_, true)) {
        net::asio::post(from_.control.get_executor(), [this, alive = std::weak_ptr<bool>{alive_}] {
            if (!alive.expired() && dirty_) {
                rebuild();
            }
        });
    }
}

void bundle_plane::rebuild()
{
    dirty_ = false;
    set_due(bundles_.empty() ? net::never : from_.control.now() + look_every);
    if (bundles_.empty() && published_->empty()) {
        return;
    }
    model::published_bundles all;
    for (auto& [name, each] : bundles_) {
        all.emplace(name, build(each));
    }
    published_ = std::make_shared<const model::published_bundles>(std::move(all));
    from_.publish(published_);
    if (changed_) {
        changed_();
    }
}

model::bundle_pointer bundle_plane::build(known_bundle& bundle)
{
    std::vector<std::string> ids;
    ids.reserve(agents_.size());
    for (const auto& [id, each] : agents_) {
        ids.push_back(id);
    }
    const auto places = core::places_of(bundle.settings, ids);
    std::map<std::string, std::string_view> skipped;
    for (const auto& [id, why] : places.skipped) {
        skipped.emplace(id, core::name(why));
    }
    auto out = std::make_shared<model::published_bundle>();
    out->settings = bundle.settings;
    out->filters = bundle.filters;
    out->self = self_;
    ::mcp::bundle_catalog::member_list catalogs;
    std::map<std::string, made_catalog> made;
    for (const auto& [id, as] : places.members) {
        const auto& agent = agents_.find(id)->second;
        model::published_member member{agent, from_.lists(id), from_.state(id)};
        if (member.server() == nullptr) {
            skipped.emplace(id, "no_tools");
            continue;
        }
        catalogs.push_back(catalog_of(bundle, member, as));
        made.insert(bundle.made.extract(id));
        out->members.push_back(std::move(member));
    }
    bundle.made = std::move(made);
    set_catalog(*out, std::move(catalogs));
    for (std::size_t i = 0; out->catalog->left_out(::mcp::list_kind::tools) > 0 && i < out->members.size(); ++i) {
        const auto count = (*out->catalog->members()[i])[::mcp::list_kind::tools].size();
        if (count > 0 && out->catalog->at(i, ::mcp::list_kind::tools, count - 1) == nullptr) {
            skipped.emplace(out->members[i].agent->record.id, "tool_limit");
        }
    }
    tell_skipped(bundle, std::move(skipped));
    return out;
}

// The catalog stays as long as it is of the same members, and with it the index of its tools.
void bundle_plane::set_catalog(model::published_bundle& bundle, ::mcp::bundle_catalog::member_list catalogs) const
{
    const auto before = published_->find(bundle.settings.name);
    if (before != published_->end() && before->second->settings == bundle.settings &&
        before->second->catalog->members() == catalogs) {
        bundle.catalog = before->second->catalog;
        bundle.tools = before->second->tools;
        return;
    }
    if (!bundle.settings.search) {
        bundle.catalog = std::make_shared<const ::mcp::bundle_catalog>(std::move(catalogs));
        return;
    }
    bundle.catalog = std::make_shared<const ::mcp::bundle_catalog>(std::move(catalogs), search_names());
    bundle.tools = std::make_shared<const tool_index>(tools_of(bundle));
    from_.searches.prepare(bundle.tools);
}

// The catalog of a member stays as long as nothing has changed that it is made of.
std::shared_ptr<const ::mcp::member_catalog>
bundle_plane::catalog_of(known_bundle& bundle, const model::published_member& member, const std::string& as)
{
    const auto& server = member.server();
    const auto& filters = server->filters == nullptr ? no_filters() : server->filters;
    auto& made = bundle.made[member.agent->record.id];
    if (made.catalog == nullptr || made.lists != member.lists || made.filters != filters || made.as != as) {
        made = {member.lists, filters, as, nullptr};
        made.catalog = std::make_shared<const ::mcp::member_catalog>(
            member.lists.get(),
            filters,
            bundle.filters,
            ::mcp::member_terms{.as = as, .name_length = bundle.settings.name_length}
        );
    }
    return made.catalog;
}

void bundle_plane::tell_skipped(known_bundle& bundle, std::map<std::string, std::string_view> now)
{
    for (const auto& [id, why] : now) {
        const auto before = bundle.skipped.find(id);
        if (before == bundle.skipped.end() || before->second != why) {
            from_.log.write(
                core::log_level::warn,
                "bundle_member_skipped",
                {{"bundle", bundle.settings.name}, {"agent", id}, {"reason", why}}
            );
        }
    }
    bundle.skipped = std::move(now);
}

void bundle_plane::on_due()
{
    if (stopped_) {
        return;
    }
    if (states_changed()) {
        rebuild();
    } else {
        set_due(from_.control.now() + look_every);
    }
}

bool bundle_plane::states_changed() const
{
    return std::ranges::any_of(*published_, [this](const auto& bundle) {
        return std::ranges::any_of(bundle.second->members, [this](const auto& each) {
            const auto& id = each.agent->record.id;
            return from_.state(id) != each.state || from_.lists(id) != each.lists;
        });
    });
}

net::task<bool> bundle_plane::wait(std::string bundle)
{
    const auto found = published_->find(bundle);
    if (found == published_->end()) {
        co_return false;
    }
    const auto until = from_.control.now() + found->second->settings.list_wait;
    for (const auto& each : found->second->members) {
        if (each.state == member_state::starting) {
            from_.demand(each.agent->record.id);
        }
    }
    timer pause{from_.control.get_executor()};
    bool awaits = true;
    while (awaits && !stopped_ && std::chrono::steady_clock::now() < until) {
        pause.expires_after(wait_step);
        auto waits = pause.async_wait(net::use_task);
        co_await std::move(waits);
        // Whoever wakes first looks for all.
        if (const auto time = std::chrono::steady_clock::now(); time - looked_ >= wait_step / 2) {
            looked_ = time;
            if (states_changed()) {
                rebuild();
            }
        }
        const auto now = published_->find(bundle);
        awaits = now != published_->end() && now->second->awaits_members();
    }
    co_return true;
}

std::string bundle_plane::description() const
{
    auto all = core::json::array();
    for (const auto& [name, known] : bundles_) {
        const auto found = published_->find(name);
        if (found != published_->end()) {
            auto one = description_of(*found->second);
            for (const auto& [agent, why] : known.skipped) {
                one["skipped"].push_back({{"agent", agent}, {"reason", why}});
            }
            all.push_back(std::move(one));
        }
    }
    return core::to_text({{"bundles", std::move(all)}});
}

void bundle_plane::collect(telemetry::metrics& into) const
{
    telemetry::family tools{telemetry::metric("cardea_bundle_tools")};
    for (const auto& [name, each] : *published_) {
        tools.add({{"bundle", name}}, std::uint64_t{each->catalog->shown(::mcp::list_kind::tools)});
    }
    into.add(std::move(tools));
}

}  // namespace gateway::bundles
