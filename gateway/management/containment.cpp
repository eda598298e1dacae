#include "gateway/management/containment.hpp"

#include "gateway/telemetry/metric_family.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;

// The principal that registered the agent; its provider is empty: nobody did.
core::principal_name registrant_of(const core::agent& agent)
{
    if (!agent.registered) {
        return {};
    }
    if (agent.registered_by.empty()) {
        return {core::registration_owner, core::registration_owner};  // whoever has the token
    }
    const auto blank = agent.registered_by.find(' ');
    return blank == std::string::npos
               ? core::principal_name{}
               : core::principal_name{agent.registered_by.substr(0, blank), agent.registered_by.substr(blank + 1)};
}

// Whether an end comes later than another one; no end is the latest.
bool ends_later(const std::optional<core::wall_time>& one, const std::optional<core::wall_time>& other)
{
    return other && (!one || *one > *other);
}

}  // namespace

containment_table::containment_table(net::deadlines& by, containment_services services)
    : services_{std::move(services)}
{
    by.add(*this);
}

core::result<> containment_table::load(store::engine& records, const std::vector<store::kept_document>& unwritten)
{
    const auto found = records.documents(std::string{store::containment_document});
    if (!found) {
        return core::gateway_error(
            found.error().code,
            "store: what is contained cannot be read, so nothing may be served: " + found.error().detail
        );
    }
    const auto wall = services_.clock();
    for (const auto& [documents, is_written] : {std::pair{&*found, true}, std::pair{&unwritten, false}}) {
        for (const auto& each : *documents) {
            auto read = containment_in(each);
            if (!read) {
                return core::gateway_error(
                    errc::store_failed,
                    "store: '" + each.name + "' is not a containment, so nothing may be served"
                );
            }
            auto& [subject, record] = *read;
            if (record.order.until && *record.order.until <= wall) {
                all_.erase(subject);
                if (!services_.store.shared()) {
                    to_drop_[subject] = {};
                }
                continue;
            }
            to_drop_.erase(subject);
            const auto act = ++acts_;
            all_[subject] = {.record = std::move(record), .act = act, .revision = act, .written = is_written ? act : 0};
        }
    }
    for (const auto& id : agents()) {
        services_.agents.set_contained(id, true);
    }
    plan();
    return {};
}

const containment_order* containment_table::find(const contained_subject& subject) const
{
    const auto found = all_.find(subject);
    return found == all_.end() ? nullptr : &found->second.record.order;
}

std::vector<std::string> containment_table::agents() const
{
    std::vector<std::string> out;
    for (const auto& subject : std::views::keys(all_)) {
        if (subject.is_agent()) {
            out.push_back(subject.agent);
        }
    }
    return out;
}

std::size_t containment_table::count_of(bool agents) const
{
    const auto fits = [agents](const contained_subject& each) { return each.is_agent() == agents; };
    return static_cast<std::size_t>(std::ranges::count_if(std::views::keys(all_), fits));
}

core::result<> containment_table::check_room(const contained_subject& subject) const
{
    if (all_.contains(subject) || count_of(subject.is_agent()) < most) {
        return {};
    }
    return core::caller_error(
        errc::invalid_params,
        std::to_string(most) + (subject.is_agent() ? " agents" : " principals") + " are contained, which is the most"
    );
}

std::vector<core::principal_name> containment_table::principals_of(const std::string& agent) const
{
    const auto record = completed({agent, {}}, {});
    auto all = record.acts_as;
    all.insert(all.end(), record.registrants.begin(), record.registrants.end());
    return all;
}

// With the principals of the agent, as far as they are known.
containment_record containment_table::completed(const contained_subject& subject, containment_order order) const
{
    constexpr std::size_t most_registrants = 16;
    containment_record out{.order = std::move(order)};
    const auto before = all_.find(subject);
    if (before != all_.end()) {
        out.acts_as = before->second.record.acts_as;
        out.registrants = before->second.record.registrants;
    }
    const auto* const agent = subject.is_agent() ? services_.agents.find(subject.agent) : nullptr;
    if (agent == nullptr || !agent->problems.empty()) {
        return out;
    }
    out.acts_as = agent->entry->record.acts_as;
    auto& registrants = out.registrants;
    auto registrant = registrant_of(agent->entry->record);
    if (!registrant.provider.empty() && std::ranges::find(registrants, registrant) == registrants.end()) {
        registrants.push_back(std::move(registrant));
        if (registrants.size() > most_registrants) {
            registrants.erase(registrants.begin());
        }
    }
    return out;
}

void containment_table::add(model::containments& to, const contained_subject& subject, const containment_record& record)
{
    const model::containment_terms terms{record.order.notice, record.order.until};
    const auto add_principal = [&](const core::principal_name& name) {
        const auto [there, is_new] = to.principals.try_emplace(name, terms);
        if (!is_new && ends_later(terms.until, there->second.until)) {
            there->second = terms;
        }
    };
    if (!subject.is_agent()) {
        add_principal(subject.principal);
        return;
    }
    to.agents.insert_or_assign(subject.agent, terms);
    std::ranges::for_each(record.acts_as, add_principal);
    std::ranges::for_each(record.registrants, add_principal);
}

model::containments_pointer containment_table::now() const
{
    if (all_.empty()) {
        return nullptr;
    }
    auto out = std::make_shared<model::containments>();
    for (const auto& [subject, each] : all_) {
        add(*out, subject, each.record);
    }
    return out;
}

net::task<core::result<containment_table::outcome>>
containment_table::try_to_contain(contained_subject subject, containment_order order)
{
    if (auto room = check_room(subject); !room) {
        co_return std::move(room).error();
    }
    auto these = std::make_shared<model::containments>();
    add(*these, subject, completed(subject, order));
    const model::containments_pointer asked = std::move(these);
    const auto cut = co_await services_.count(asked);
    co_return outcome{std::move(order), cut, services_.store.durable()};
}

net::task<core::result<containment_table::outcome>>
containment_table::contain(contained_subject subject, containment_order order)
{
    if (auto room = check_room(subject); !room) {
        co_return std::move(room).error();
    }
    auto record = completed(subject, std::move(order));
    const auto act = ++acts_;
    auto& made = all_[subject];
    audit_contained(subject, made, std::nullopt);
    made.record = std::move(record);
    made.act = made.revision = act;
    made.failed = made.reported = made.audited = false;
    touch(subject);
    made.next_try = {};
    to_drop_.erase(subject);
    auto published = services_.publish(now());
    if (subject.is_agent()) {
        services_.agents.set_contained(subject.agent, true);
    }
    log_change(subject, made.record.order, {true, made.record.order.by, std::nullopt});
    begin_write(subject);
    const auto latest = services_.now() + patience;
    plan();
    const auto cut = co_await std::move(published);
    cut_ += cut;
    if (auto* const mine = of_act(subject, act)) {
        audit_contained(subject, *mine, cut);
    }
    const bool written = co_await is_written(subject, act, latest);
    const auto* const there = find(subject);
    co_return outcome{
        there == nullptr ? std::nullopt : std::optional{*there},
        cut,
        written && services_.store.durable()
    };
}

net::task<core::result<containment_table::outcome>>
containment_table::release(contained_subject subject, std::string by)
{
    if (!all_.contains(subject)) {
        // Another replica may have contained it a moment ago.
        const auto refreshed = co_await services_.agents.refresh();
        if (!refreshed) {
            co_return refreshed.error();
        }
    }
    const auto there = all_.find(subject);
    if (there == all_.end()) {
        co_return outcome{.durable = services_.store.durable()};
    }
    const auto act = there->second.act;
    there->second.releases = act;
    auto dropping = drop_in_store(subject);
    const auto dropped = co_await std::move(dropping);
    const auto again = all_.find(subject);
    if (!dropped) {
        if (again != all_.end() && again->second.releases == act) {
            again->second.releases = 0;
            again->second.written = 0;  // perhaps it is gone there
            plan();
        }
        co_return dropped.error();
    }
    if (again != all_.end() && again->second.act == act) {
        lift(again, by);
    }
    const auto* const still = find(subject);
    co_return outcome{
        .now = still == nullptr ? std::nullopt : std::optional{*still},
        .durable = services_.store.durable()
    };
}

containment_table::entry* containment_table::of_act(const contained_subject& subject, std::uint64_t act)
{
    const auto found = all_.find(subject);
    return found == all_.end() || found->second.act != act ? nullptr : &found->second;
}

void containment_table::lift(entries::iterator which, std::string_view by)
{
    const auto subject = which->first;
    const auto order = which->second.record.order;
    audit_contained(subject, which->second, std::nullopt);
    all_.erase(which);
    touch(subject);
    spawn(counted(services_.publish(now())));
    if (subject.is_agent()) {
        services_.agents.set_contained(subject.agent, false);
    }
    log_change(subject, order, {false, by, std::nullopt});
    audit(subject, order, {false, by, std::nullopt});
    waiting_.wake();
    plan();
}

// Nobody waits for what it cuts.
net::task<> containment_table::counted(net::task<model::cut_counts> publishing)
{
    cut_ += co_await std::move(publishing);
}

void containment_table::set_agents(const std::shared_ptr<const model::snapshot>& /*now*/)
{
    for (const auto& id : agents()) {
        refresh(id);
    }
    spawn(counted(services_.publish(now())));
}

void containment_table::contain(const std::string& id)
{
    if (refresh(id)) {
        spawn(counted(services_.publish(now())));
    }
}

// The principals of a contained agent that is there, or has changed. False: they are the same.
bool containment_table::refresh(const std::string& id)
{
    const auto found = all_.find({id, {}});
    if (found == all_.end()) {
        return false;
    }
    auto next = completed(found->first, found->second.record.order);
    if (next == found->second.record) {
        return false;
    }
    found->second.record = std::move(next);
    found->second.revision = ++acts_;
    plan();
    return true;
}

std::vector<containment_table::contained_principal> containment_table::principals(
    const std::optional<core::principal_name>& after
) const
{
    std::map<core::principal_name, contained_principal> all;
    const auto add = [&](const core::principal_name& name, const containment_order& order, const std::string& agent) {
        if (!after || name > *after) {
            all.try_emplace(name, contained_principal{name, &order, agent});
        }
    };
    for (const bool agents : {false, true}) {
        for (const auto& [subject, each] : all_) {
            if (!subject.is_agent() && !agents) {
                add(subject.principal, each.record.order, {});
            } else if (subject.is_agent() && agents) {
                for (const auto* names : {&each.record.acts_as, &each.record.registrants}) {
                    std::ranges::for_each(*names, [&](const auto& name) {
                        add(name, each.record.order, subject.agent);
                    });
                }
            }
        }
    }
    const auto found = std::views::values(all);
    return {found.begin(), found.end()};
}

void containment_table::collect(telemetry::metrics& into) const
{
    telemetry::family contained{telemetry::metric("cardea_contained")};
    contained.add({{"kind", "agent"}}, std::uint64_t{count_of(true)});
    contained.add({{"kind", "principal"}}, std::uint64_t{count_of(false)});
    into.add(std::move(contained));
    telemetry::family cut{telemetry::metric("cardea_contained_cut_total")};
    cut.add({{"kind", "call"}}, cut_.calls);
    cut.add({{"kind", "stream"}}, cut_.streams);
    cut.add({{"kind", "session"}}, cut_.sessions);
    into.add(std::move(cut));
}

}  // namespace gateway::management
