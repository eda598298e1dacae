#include "gateway/management/registry.hpp"

#include "config/dump.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;

constexpr std::string_view stored_path = "agent";
constexpr std::string_view by_configuration = "configuration";
constexpr std::string_view by_store = "store";  // what it turns out to have

// Hash of the definition, without secrets.
std::string hash_of(const model::agent_entry& agent)
{
    const auto& record = agent.record;
    return jose::sha256_hex(core::to_text(config::given_values(record)) + '\n' + record.card + '\n' + record.metadata);
}

std::shared_ptr<const model::agent_entry> entry_of_id(const std::string& id)
{
    auto entry = std::make_shared<model::agent_entry>();
    entry->record.id = id;
    return entry;
}

// One of the two is not null.
void note_change(
    const model::audit_trail* audit,
    const model::agent_entry* before,
    const model::agent_entry* now,
    std::optional<std::string_view> by
)
{
    if (audit != nullptr && audit->on() && by) {
        audit->agent_changed(
            {.agent = (now != nullptr ? now : before)->record.id,
             .by = *by,
             .before = before == nullptr ? "" : hash_of(*before),
             .after = now == nullptr ? "" : hash_of(*now)}
        );
    }
}

void log_change(
    const core::logger& log,
    const std::string& id,
    store::action action,
    std::uint64_t version,
    const std::string& who
)
{
    log.write(
        core::log_level::info,
        "agent_changed",
        {{"agent", id}, {"action", store::name(action)}, {"version", version}, {"by", who}}
    );
}

}  // namespace

registry::registry(
    const config::settings& settings,
    threads::store_thread& store,
    const core::logger& log,
    threads::turns& by
)
    : settings_{settings},
      store_{store},
      log_{log},
      turns_{by},
      factory_{settings}
{
}

core::result<> registry::load()
{
    for (const auto& record : settings_.agents) {
        auto entry = factory_.make(record);
        if (!entry) {
            return std::move(entry).error();
        }
        auto& added = agents_[record.id];
        added.entry = factory_.renewed(nullptr, std::move(*entry), false);
        added.contained = contained_.contains(record.id);
    }
    const auto stored = store_.engine().load();
    if (!stored) {
        return core::gateway_error(stored.error().code, "store: " + stored.error().detail);
    }
    const auto checks = tls_checks();
    for (const auto& each : *stored) {
        if (agents_.contains(each.id)) {
            hide(each.id);
        } else {
            adopt(each, checks, by_store);
        }
    }
    return {};
}

void registry::hide(const std::string& id)
{
    hidden_.insert(id);
    log_.write(core::log_level::warn, "stored_agent_hidden", {{"agent", id}});
}

void registry::adopt(const store::record& record, const config::tls_checks& checks, std::optional<std::string_view> by)
{
    const auto definition = core::parse_json(record.definition);
    auto read = factory_.propose(record.id, definition ? *definition : core::json{}, stored_path, checks);
    if (!read.problems.empty()) {
        log_.write(
            core::log_level::error,
            "stored_agent_unusable",
            {{"agent", record.id}, {"key", read.problems.front().key}, {"what", read.problems.front().what}}
        );
        read.entry = entry_of_id(record.id);
    }
    take(record.id, {std::move(read.entry), record.version, record.written, std::move(read.problems)}, by);
}

const registered_agent* registry::find(std::string_view id) const
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? nullptr : &found->second;
}

std::shared_ptr<const model::snapshot> registry::take_snapshot(std::string public_base) const
{
    auto snapshot = std::make_shared<model::snapshot>();
    snapshot->public_base = std::move(public_base);
    snapshot->key_set = key_set_;
    for (const auto& [id, agent] : agents_) {
        if (agent.published()) {
            (agent.served() ? snapshot->agents : snapshot->disabled).emplace(id, agent.entry);
        }
    }
    return snapshot;
}

core::result<> registry::may_write(const std::string& id) const
{
    const auto* there = find(id);
    if (there != nullptr && there->declared()) {
        return core::caller_error(errc::agent_read_only);
    }
    return {};
}

net::task<core::result<std::uint64_t>> registry::upsert(std::string id, proposed_agent agent, store::author by)
{
    if (auto may = may_write(id); !may) {
        co_return std::move(may).error();
    }
    if (shared_.applied) {
        writing_[id] = {agent.entry, agent.definition, by.who};
    }
    std::function work = [id, definition = std::move(agent.definition), by](store::engine& engine) {
        return engine.put(id, definition, by);
    };
    auto written = co_await store_.write(std::move(work));
    if (!written) {
        if (written.error().code != errc::write_unknown) {
            end_write(id, *agent.entry);
        }
        co_return co_await refused(std::move(id), std::move(written).error());
    }
    const auto version = written->version;
    if (shared_.applied) {
        co_await shared_.applied(version);
        end_write(id, *agent.entry);
        const auto may = may_write(id);
        co_return may ? core::result<std::uint64_t>{version} : core::result<std::uint64_t>{may.error()};
    }
    if (auto may = may_write(id); !may) {
        hide(id);
        co_return std::move(may).error();
    }
    const auto action = find(id) == nullptr ? store::action::created : store::action::updated;
    take(id, {std::move(agent.entry), version, written->written, {}}, by.who);
    log_change(log_, id, action, version, by.who);
    co_return version;
}

net::task<core::result<std::uint64_t>> registry::remove(std::string id, store::author by)
{
    if (auto may = may_write(id); !may) {
        co_return std::move(may).error();
    }
    std::function work = [id, by](store::engine& engine) { return engine.remove(id, by); };
    auto version = co_await store_.write(std::move(work));
    if (!version) {
        co_return co_await refused(std::move(id), std::move(version).error());
    }
    if (shared_.applied) {
        co_await shared_.applied(*version);
        co_return version;
    }
    if (may_write(id)) {
        drop(id, by.who);
    }
    hidden_.erase(id);
    log_change(log_, id, store::action::deleted, *version, by.who);
    co_return *version;
}

void registry::route(const std::string& id, const model::call_route& to)
{
    const auto* there = find(id);
    if (there == nullptr || !there->served()) {
        return;
    }
    // The ids of those who call are part of the entry that goes.
    const auto before = there->entry;
    const auto& own_id = before->record.id;
    const auto wanted = model::completed(before->record, to);
    const bool moves = wanted.url != before->call_url;
    const bool differs = before->awaits_card || wanted != before->route();
    if (differs && remake(own_id, wanted, before->token) && moves) {
        log_.write(core::log_level::info, "agent_routed", {{"agent", own_id}, {"url", wanted.url}});
    }
}

void registry::set_token(const std::string& id, const core::secret& token)
{
    const auto* there = find(id);
    if (there != nullptr && there->served()) {
        remake(id, there->entry->awaits_card ? model::call_route{} : there->entry->route(), token);
    }
}

void registry::set_fell_back(const std::string& id, bool fell_back)
{
    const auto found = agents_.find(id);
    if (found == agents_.end() || !found->second.served() || found->second.entry->fell_back == fell_back) {
        return;
    }
    auto& entry = found->second.entry;
    entry = model::with_fallback(entry, fell_back);
    if (publish_) {
        publish_(id, entry);
    }
}

void registry::renew_pins(const std::string& id)
{
    const auto found = agents_.find(id);
    if (found == agents_.end() || !found->second.published()) {
        return;
    }
    auto entry = factory_.pinned(found->second.entry);
    if (entry != found->second.entry) {
        found->second.entry = std::move(entry);
        if (publish_) {
            publish_(found->first, found->second.entry);
        }
    }
}

// Remakes an agent that exists. False: it stays as it is.
bool registry::remake(const std::string& id, const model::call_route& to, const core::secret& token)
{
    auto& there = agents_.find(id)->second;
    auto entry = factory_.make(there.entry->record, to, token);
    if (!entry) {
        log_.write(core::log_level::warn, "agent_route_failed", {{"agent", id}, {"detail", entry.error().detail}});
        return false;
    }
    there.entry = model::with_version(model::with_fallback(*entry, there.entry->fell_back), there.version);
    if (publish_) {
        publish_(id, there.entry);
    }
    return true;
}

net::task<core::result<>>
registry::declare(std::vector<core::agent> there, std::vector<std::string> gone, bool files_changed)
{
    if (files_changed) {
        factory_.renew_files();
    }
    co_await turns_.wait();
    std::vector<std::shared_ptr<const model::agent_entry>> entries;
    for (auto& each : there) {
        if (turns_.over()) {
            co_await turns_.wait();
        }
        const auto record = std::move(each);  // its end is a part of this turn
        auto entry = factory_.make(record);
        if (!entry) {
            co_return std::move(entry).error();
        }
        entries.push_back(std::move(*entry));
    }
    const auto stays = [this](std::string_view id) { return find(id) == nullptr || !find(id)->declared(); };
    if (auto refusal = factory_.claim(entries, gone, stays)) {
        co_return std::move(*refusal);
    }
    const auto shown_again = co_await hidden_among(gone);
    co_await turns_.wait();
    for (auto& entry : entries) {
        if (turns_.over()) {
            co_await turns_.wait();
        }
        take_declared(std::move(entry));
    }
    const auto checks = tls_checks();
    for (const auto& record : shown_again) {
        if (turns_.over()) {
            co_await turns_.wait();
        }
        adopt(record, checks, by_configuration);
        hidden_.erase(record.id);
    }
    for (const auto& id : gone) {
        if (turns_.over()) {
            co_await turns_.wait();
        }
        if (const auto* before = find(id); before != nullptr && before->declared()) {
            drop(id, by_configuration);
        }
    }
    co_return core::result<>{};
}

void registry::take_declared(std::shared_ptr<const model::agent_entry> entry)
{
    const auto id = entry->record.id;
    if (const auto* before = find(id); before != nullptr && !before->declared()) {
        hide(id);
    }
    take(id, {std::move(entry), 0, {}, {}}, by_configuration);
}

// The records of those that the configuration hides. What the store cannot give stays hidden until the next start.
net::task<std::vector<store::record>> registry::hidden_among(std::vector<std::string> ids)
{
    std::vector<store::record> records;
    for (const auto& id : ids) {
        if (turns_.over()) {
            co_await turns_.wait();
        }
        if (!hidden_.contains(id)) {
            continue;
        }
        auto found = co_await stored(id);
        if (!found) {
            continue;
        }
        if (auto& record = *found; record) {
            records.push_back(std::move(*record));
        }
    }
    co_return records;
}

net::task<core::result<std::optional<store::record>>> registry::stored(std::string id)
{
    std::function work = [id = std::move(id)](store::engine& engine) { return engine.find(id); };
    co_return co_await store_.ask(std::move(work));
}

net::task<core::result<std::vector<store::change>>> registry::changes(std::uint64_t after, std::size_t most)
{
    std::function work = [after, most](store::engine& engine) { return engine.changes(after, most); };
    co_return co_await store_.ask(std::move(work));
}

// A write that was refused for what is there says what that is.
net::task<core::error> registry::refused(std::string id, core::error why)
{
    if (why.code == errc::version_conflict || why.code == errc::agent_not_found) {
        static_cast<void>(co_await refresh());
    }
    co_await look_again(std::move(id), why);
    co_return why;
}

net::task<core::result<>> registry::refresh()
{
    if (!shared_.refreshed) {
        co_return core::result<>{};
    }
    co_return co_await shared_.refreshed();
}

void registry::end_write(const std::string& id, const model::agent_entry& of)
{
    if (const auto mine = writing_.find(id); mine != writing_.end() && mine->second.entry.get() == &of) {
        writing_.erase(mine);
    }
}

void registry::apply(const store::change& change, const store::record* now, bool own)
{
    const auto& id = change.agent;
    const auto by = own ? std::optional<std::string_view>{change.who} : std::nullopt;
    const auto* const there = find(id);
    const bool declared = there != nullptr && there->declared();
    const bool is_it = now != nullptr && now->version == change.version;
    if (change.what == store::action::deleted) {
        if (!declared && there != nullptr && there->version < change.version) {
            drop(id, by);
        }
        hidden_.erase(id);
    } else if (is_it && declared) {
        if (!hidden_.contains(id)) {
            hide(id);
        }
    } else if (is_it && (there == nullptr || there->version < change.version)) {
        adopt(*now, tls_checks(), by);
    } else if (const auto mine = writing_.find(id); own && !declared && mine != writing_.end()) {
        // Another replica has written over it already.
        note_change(audit_, there == nullptr ? nullptr : there->entry.get(), mine->second.entry.get(), by);
    }
    if (const auto mine = writing_.find(id); own && is_it && mine != writing_.end() && mine->second.is(*now)) {
        writing_.erase(mine);  // perhaps one whose outcome was unknown
    }
    if (own) {
        log_change(log_, id, change.what, change.version, change.who);
    }
}

// One of `all`, which has no word of who wrote it: this process has, if it is what is being written here.
void registry::apply_one(const store::record& record, const config::tls_checks& checks)
{
    const auto* const there = find(record.id);
    if (there != nullptr && there->declared()) {
        if (!hidden_.contains(record.id)) {
            hide(record.id);
        }
        return;
    }
    if (there != nullptr && there->version == record.version && there->written == record.written) {
        return;
    }
    const auto action = there == nullptr ? store::action::created : store::action::updated;
    const auto mine = writing_.find(record.id);
    if (mine == writing_.end() || !mine->second.is(record)) {
        adopt(record, checks, std::nullopt);
        return;
    }
    const auto who = mine->second.who;
    writing_.erase(mine);
    adopt(record, checks, who);
    log_change(log_, record.id, action, record.version, who);
}

net::task<> registry::apply_all(std::shared_ptr<const std::vector<store::record>> all)
{
    std::vector<std::string_view> sorted;
    sorted.reserve(all->size());
    const auto checks = tls_checks();
    co_await turns_.wait();
    for (const auto& each : *all) {
        if (turns_.over()) {
            co_await turns_.wait();
        }
        sorted.push_back(each.id);
        apply_one(each, checks);
    }
    if (!std::ranges::is_sorted(sorted)) {
        std::ranges::sort(sorted);
    }
    const auto is_there = [&](std::string_view id) { return std::ranges::binary_search(sorted, id); };
    std::erase_if(hidden_, [&](const auto& id) { return !is_there(id); });
    for (auto at = agents_.begin(); at != agents_.end();) {
        const auto id = at->first;
        const bool gone = !at->second.declared() && !is_there(id);
        ++at;
        if (gone) {
            drop(id, std::nullopt);
        }
        if (turns_.over()) {
            co_await turns_.wait();
            at = agents_.upper_bound(id);
        }
    }
}

// After a disk that could not say whether it had written: what is served is what the file says.
net::task<> registry::look_again(std::string id, core::error why)
{
    const bool unsure = why.code == errc::write_unknown;
    if (why.code != errc::store_failed && why.code != errc::store_full && !unsure) {
        co_return;
    }
    log_.write(
        core::log_level::error,
        "store_write_failed",
        {{"agent", id}, {"code", core::name(why.code)}, {"detail", why.detail}}
    );
    if (shared_.applied) {
        co_return;  // what is there comes by itself
    }
    const auto found = co_await stored(id);
    if (!found || !may_write(id)) {
        co_return;
    }
    const auto* there = find(id);
    const auto& record = *found;
    if (!record && there != nullptr) {
        drop(id, by_store);
    } else if (record && (there == nullptr || there->version != record->version)) {
        adopt(*record, tls_checks(), by_store);
    }
}

void registry::take(const std::string& id, registered_agent agent, std::optional<std::string_view> by)
{
    auto& there = agents_[id];
    const bool was_served = there.entry != nullptr && there.served();
    const bool was_published = there.entry != nullptr && there.published();
    agent.entry = model::with_version(
        factory_.renewed(there.entry.get(), agent.entry, was_served && agent.served()),
        agent.version
    );
    agent.contained = contained_.contains(id);
    note_change(audit_, there.entry.get(), agent.entry.get(), by);
    there = std::move(agent);
    if (publish_ && (there.published() || was_published)) {
        publish_(id, there.published() ? there.entry : nullptr);
    }
}

void registry::set_contained(const std::string& id, bool contained)
{
    contained ? void(contained_.insert(id)) : void(contained_.erase(id));
    const auto found = agents_.find(id);
    if (found == agents_.end() || found->second.contained == contained) {
        return;
    }
    found->second.contained = contained;
    if (publish_ && found->second.published()) {
        publish_(id, found->second.entry);
    }
}

void registry::drop(const std::string& id, std::optional<std::string_view> by)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    const bool was_published = found->second.published();
    note_change(audit_, found->second.entry.get(), nullptr, by);
    factory_.release(*found->second.entry);
    agents_.erase(found);
    if (publish_ && was_published) {
        publish_(id, nullptr);
    }
}

net::task<bool>
walk_agents(const registry& agents, threads::turns& by, std::string after, agent_visitor each, std::stop_token left)
{
    const auto& all = agents.all();
    while (!left.stop_requested()) {
        co_await by.wait();
        auto at = all.upper_bound(after);  // an id is never empty
        do {
            if (at == all.end()) {
                co_return false;
            }
            if (!each(at->first, at->second)) {
                co_return std::next(at) != all.end();
            }
            after = at->first;
            ++at;
        } while (!by.over());
    }
    co_return false;
}

}  // namespace gateway::management
