#include "gateway/bundles/bundle_plane.hpp"

#include "core/json/json.hpp"
#include "core/pattern.hpp"
#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "mcp/bundle/names.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>

namespace gateway::bundles {
namespace {

using model::member_state;

constexpr std::chrono::milliseconds look_every{250};  // at how the members are
constexpr std::chrono::milliseconds wait_step{20};
constexpr std::chrono::milliseconds longest_turn{2};  // of building, but for the bundle that is begun in it

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

// Whether an agent with this id concerns the bundle; there may be no room for it.
bool has_place_for(const core::mcp_bundle& bundle, std::string_view id)
{
    return std::ranges::any_of(bundle.agents, [id](const auto& each) { return core::fits(each.id, id); });
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
        mark_all_of(id);
    }
}

void bundle_plane::set_agents(const std::shared_ptr<const model::snapshot>& now)
{
    for (auto& [name, each] : bundles_) {
        each.ids.reset();
        each.places.reset();
        mark(name, each);
    }
    plane::set_agents(now);
    while (!due_.empty()) {
        build_next();
    }
    batch_ = 0;
    publish();
}

void bundle_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    contained_.erase(id);
    if (agent == nullptr) {
        agents_.erase(id);
    } else if (!bundles_.empty()) {
        agents_[id] = agent;
    }
    mark_all_of(id);
}

void bundle_plane::contain(const std::string& id)
{
    contained_.insert(id);
    if (bundles_.empty()) {
        return;
    }
    if (auto agent = source_.one ? source_.one(id) : nullptr) {
        agents_.insert_or_assign(id, std::move(agent));
    }
    mark_all_of(id);
}

model::published_member bundle_plane::member_of(const known_bundle& bundle, const std::string& id) const
{
    const auto& agent = agents_.find(id)->second;
    if (!contained_.contains(id)) {
        return {agent, from_.lists(id), from_.state(id)};
    }
    const auto before = bundle.built == nullptr ? std::nullopt : place_of(*bundle.built, id);
    return {agent, before ? bundle.built->members[*before].lists : nullptr, model::member_state::down};
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
        if (!before.empty() && before.mapped().settings == each) {
            next.insert(std::move(before));
            continue;
        }
        auto& begun = next[each.name];
        begun.settings = each;
        begun.filters = filters_for(each, next);
        begun.built = before.empty() ? nullptr : std::move(before.mapped().built);
        mark(each.name, begun);
    }
    bundles_ = std::move(next);
    if (bundles_.empty()) {
        agents_.clear();
    } else if (first && source_.all) {
        agents_ = source_.all();
    }
    set_dirty();
}

// Bundles with equal filters share one object, so that they share the catalogs of members too.
std::shared_ptr<const ::mcp::name_filters>
bundle_plane::filters_for(const core::mcp_bundle& settings, const std::map<std::string, known_bundle>& others)
{
    const auto words = [](const core::mcp_bundle& of) { return std::tie(of.tools, of.prompts, of.resources); };
    for (const auto& [name, each] : others) {
        if (each.filters != nullptr && words(each.settings) == words(settings)) {
            return each.filters;
        }
    }
    return std::make_shared<const ::mcp::name_filters>(::mcp::filters_of(settings));
}

// Once for all that changes at a time.
void bundle_plane::set_dirty()
{
    if (bundles_.empty() && published_->empty()) {
        return;
    }
    if (!std::exchange(dirty_, true)) {
        post_turn();
    }
}

void bundle_plane::post_turn()
{
    net::asio::post(from_.control.get_executor(), [this, alive = std::weak_ptr<bool>{alive_}] {
        if (!alive.expired() && dirty_) {
            go_on();
        }
    });
}

void bundle_plane::mark(const std::string& name, known_bundle& bundle)
{
    if (!std::exchange(bundle.is_due, true)) {
        due_.push_back(name);
    }
}

// The bundles that this agent concerns are due, whether it is there or not.
void bundle_plane::mark_all_of(const std::string& id)
{
    bool any = bundles_.empty();
    for (auto& [name, each] : bundles_) {
        if (each.ids && !has_place_for(each.settings, id)) {
            continue;
        }
        any = true;
        mark(name, each);
        if (each.ids) {
            const auto at = std::ranges::lower_bound(*each.ids, id);
            const bool was_there = at != each.ids->end() && *at == id;
            if (agents_.contains(id) == was_there) {
                continue;
            }
            each.places.reset();
            if (was_there) {
                each.ids->erase(at);
            } else {
                each.ids->insert(at, id);
            }
        }
    }
    if (any) {
        set_dirty();
    }
}

// One turn. Those that become due meanwhile are the next batch, so that none waits for ever.
void bundle_plane::go_on()
{
    if (batch_ == 0) {
        batch_ = due_.size();
    }
    const auto until = std::chrono::steady_clock::now() + longest_turn;
    while (batch_ > 0 && std::chrono::steady_clock::now() < until) {
        --batch_;
        build_next();
    }
    if (batch_ > 0) {
        return post_turn();
    }
    publish();
    if (!due_.empty()) {
        set_dirty();
    }
}

void bundle_plane::build_next()
{
    const auto found = bundles_.find(due_.front());
    due_.pop_front();
    if (found != bundles_.end() && std::exchange(found->second.is_due, false)) {
        found->second.built = build(found->second);
    }
}

void bundle_plane::publish()
{
    dirty_ = false;
    set_due(bundles_.empty() ? net::never : from_.control.now() + look_every);
    if (bundles_.empty() && published_->empty()) {
        return;
    }
    model::published_bundles all;
    for (const auto& [name, each] : bundles_) {
        if (each.built != nullptr) {
            all.emplace(name, each.built);
        }
    }
    published_ = std::make_shared<const model::published_bundles>(std::move(all));
    from_.publish(published_);
    if (changed_) {
        changed_();
    }
}

const core::bundle_places& bundle_plane::places_of(known_bundle& bundle) const
{
    if (!bundle.ids) {
        auto& ids = bundle.ids.emplace();
        for (const auto& [id, each] : agents_) {
            if (has_place_for(bundle.settings, id)) {
                ids.push_back(id);
            }
        }
        bundle.places.reset();
    }
    if (!bundle.places) {
        bundle.places = core::places_of(bundle.settings, *bundle.ids);
    }
    return *bundle.places;
}

model::bundle_pointer bundle_plane::build(known_bundle& bundle)
{
    const auto& places = places_of(bundle);
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
        auto member = member_of(bundle, id);
        if (member.server() == nullptr) {
            skipped.emplace(id, "no_tools");
            continue;
        }
        catalogs.push_back(catalog_of(bundle, member, as));
        made.insert(bundle.made.extract(id));
        out->members.push_back(std::move(member));
    }
    bundle.made = std::move(made);
    set_catalog(*out, std::move(catalogs), bundle.built.get());
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
void bundle_plane::set_catalog(
    model::published_bundle& bundle,
    ::mcp::bundle_catalog::member_list catalogs,
    const model::published_bundle* before
) const
{
    if (before != nullptr && before->settings == bundle.settings && before->catalog->members() == catalogs) {
        bundle.catalog = before->catalog;
        bundle.tools = before->tools;
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

// The catalog of a member stays as long as nothing has changed that it is made of. Bundles that would make the same one share it.
std::shared_ptr<const ::mcp::member_catalog>
bundle_plane::catalog_of(known_bundle& bundle, const model::published_member& member, const std::string& as)
{
    const auto& server = member.server();
    const auto& filters = server->filters == nullptr ? no_filters() : server->filters;
    const auto& id = member.agent->record.id;
    const auto fits = [&](const made_catalog& made) {
        return made.catalog != nullptr && made.lists == member.lists && made.filters == filters && made.as == as;
    };
    auto& made = bundle.made[id];
    if (fits(made)) {
        return made.catalog;
    }
    made = {member.lists, filters, as, nullptr};
    for (const auto& [name, other] : bundles_) {
        const auto found = other.made.find(id);
        if (found != other.made.end() && fits(found->second) && other.filters == bundle.filters &&
            other.settings.name_length == bundle.settings.name_length) {
            made.catalog = found->second.catalog;
            return made.catalog;
        }
    }
    made.catalog = std::make_shared<const ::mcp::member_catalog>(
        member.lists.get(),
        filters,
        bundle.filters,
        ::mcp::member_terms{.as = as, .name_length = bundle.settings.name_length}
    );
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
    mark_changed_states();
    set_due(from_.control.now() + look_every);
}

void bundle_plane::mark_changed_states()
{
    for (auto& [name, bundle] : bundles_) {
        const bool changed =
            bundle.built != nullptr && std::ranges::any_of(bundle.built->members, [this](const auto& each) {
                const auto& id = each.agent->record.id;
                return !contained_.contains(id) && (from_.state(id) != each.state || from_.lists(id) != each.lists);
            });
        if (changed) {
            mark(name, bundle);
            set_dirty();
        }
    }
}

net::task<bool> bundle_plane::wait(std::string bundle)
{
    const auto found = published_->find(bundle);
    if (found == published_->end()) {
        co_return false;
    }
    const auto until = from_.control.now() + found->second->settings.list_wait;
    for (const auto& each : found->second->members) {
        // A card that nobody could get may be there now; that one is not waited for.
        const bool has_no_card = each.state == member_state::down && !each.agent->record.mcp;
        if (each.state == member_state::starting || has_no_card) {
            from_.demand(each.agent->record.id);
        }
    }
    timer pause{from_.control.get_executor()};
    bool awaits = found->second->awaits_members();
    while (awaits && !stopped_ && std::chrono::steady_clock::now() < until) {
        pause.expires_after(wait_step);
        auto waits = pause.async_wait(net::use_task);
        co_await std::move(waits);
        // Whoever wakes first looks for all.
        if (const auto time = std::chrono::steady_clock::now(); time - looked_ >= wait_step / 2) {
            looked_ = time;
            mark_changed_states();
        }
        const auto now = published_->find(bundle);
        awaits = now != published_->end() && now->second->awaits_members();
    }
    co_return true;
}

std::pair<std::string, std::string> bundle_plane::description_after(const std::string& name) const
{
    for (auto next = bundles_.upper_bound(name); next != bundles_.end(); ++next) {
        const auto found = published_->find(next->first);
        if (found != published_->end()) {
            auto one = description_of(*found->second);
            for (const auto& [agent, why] : next->second.skipped) {
                one["skipped"].push_back({{"agent", agent}, {"reason", why}});
            }
            return {next->first, core::to_text(one)};
        }
    }
    return {};
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
