#include "gateway/management/pin_book.hpp"

#include "config/file.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;

constexpr std::size_t most_told = 20;  // members of one event

// Cards that operators write are their own; so are agents without any.
bool has_own_card(const core::agent& record)
{
    return record.speaks == core::protocol::a2a && record.card.empty();
}

// The agents of which two lock files say different things.
std::vector<std::string> changed_agents(const ::mcp::lock_file& was, const ::mcp::lock_file& is)
{
    std::vector<std::string> all;
    for (const auto& [id, each] : was) {
        const auto found = is.find(id);
        if (found == is.end() || found->second != each) {
            all.push_back(id);
        }
    }
    for (const auto& [id, each] : is) {
        if (!was.contains(id)) {
            all.push_back(id);
        }
    }
    return all;
}

std::string joined(const std::vector<std::string>& all)
{
    std::string text;
    for (const auto& each : all) {
        text.append(text.empty() ? "" : ", ").append(each);
    }
    return text;
}

}  // namespace

pin_book::pin_book(net::deadlines& by, pin_services services)
    : services_{std::move(services)}
{
    by.add(*this);
}

core::result<> pin_book::load(store::engine& records)
{
    auto lock = lock_in(services_.settings.pins.file);
    if (!lock) {
        return std::move(lock).error();
    }
    lock_ = std::move(*lock);
    desk_->set_lock(lock_);
    const auto kept = records.documents(std::string{store::pins_document});
    if (!kept) {
        return core::gateway_error(kept.error().code, "store: " + kept.error().detail);
    }
    for (const auto& each : *kept) {
        if (const auto read = desk_->load(each.name, each.text); !read) {
            services_.log.write(
                core::log_level::error,
                "pins_unusable",
                {{"agent", each.name}, {"detail", read.error().detail}}
            );
        }
        agents_[each.name] = std::make_shared<known_agent>();
    }
    return {};
}

core::result<std::shared_ptr<const ::mcp::lock_file>> pin_book::lock_in(const std::string& path) const
{
    using pointer = std::shared_ptr<const ::mcp::lock_file>;
    if (path.empty()) {
        return pointer{};
    }
    const auto text = config::read_file(path);
    if (!text) {
        return text.error();
    }
    auto read = ::mcp::read_lock_file(*text);
    if (!read) {
        return core::gateway_error(errc::config_invalid, path + ": " + read.error().detail);
    }
    return pointer{std::make_shared<const ::mcp::lock_file>(std::move(*read))};
}

core::pin_mode pin_book::mode_of(const core::agent& record) const
{
    return core::pin_of(record, services_.settings.defaults.pin);
}

bool pin_book::compares(const core::agent& record) const
{
    return mode_of(record) != core::pin_mode::off && (record.mcp || has_own_card(record));
}

::mcp::pin_terms pin_book::terms_of(const core::agent& record) const
{
    ::mcp::pin_terms terms;
    terms.mode = mode_of(record);
    terms.except = record.pin.except;
    terms.server = record.mcp.has_value();
    terms.registered = record.registered;
    terms.now = services_.clock();
    if (const auto found = agents_.find(record.id); found != agents_.end() && record.registered) {
        terms.source = found->second->source;
    }
    return terms;
}

pin_book::known_pointer pin_book::known(const std::string& id)
{
    auto& found = agents_[id];
    if (found == nullptr) {
        found = std::make_shared<known_agent>();
    }
    return found;
}

entry_pins pin_book::pins_of(const core::agent& record)
{
    if (mode_of(record) != core::pin_mode::enforce || (!record.mcp && !has_own_card(record))) {
        return {};
    }
    const auto of = known(record.id);
    const auto source = record.registered ? record.url + '\n' + record.card_url : of->source;
    const bool moved = std::exchange(of->source, source) != source;
    const auto terms = terms_of(record);
    if (!begun_) {
        static_cast<void>(desk_->apply_lock(record.id, terms));
        of->view = desk_->view(record.id, terms);
    } else if (moved) {
        of->view = {};  // until the desk has looked
        spawn(renew(record.id, terms));
    }
    if (record.mcp && (of->view.pins == nullptr || of->view.pins->except() != record.pin.except)) {
        auto approved = of->view.pins == nullptr ? ::mcp::approved_server{} : of->view.pins->approved();
        of->view.pins = std::make_shared<const ::mcp::pinned_server>(std::move(approved), record.pin.except);
    }
    const bool asks = record.registered || (!record.mcp && is_locked());
    return {record.mcp ? of->view.pins : nullptr, asks && of->view.waits};
}

net::task<> pin_book::renew(std::string id, ::mcp::pin_terms terms)
{
    const auto of = known(id);
    std::function work = [desk = desk_, id, terms = std::move(terms)] { return desk->apply_lock(id, terms); };
    auto outcome = co_await thread_.ask(std::move(work));
    if (services_.store.shared()) {
        outcome.outcome.text.reset();  // the first replica that sees the agent writes it
    }
    take(id, of, std::move(outcome.outcome));
}

net::task<model::card_verdict>
pin_book::judge_card(std::shared_ptr<const model::agent_entry> agent, std::string text, std::string place)
{
    const auto& record = agent->record;
    if (!compares(record)) {
        co_return model::card_verdict{};
    }
    const auto id = record.id;
    const auto of = known(id);
    auto terms = terms_of(record);
    terms.place = std::move(place);
    begun_ = true;
    std::function work = [desk = desk_, id, text = std::move(text), terms, most = services_.settings.cards.max_size] {
        return desk->take_card(id, text, most, terms);
    };
    auto judged = co_await thread_.ask(std::move(work));
    take(id, of, std::move(judged.outcome));
    co_return std::move(judged.verdict);
}

net::task<std::shared_ptr<const ::mcp::server_lists>>
pin_book::judge_lists(std::shared_ptr<const model::agent_entry> agent, std::shared_ptr<const ::mcp::server_lists> seen)
{
    const auto& record = agent->record;
    if (!compares(record)) {
        co_return seen;
    }
    const auto id = record.id;
    const auto of = known(id);
    begun_ = true;
    std::function work = [desk = desk_, id, seen, terms = terms_of(record)] {
        return desk->take_lists(id, seen, terms);
    };
    auto judged = co_await thread_.ask(std::move(work));
    take(id, of, std::move(judged.outcome));
    co_return std::move(judged.lists);
}

void pin_book::note_tools(std::string id, std::vector<::mcp::listed_item> tools)
{
    const auto* const agent = services_.agents.find(id);
    if (!stopped_ && agent != nullptr && agent->entry->pins != nullptr &&
        static_cast<std::size_t>(reports_.use_count()) <= most_reports) {
        spawn(take_tools(std::move(id), std::move(tools), reports_));
    }
}

// `under_way` goes with the frame. The agent may be gone since it was begun.
net::task<> pin_book::take_tools(
    std::string id,
    std::vector<::mcp::listed_item> tools,
    std::shared_ptr<const int> /*under_way*/
)
{
    const auto* const agent = services_.agents.find(id);
    const auto found = agents_.find(id);
    if (agent == nullptr || found == agents_.end()) {
        co_return;
    }
    const auto of = found->second;
    auto terms = terms_of(agent->entry->record);
    begun_ = true;
    std::function work = [desk = desk_, id, tools = std::move(tools), terms = std::move(terms)] {
        return desk->take_tools(id, tools, terms);
    };
    auto outcome = co_await thread_.ask(std::move(work));
    take(id, of, std::move(outcome));
}

// False: the agent is gone meanwhile, and there may be another one of its name.
bool pin_book::take(const std::string& id, const known_pointer& of, pin_outcome outcome)
{
    const auto found = agents_.find(id);
    if (found == agents_.end() || found->second != of || services_.agents.find(id) == nullptr) {
        return false;
    }
    if (outcome.view.source != of->source && !of->source.empty()) {
        return false;  // of its addresses before; what is approved of these comes
    }
    of->view = std::move(outcome.view);
    if (outcome.text) {
        put(id, std::make_shared<const std::string>(std::move(*outcome.text)));
        begin_write();
    }
    if (!outcome.changes.empty()) {
        std::ranges::move(outcome.changes, std::back_inserter(of->unreported));
        if (services_.now() - of->reported >= event_interval) {
            report(id, *of);
        } else {
            set_due(std::min(due(), of->reported + event_interval));
        }
    }
    services_.agents.renew_pins(id);
    return true;
}

void pin_book::report(const std::string& id, known_agent& of)
{
    const auto* const agent = services_.agents.find(id);
    const auto secrets =
        agent == nullptr ? core::redaction{} : model::secrets_of(agent->entry->record, {agent->entry->token.reveal()});
    std::vector<std::string> members;
    std::uint64_t held = 0;
    for (const auto& each : of.unreported) {
        held += each.held ? 1 : 0;
        for (std::size_t i = 0; i < each.members.size() && members.size() < most_told; ++i) {
            members.push_back(model::shown_words(secrets, each.members[i]));
        }
    }
    const auto& last = of.unreported.back();
    services_.log.write(
        core::log_level::warn,
        "pin_changed",
        {{"agent", id},
         {"changes", of.unreported.size()},
         {"held", held},
         {"members", joined(members)},
         {"before_sha256", last.before},
         {"after_sha256", last.now.sha256}}
    );
    if (audit_ != nullptr) {
        audit_->pin_changed({id, members, last.before, last.now.sha256, held});
    }
    of.unreported.clear();
    of.reported = services_.now();
}

net::task<std::string>
pin_book::shown(std::string id, bool with_diff, std::function<std::string(core::json pins)> write)
{
    begun_ = true;
    std::function work = [desk = desk_, id = std::move(id), with_diff, write = std::move(write)] {
        return write(desk->shown(id, with_diff));
    };
    return thread_.ask(std::move(work));
}

net::task<core::result<pin_book::approval>>
pin_book::approve(std::string id, std::vector<::mcp::pin_key> items, std::string by)
{
    if (is_locked()) {
        co_return core::caller_error(errc::agent_read_only, "the lock file approves");
    }
    const auto* const agent = services_.agents.find(id);
    if (agent == nullptr) {
        co_return core::caller_error(errc::agent_not_found);
    }
    const auto of = known(id);
    begun_ = true;
    std::function work = [desk = desk_, id, items, terms = terms_of(agent->entry->record)] {
        return desk->approve(id, items, terms);
    };
    auto done = co_await thread_.ask(std::move(work));
    if (!done) {
        co_return std::move(done).error();
    }
    if (auto text = std::exchange(done->text, std::nullopt); !take(id, of, std::move(*done))) {
        co_return core::caller_error(errc::agent_not_found);
    } else if (text) {
        put(id, std::make_shared<const std::string>(std::move(*text)));
    }
    std::vector<std::string> names;
    bool card = false;
    for (const auto& each : items) {
        card = card || each.kind == ::mcp::pin_kind::card;
        names.push_back(
            std::string{::mcp::name(each.kind)} + (each.name.empty() ? "" : ' ' + each.name) + ' ' + each.sha256
        );
    }
    services_.log.write(core::log_level::info, "pin_approved", {{"agent", id}, {"by", by}, {"items", joined(names)}});
    if (audit_ != nullptr) {
        audit_->pin_approved(id, by, names);
    }
    if (card) {
        services_.card_changed(id);
    }
    approval out{held_of(id), true};
    if (unwritten_.contains(id)) {
        const auto kept = co_await write_latest(id);
        out.durable = kept.has_value();
    }
    out.durable = out.durable && services_.store.durable();
    co_return out;
}

std::size_t pin_book::held_of(const std::string& id) const
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return 0;
    }
    std::size_t sum = 0;
    for (const auto each : found->second->view.held) {
        sum += each;
    }
    return sum;
}

// Documents of agents that are not there any more go.
void pin_book::set_agents(const std::shared_ptr<const model::snapshot>& /*now*/)
{
    std::vector<std::string> gone;
    for (const auto& [id, each] : agents_) {
        if (services_.agents.find(id) == nullptr) {
            gone.push_back(id);
        }
    }
    std::ranges::for_each(gone, [this](const auto& id) { forget(id); });
}

void pin_book::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    if (agent == nullptr && services_.agents.find(id) == nullptr) {
        forget(id);
    } else if (agent != nullptr && agent->pins != nullptr && !agent->pins->seen()) {
        spawn(look(id));
    }
}

// An agent that nothing was enforced of may have been seen all the same.
net::task<> pin_book::look(std::string id)
{
    const auto* const agent = services_.agents.find(id);
    const auto found = agents_.find(id);
    if (agent == nullptr || found == agents_.end()) {
        co_return;
    }
    const auto of = found->second;
    begun_ = true;
    std::function work = [desk = desk_, id, terms = terms_of(agent->entry->record)] { return desk->view(id, terms); };
    auto view = co_await thread_.ask(std::move(work));
    take(id, of, pin_outcome{std::move(view)});
}

void pin_book::forget(const std::string& id)
{
    agents_.erase(id);
    begun_ = true;
    thread_.post([desk = desk_, id] { desk->forget(id); });
    if (services_.store.shared()) {
        unwritten_.erase(id);  // the store forgets it with the agent, which another replica may have made again
        return;
    }
    put(id, nullptr);
    begin_write();
}

void pin_book::apply(const config::settings& /*now*/, const model::changed_settings& /*changed*/)
{
    if (!services_.settings.pins.file.empty() || lock_ != nullptr) {
        spawn(read_lock());
    }
}

// The reload has checked the file; one that was damaged since then leaves what counts.
net::task<> pin_book::read_lock()
{
    begun_ = true;
    std::function read = [this, path = services_.settings.pins.file] { return lock_in(path); };
    auto next = co_await thread_.ask(std::move(read));
    if (!next) {
        services_.log.write(core::log_level::error, "pins_file_unusable", {{"detail", next.error().detail}});
        co_return;
    }
    const auto was = lock_;
    const auto is = *next;
    lock_ = is;
    std::function compare = [desk = desk_, was, is] {
        desk->set_lock(is);
        return was == nullptr || is == nullptr ? std::vector<std::string>{} : changed_agents(*was, *is);
    };
    auto ids = co_await thread_.ask(std::move(compare));
    if ((was == nullptr) != (is == nullptr)) {
        std::ranges::copy(services_.agents.all() | std::views::keys, std::back_inserter(ids));
    }
    if (ids.empty()) {
        co_return;
    }
    for (const auto& id : ids) {
        const auto* const agent = services_.agents.find(id);
        if (agent == nullptr || !compares(agent->entry->record)) {
            continue;
        }
        const auto of = known(id);
        std::function work = [desk = desk_, id, terms = terms_of(agent->entry->record)] {
            return desk->apply_lock(id, terms);
        };
        const bool has_card = has_own_card(agent->entry->record);
        auto applied = co_await thread_.ask(std::move(work));
        take(id, of, std::move(applied.outcome));
        if (has_card && applied.card) {
            services_.card_changed(id);
        }
    }
    services_.log.write(core::log_level::info, "pins_file_applied", {{"agents", lock_ == nullptr ? 0 : lock_->size()}});
}

void pin_book::on_due()
{
    const auto now = services_.now();
    for (const auto& [id, each] : agents_) {
        if (each->unreported.empty()) {
            continue;
        }
        if (now - each->reported >= event_interval) {
            report(id, *each);
        } else {
            set_due(std::min(due(), each->reported + event_interval));
        }
    }
    begin_write();
}

void pin_book::collect(telemetry::metrics& into) const
{
    into.add_agents(telemetry::metric("cardea_pins_held"), [this](telemetry::family& series, const std::string& id) {
        const auto found = agents_.find(id);
        const auto* const agent = services_.agents.find(id);
        if (found == agents_.end() || agent == nullptr || mode_of(agent->entry->record) != core::pin_mode::enforce) {
            return;
        }
        for (std::size_t i = 0; i < found->second->view.held.size(); ++i) {
            const auto kind = static_cast<::mcp::pin_kind>(i);
            if ((kind == ::mcp::pin_kind::card) != agent->entry->record.mcp.has_value()) {
                series.add({{"agent", id}, {"kind", ::mcp::name(kind)}}, std::uint64_t{found->second->view.held[i]});
            }
        }
    });
}

void pin_book::spawn(net::task<> work)
{
    ++under_way_;
    net::asio::co_spawn(services_.where, std::move(work), [this](const std::exception_ptr& bug) {
        --under_way_;
        net::log_thrown(bug, services_.log, "pins");
    });
}

}  // namespace gateway::management
