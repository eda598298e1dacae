#include "gateway/management/containment.hpp"

#include "gateway/management/json_records.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <ranges>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;
using core::json;

constexpr std::string_view by_end = "until";             // that lifts a containment
constexpr std::chrono::milliseconds look_interval{250};  // at ends and at writes, while something is contained

json names_of(const std::vector<core::principal_name>& all)
{
    auto list = json::array();
    for (const auto& each : all) {
        list.push_back({{"provider", each.provider}, {"principal", each.principal}});
    }
    return list;
}

std::int64_t milliseconds_of(core::wall_time at)
{
    return std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

// A document as it is read: what is missing or of another kind makes it none.
class document_reader {
public:
    explicit document_reader(const json& from)
        : from_{from}
    {
        good_ = from.is_object();
    }

    bool good() const noexcept { return good_; }

    std::string text(std::string_view key)
    {
        const auto* found = core::string_member(from_, key);
        good_ = good_ && found != nullptr;
        return found == nullptr ? std::string{} : *found;
    }

    core::wall_time time(std::string_view key)
    {
        return optional_time(key, /*required=*/true).value_or(core::wall_time{});
    }
    std::optional<core::wall_time> optional_time(std::string_view key, bool required = false)
    {
        constexpr std::int64_t latest = 253'402'300'799'999;  // of the year 9999
        const auto* found = core::member(from_, key);
        if (found == nullptr) {
            good_ = good_ && !required;
            return std::nullopt;
        }
        const bool fits = found->is_number_integer() && *found >= 0 && *found <= latest;
        good_ = good_ && fits;
        return core::wall_time{std::chrono::milliseconds{fits ? found->get<std::int64_t>() : 0}};
    }

    std::vector<core::principal_name> names(std::string_view key)
    {
        std::vector<core::principal_name> all;
        const auto* found = core::member(from_, key);
        good_ = good_ && found != nullptr && found->is_array();
        for (std::size_t i = 0; good_ && i < found->size(); ++i) {
            document_reader each{(*found)[i]};
            all.push_back({each.text("provider"), each.text("principal")});
            good_ = good_ && each.good();
        }
        return all;
    }

private:
    const json& from_;
    bool good_ = false;
};

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

// Of two ends the later one; none is the latest.
bool ends_later(const std::optional<core::wall_time>& one, const std::optional<core::wall_time>& other)
{
    return other && (!one || *one > *other);
}

}  // namespace

store::kept_document document_of(const contained_subject& subject, const containment_record& record)
{
    const auto& order = record.order;
    json text = subject.is_agent()
                    ? json{{"agent", subject.agent}}
                    : json{{"provider", subject.principal.provider}, {"principal", subject.principal.principal}};
    text["since"] = milliseconds_of(order.since);
    if (order.until) {
        text["until"] = milliseconds_of(*order.until);
    }
    text["reason"] = order.reason;
    text["by"] = order.by;
    text["notice"] = order.notice;
    if (subject.is_agent()) {
        text["acts_as"] = names_of(record.acts_as);
        text["registrants"] = names_of(record.registrants);
    }
    auto name = subject.is_agent() ? "agent " + subject.agent
                                   : "principal " + subject.principal.provider + ' ' + subject.principal.principal;
    return {std::string{store::containment_document}, std::move(name), {}, core::to_text(text)};
}

std::optional<std::pair<contained_subject, containment_record>> containment_in(const store::kept_document& document)
{
    const auto parsed = core::parse_json(document.text);
    if (!parsed) {
        return std::nullopt;
    }
    document_reader from{*parsed};
    contained_subject subject;
    containment_record record;
    const bool agent = core::member(*parsed, "agent") != nullptr;
    if (agent) {
        subject.agent = from.text("agent");
        record.acts_as = from.names("acts_as");
        record.registrants = from.names("registrants");
    } else {
        subject.principal = {from.text("provider"), from.text("principal")};
    }
    auto& order = record.order;
    order.since = from.time("since");
    order.until = from.optional_time("until");
    order.reason = from.text("reason");
    order.by = from.text("by");
    order.notice = from.text("notice");
    const bool whose = agent ? !subject.agent.empty() : !subject.principal.provider.empty();
    if (!from.good() || !whose || document_of(subject, record).name != document.name) {
        return std::nullopt;
    }
    return std::pair{std::move(subject), std::move(record)};
}

json shown_containment(const containment_order& order)
{
    json out{{"since", shown_time(order.since)}};
    if (order.until) {
        out["until"] = shown_time(*order.until);
    }
    out["reason"] = order.reason;
    out["by"] = order.by;
    if (!order.notice.empty()) {
        out["notice"] = order.notice;
    }
    return out;
}

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
                to_drop_[subject] = {};
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
    made.record = std::move(record);
    made.act = made.revision = act;
    made.failed = made.reported = false;
    made.next_try = {};
    to_drop_.erase(subject);
    auto published = services_.publish(now());
    if (subject.is_agent()) {
        services_.agents.set_contained(subject.agent, true);
    }
    plan();
    const auto cut = co_await std::move(published);
    cut_ += cut;
    if (const auto* const mine = of_act(subject, act)) {
        note(subject, mine->record.order, {true, mine->record.order.by, cut});
        begin_write(subject);
    }
    const bool written = co_await is_written(subject, act);
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
    all_.erase(which);
    spawn(counted(services_.publish(now())));
    if (subject.is_agent()) {
        services_.agents.set_contained(subject.agent, false);
    }
    note(subject, order, {false, by, std::nullopt});
    waiting_.wake();
    plan();
}

// Nobody waits for what it cuts.
net::task<> containment_table::counted(net::task<model::cut_counts> publishing)
{
    cut_ += co_await std::move(publishing);
}

net::task<core::result<>> containment_table::drop_in_store(contained_subject subject)
{
    const auto name = document_of(subject, {}).name;
    std::function work = [name](store::engine& engine) {
        return engine.drop_document(std::string{store::containment_document}, name);
    };
    auto asked = services_.store.ask(std::move(work));
    auto dropped = co_await std::move(asked);
    services_.store.note_write(dropped);
    co_return dropped;
}

// One write of a subject at a time: the next one begins when it has ended, if there is more to write.
void containment_table::begin_write(const contained_subject& subject)
{
    auto& of = all_.find(subject)->second;
    if (of.begun || of.releases == of.act || of.written == of.revision) {
        return;
    }
    if (heir_) {
        of.failed = true;  // as far as this process knows
        of.written = of.revision;
        heir_(document_of(subject, of.record));
        return;
    }
    of.begun = services_.now();
    spawn(write(subject));
}

net::task<> containment_table::write(contained_subject subject)
{
    const auto began = all_.find(subject);
    if (began == all_.end()) {
        co_return;
    }
    const auto act = began->second.act;
    const auto revision = began->second.revision;
    std::function work = [document = document_of(subject, began->second.record)](store::engine& engine) {
        return engine.keep_document(document);
    };
    auto asked = services_.store.ask(std::move(work));
    const auto done = co_await std::move(asked);
    services_.store.note_write(done);
    const auto found = all_.find(subject);
    if (found == all_.end()) {
        waiting_.wake();
        co_return;
    }
    auto& of = found->second;
    of.begun.reset();
    if (done) {
        of.written = revision;
        of.failed = false;
        if (std::exchange(of.reported, false)) {
            log_of(subject, core::log_level::info, "containment_persisted", core::error{});
        }
    } else {
        of.failed = of.act == act;
        of.next_try = services_.now() + retry_pause;
        report(subject, of, done.error());
    }
    if (of.act != act) {
        begin_write(subject);
    }
    waiting_.wake();
    plan();
}

// Of an ended one, which the store still has.
net::task<> containment_table::drop(contained_subject subject)
{
    auto dropping = drop_in_store(subject);
    const auto dropped = co_await std::move(dropping);
    dropping_.erase(subject);
    const auto found = to_drop_.find(subject);
    if (found == to_drop_.end()) {
        co_return;
    }
    if (dropped) {
        to_drop_.erase(found);
    } else {
        found->second = services_.now() + retry_pause;
    }
}

// Whether the store has it, within `patience`.
net::task<bool> containment_table::is_written(contained_subject subject, std::uint64_t act)
{
    const auto latest = services_.now() + patience;
    for (;;) {
        const auto* const mine = of_act(subject, act);
        if (mine == nullptr) {
            co_return false;
        }
        if (mine->written == mine->revision) {
            co_return !mine->failed;
        }
        if (mine->failed || stopped_ || services_.now() >= latest) {
            co_return false;
        }
        auto woken = waiting_.wait();
        co_await std::move(woken);
    }
}

void containment_table::report(const contained_subject& subject, entry& of, const core::error& why)
{
    if (!std::exchange(of.reported, true)) {
        log_of(subject, core::log_level::error, "containment_persist_failed", why);
    }
}

void containment_table::log_of(
    const contained_subject& subject,
    core::log_level level,
    std::string_view event,
    const core::error& why
) const
{
    services_.log.write(
        level,
        event,
        {{"agent", subject.agent},
         {"provider", subject.principal.provider},
         {"principal", subject.principal.principal},
         {"code", why.detail.empty() ? std::string_view{} : core::name(why.code)},
         {"detail", why.detail}}
    );
}

// For the log, and for those who answer for the gateway.
void containment_table::note(const contained_subject& subject, const containment_order& order, const change& what) const
{
    const auto until = order.until ? shown_time(*order.until) : std::string{};
    services_.log.write(
        what.contains ? core::log_level::warn : core::log_level::info,
        "containment_changed",
        {{"agent", subject.agent},
         {"provider", subject.principal.provider},
         {"principal", subject.principal.principal},
         {"state", what.contains ? "contained" : "released"},
         {"by", what.by},
         {"reason", order.reason},
         {"until", until}}
    );
    if (const auto* const audit = services_.agents.audit()) {
        audit->containment_changed(
            {.contains = what.contains,
             .agent = subject.agent,
             .provider = subject.principal.provider,
             .principal = subject.principal.principal,
             .by = what.by,
             .reason = order.reason,
             .until = until,
             .cut = what.cut}
        );
    }
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

void containment_table::on_due()
{
    const auto wall = services_.clock();
    const auto at = services_.now();
    std::vector<contained_subject> ended;
    for (auto& [subject, of] : all_) {
        if (of.record.order.until && *of.record.order.until <= wall) {
            ended.push_back(subject);
            continue;
        }
        if (of.begun && at - *of.begun >= patience) {
            report(subject, of, core::gateway_error(errc::store_failed, "the store has not answered for 1 s"));
        }
        if (!stopped_ && at >= of.next_try) {
            begin_write(subject);
        }
    }
    for (const auto& subject : ended) {
        to_drop_[subject] = {};
        lift(all_.find(subject), by_end);
    }
    for (const auto& [subject, when] : to_drop_) {
        if (!stopped_ && at >= when && dropping_.insert(subject).second) {
            spawn(drop(subject));
        }
    }
    waiting_.wake();
    plan();
}

// The next look: there is one for as long as something is contained, or is to be written.
void containment_table::plan()
{
    const bool idle = all_.empty() && to_drop_.empty() && waiting_.size() == 0;
    set_due(idle ? net::never : std::chrono::steady_clock::now() + look_interval);
}

void containment_table::spawn(net::task<> work)
{
    ++under_way_;
    net::asio::co_spawn(services_.where, std::move(work), [this](const std::exception_ptr& bug) {
        --under_way_;
        net::log_thrown(bug, services_.log, "containment");
    });
}

std::vector<store::kept_document> containment_table::unwritten() const
{
    std::vector<store::kept_document> out;
    for (const auto& [subject, each] : all_) {
        if (each.written != each.revision) {
            out.push_back(document_of(subject, each.record));
        }
    }
    return out;
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

void containment_table::learn(const store::kept_document& document)
{
    auto read = containment_in(document);
    if (!read || stopped_) {
        return;
    }
    auto& [subject, record] = *read;
    const auto act = ++acts_;
    auto& made = all_[subject];
    made.record = std::move(record);
    made.act = made.revision = act;
    to_drop_.erase(subject);
    spawn(counted(services_.publish(now())));
    if (subject.is_agent()) {
        services_.agents.set_contained(subject.agent, true);
    }
    plan();
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
