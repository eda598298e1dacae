// The writes of a table of containments, their repetition, and the ends that come with time.
#include "gateway/management/containment.hpp"
#include "gateway/management/json_records.hpp"
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

constexpr std::string_view by_end = "until";             // that lifts a containment
constexpr std::chrono::milliseconds look_interval{250};  // at ends and at writes, while something is contained

}  // namespace

net::task<core::result<>> containment_table::drop_in_store(contained_subject subject)
{
    const auto name = document_of(subject, {}).name;
    std::function work = [name](store::engine& engine) {
        return engine.drop_document(std::string{store::containment_document}, name);
    };
    co_return co_await services_.store.write(std::move(work));
}

// One write of a subject at a time: the next one begins when it has ended, if there is more to write.
void containment_table::begin_write(const contained_subject& subject)
{
    auto& of = all_.find(subject)->second;
    if (of.begun || of.releases == of.act || of.written == of.revision) {
        return;
    }
    if (predecessor_) {
        predecessor_(document_of(subject, of.record));
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
    auto asked = services_.store.write(std::move(work));
    const auto done = co_await std::move(asked);
    const auto found = all_.find(subject);
    if (found == all_.end()) {
        waiting_.wake();
        co_return;
    }
    auto& of = found->second;
    of.begun.reset();
    touch(subject);
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
    if (of.act != act || heir_) {
        begin_write(subject);
    }
    waiting_.wake();
    plan();
}

// Removes the document of a containment that has ended.
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

// Whether the store has it by then.
net::task<bool> containment_table::is_written(contained_subject subject, std::uint64_t act, core::steady_time latest)
{
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

void containment_table::log_change(const contained_subject& subject, const containment_order& order, const change& what)
    const
{
    services_.log.write(
        what.contains ? core::log_level::warn : core::log_level::info,
        "containment_changed",
        {{"agent", subject.agent},
         {"provider", subject.principal.provider},
         {"principal", subject.principal.principal},
         {"state", what.contains ? "contained" : "released"},
         {"by", what.by},
         {"reason", order.reason},
         {"until", order.until ? shown_time(*order.until) : std::string{}}}
    );
}

void containment_table::audit(const contained_subject& subject, const containment_order& order, const change& what)
    const
{
    if (const auto* const audit = services_.agents.audit()) {
        audit->containment_changed(
            {.contains = what.contains,
             .agent = subject.agent,
             .provider = subject.principal.provider,
             .principal = subject.principal.principal,
             .by = what.by,
             .reason = order.reason,
             .until = order.until ? shown_time(*order.until) : std::string{},
             .cut = what.cut}
        );
    }
}

// Each act has one line: with what it has cut, or at the latest before that of the next act, without that.
void containment_table::audit_contained(
    const contained_subject& subject,
    entry& of,
    std::optional<model::cut_counts> cut
) const
{
    if (!std::exchange(of.audited, true)) {
        audit(subject, of.record.order, {true, of.record.order.by, cut});
    }
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
        // One that replicas share may be contained again by now: there it stays until it is, and counts for nothing.
        if (!services_.store.shared()) {
            to_drop_[subject] = {};
        }
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

// The next look: there is one for as long as something has an end, is to be written or is to be dropped.
void containment_table::plan()
{
    const bool comes = !to_drop_.empty() || std::ranges::any_of(std::views::values(all_), [](const auto& each) {
        return each.record.order.until || each.written != each.revision;
    });
    set_due(comes ? services_.now() + look_interval : net::never);
}

void containment_table::spawn(net::task<> work)
{
    ++under_way_;
    net::asio::co_spawn(services_.where, std::move(work), [this](const std::exception_ptr& bug) {
        --under_way_;
        net::log_thrown(bug, services_.log, "containment");
    });
}

// A write that is not under way yet is the last one.
void containment_table::stop()
{
    stopped_ = true;
    for (const auto& each : all_) {
        begin_write(each.first);
    }
}

void containment_table::set_heir(std::function<void(const store::kept_document& document)> heir)
{
    heir_ = std::move(heir);
    for (const auto& each : all_) {
        begin_write(each.first);
    }
}

void containment_table::set_predecessor(std::function<void(const store::kept_document& document)> predecessor)
{
    predecessor_ = std::move(predecessor);
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

void containment_table::touch(const contained_subject& subject)
{
    if (services_.store.shared()) {
        touched_[subject] = services_.now();
    }
}

// False: nothing has changed.
bool containment_table::take_kept(const contained_subject& subject, std::optional<containment_record> kept)
{
    const auto known = all_.find(subject);
    if (known != all_.end() && !known->second.is_written()) {
        return false;  // what is still to be written here comes after it
    }
    if (!kept) {
        if (known == all_.end()) {
            return false;
        }
        audit_contained(subject, known->second, std::nullopt);
        all_.erase(known);
        return true;
    }
    to_drop_.erase(subject);
    if (known != all_.end() && document_of(subject, known->second.record).text == document_of(subject, *kept).text) {
        return false;
    }
    auto& made = all_[subject];
    audit_contained(subject, made, std::nullopt);
    made.record = std::move(*kept);
    made.act = made.revision = made.written = ++acts_;
    made.failed = made.reported = false;
    return true;
}

bool containment_table::learn_kept(
    const std::vector<store::document_change>& documents,
    store::feed_reload why,
    core::steady_time began
)
{
    std::erase_if(touched_, [&](const auto& each) { return each.second < began; });
    std::map<contained_subject, std::optional<containment_record>> kept;
    std::set<contained_subject> stays;
    const auto wall = services_.clock();
    for (const auto& each : documents) {
        const auto subject = subject_named(each.name);
        auto read = each.now ? containment_in(*each.now) : std::nullopt;
        if (each.now && !read) {
            log_of(subject, core::log_level::error, "containment_unusable", core::error{});
            stays.insert(subject);
            continue;
        }
        // Nobody takes away what has ended (on_due()).
        if (read && read->second.order.until && *read->second.order.until <= wall && !all_.contains(subject)) {
            continue;
        }
        kept[subject] = read ? std::optional{std::move(read->second)} : std::nullopt;
    }
    for (auto& [subject, of] : all_) {
        if (why == store::feed_reload::none || stays.contains(subject) || kept.contains(subject)) {
            continue;
        }
        if (why == store::feed_reload::trimmed) {
            kept.try_emplace(subject, std::nullopt);
        } else if (of.is_written() && !of.begun) {
            of.written = 0;
            log_of(subject, core::log_level::warn, "containment_restored", core::error{});
        }
    }
    plan();
    bool taken = true;
    std::vector<contained_subject> changed;
    for (auto& [subject, record] : kept) {
        if (touched_.contains(subject)) {
            taken = false;
        } else if (take_kept(subject, std::move(record))) {
            changed.push_back(subject);
        }
    }
    if (changed.empty()) {
        return taken;
    }
    spawn(counted(services_.publish(now())));
    for (const auto& subject : changed) {
        if (subject.is_agent()) {
            services_.agents.set_contained(subject.agent, all_.contains(subject));
        }
    }
    waiting_.wake();
    plan();
    return taken;
}

void containment_table::learn(const store::kept_document& document)
{
    auto read = containment_in(document);
    if (!read || stopped_) {
        return;
    }
    auto& [subject, record] = *read;
    if (const auto known = all_.find(subject); known != all_.end() && known->second.record == record) {
        return;
    }
    const auto act = ++acts_;
    auto& made = all_[subject];
    audit_contained(subject, made, std::nullopt);
    made.record = std::move(record);
    made.act = made.revision = act;
    made.written = heir_ ? act : made.written;
    to_drop_.erase(subject);
    spawn(counted(services_.publish(now())));
    if (subject.is_agent()) {
        services_.agents.set_contained(subject.agent, true);
    }
    plan();
}

}  // namespace gateway::management
