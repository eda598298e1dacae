#include "gateway/cards/card_plane.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/telemetry/metric_family.hpp"

#include <iterator>
#include <utility>

namespace gateway::cards {
namespace {

using telemetry::family;
using telemetry::metric;

void add_fetches(family& into, const std::string& id, const card_status& card)
{
    into.add_some({{"agent", id}, {"outcome", "ok"}}, card.fetched - card.not_modified);
    into.add_some({{"agent", id}, {"outcome", "not_modified"}}, card.not_modified);
    for (const auto& [reason, n] : card.failures) {
        into.add_some({{"agent", id}, {"outcome", core::name(reason)}}, n);
    }
}

void add_age(family& into, const std::string& id, const card_status& card)
{
    if (card.card) {
        const auto age = seen_at(card, std::chrono::steady_clock::now()) - card.card->fetched_at;
        into.add({{"agent", id}}, telemetry::seconds(std::chrono::duration_cast<core::duration>(age)));
    }
}

void add_changes(family& into, const std::string& id, const card_status& card)
{
    into.add_some({{"agent", id}}, card.changes);
}

void add_problems(family& into, const std::string& id, const card_status& card)
{
    using enum ::a2a::problem_severity;
    for (const auto severity : {error, warning, note}) {
        const auto has = [severity](const ::a2a::card_problem& each) { return each.severity == severity; };
        const auto count =
            std::ranges::count_if(card.problems, has) + (card.address_problem && has(*card.address_problem) ? 1 : 0);
        into.add({{"agent", id}, {"severity", ::a2a::name(severity)}}, static_cast<std::uint64_t>(count));
    }
}

void add_hidden_tools(family& into, const std::string& id, const card_status& card)
{
    if (card.hidden) {
        into.add({{"agent", id}}, card.hidden->count);
    }
}

}  // namespace

using core::errc;

card_plane::card_plane(
    net::loop& control,
    card_source& source,
    card_maker& maker,
    const config::card_settings& settings,
    const core::logger& log,
    clock now
)
    : source_{source},
      maker_{maker},
      publisher_{control, settings, log, std::move(now)},
      fetched_{source, maker, publisher_},
      written_{maker, publisher_},
      sessions_{maker, publisher_},
      previewer_{source, maker}
{
    control.timers().add(*this);
}

void card_plane::stop() noexcept
{
    stopped_ = true;
    fetched_.stop();
    written_.stop();
    sessions_.stop();
    source_.stop();
}

void card_plane::set_agents(const std::shared_ptr<const model::snapshot>& now)
{
    publisher_.set_public_base(now->public_base);
    for (auto each = entries_.begin(); each != entries_.end();) {
        const auto found = now->agents.find(each->first);
        const auto next = std::next(each);
        if (found == now->agents.end() || found->second->record != each->second->agent->record) {
            drop(each);
        }
        each = next;
    }
    for (const auto& [id, agent] : now->agents) {
        if (!entries_.contains(id)) {
            add(id, agent, /*recall=*/true);
        }
    }
}

void card_plane::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = entries_.find(id);
    if (found != entries_.end()) {
        auto& known = found->second->agent;
        if (agent != nullptr && agent->record == known->record) {
            known = agent;  // its token may be another one
            return;
        }
        if (agent != nullptr && model::same_session(known->record, agent->record)) {
            const bool shows_less = known->record.skills != agent->record.skills;
            known = agent;
            if (shows_less) {
                sessions_.withhold(*found->second);
            }
            return;
        }
        drop(found);
    }
    if (agent != nullptr) {
        add(id, agent, /*recall=*/false);
    }
}

void card_plane::add(const std::string& id, std::shared_ptr<const model::agent_entry> agent, bool recall)
{
    const auto entry = std::make_shared<card_entry>(std::move(agent));
    entries_.emplace(id, entry);
    if (entry->is_written()) {
        written_.add(entry);
    } else if (entry->is_fetched()) {
        fetched_.add(*entry, recall);
    }
}

void card_plane::drop(card_shelf::iterator place)
{
    place->second->gone = true;
    publisher_.withdraw(place->first);
    fetched_.remove(place->first);
    entries_.erase(place);
}

entry_pointer card_plane::entry_of(const std::string& id) const
{
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : found->second;
}

void card_plane::make_again(choice chosen, threads::turns& by)
{
    publisher_.start(choose_again(std::move(chosen), by, walks_), "cards_again");
}

// `under_way` goes with the frame.
net::task<> card_plane::choose_again(choice chosen, threads::turns& by, std::shared_ptr<const int> /*under_way*/)
{
    co_await by.wait();
    auto buckets = entries_.bucket_count();
    for (std::size_t at = 0; at < entries_.bucket_count() && !stopped_; ++at) {
        if (by.over()) {
            co_await by.wait();
            // With more of them the agents stand elsewhere: to make a card twice does no harm.
            at = std::exchange(buckets, entries_.bucket_count()) == buckets ? at : 0;
        }
        for (auto each = entries_.begin(at); each != entries_.end(at); ++each) {
            if (chosen(each->second->agent->record)) {
                make_again(each->second);
            }
        }
    }
}

void card_plane::make_again(const std::string& id)
{
    if (const auto entry = entry_of(id); entry != nullptr && !stopped_) {
        make_again(entry);
    }
}

void card_plane::make_again(const entry_pointer& entry)
{
    if (entry->is_written()) {
        written_.make_again(entry);
    } else if (entry->is_fetched()) {
        fetched_.make_again(*entry);
    }
}

net::task<> card_plane::settled(std::string id)
{
    const auto entry = entry_of(id);
    if (entry != nullptr && entry->is_written()) {
        co_await written_.settled(entry);
    }
}

net::task<model::card_answer> card_plane::obtain(std::string id)
{
    while (const auto entry = entry_of(id)) {
        auto answer = co_await obtain_of(entry);
        if (!entry->gone) {
            co_return answer;
        }
        // The agent has changed meanwhile, or has been removed.
    }
    co_return model::card_answer{nullptr, model::card_use::miss, core::caller_error(errc::agent_not_found)};
}

net::task<model::card_answer> card_plane::obtain_of(entry_pointer entry)
{
    if (entry->is_written()) {
        return written_.obtain(std::move(entry));
    }
    return entry->is_fetched() ? fetched_.obtain(std::move(entry)) : sessions_.obtain(std::move(entry));
}

void card_plane::refresh_stale(const std::string& id)
{
    if (const auto entry = entry_of(id); entry != nullptr && entry->is_fetched()) {
        fetched_.refresh_stale(entry);
    }
}

void card_plane::learn(store::kept_card card)
{
    if (const auto entry = entry_of(card.agent); entry != nullptr && entry->is_fetched() && !stopped_) {
        fetched_.learn(entry, std::move(card));
    }
}

net::task<core::result<card_status>> card_plane::refresh(std::string id)
{
    while (const auto entry = entry_of(id)) {
        const auto refreshed = co_await refresh_of(entry);
        if (entry->gone) {
            continue;
        }
        if (!refreshed) {
            co_return refreshed.error();
        }
        co_return entry->status;
    }
    co_return core::caller_error(errc::agent_not_found);
}

net::task<core::result<>> card_plane::refresh_of(entry_pointer entry)
{
    if (entry->is_fetched()) {
        co_return co_await fetched_.refresh(std::move(entry));
    }
    if (entry->is_written()) {
        co_await written_.refresh(std::move(entry));
    } else if (auto known = sessions_.answer(*entry); known.failure) {
        co_return std::move(*known.failure);
    }
    co_return core::result<>{};
}

net::task<core::result<std::string>> card_plane::explain(std::string id, std::string a2a_version, std::stop_token left)
{
    auto entry = entry_of(id);
    if (entry == nullptr) {
        co_return core::caller_error(errc::agent_not_found);
    }
    auto& status = entry->status;
    if (!status.card && !status.failure) {
        auto looked = co_await refresh_of(entry);
        if (!looked) {
            co_return std::move(looked).error();
        }
    }
    if (entry->gone) {
        co_return core::caller_error(errc::agent_not_found);
    }
    if (!status.card) {
        co_return status.failure.value_or(core::upstream_error(errc::session_not_started));
    }
    const auto bytes = status.card->bytes;
    const auto& served = model::for_version(*bytes, a2a_version);
    if (served.refused) {
        co_return *served.refused;
    }
    shown_card shown{{}, status.found_at, entry->agent->token, {bytes, &served}, std::move(left)};
    if (entry->is_written()) {
        shown.text = entry->agent->record.card;
    } else if (entry->is_fetched()) {
        shown.text = co_await fetched_.document(entry);
    }
    co_return co_await maker_.explain(entry->record(), std::move(shown));
}

net::task<core::result<std::vector<store::card_version>>> card_plane::versions(std::string id)
{
    if (history_ == nullptr) {
        co_return std::vector<store::card_version>{};
    }
    co_return co_await history_->versions(std::move(id));
}

net::task<core::result<card_preview>> card_plane::preview(std::string id)
{
    auto entry = entry_of(id);
    if (entry == nullptr) {
        co_return core::caller_error(errc::agent_not_found);
    }
    co_return co_await previewer_.preview(std::move(entry));
}

net::task<core::result<card_preview>>
card_plane::preview_session_card(std::string id, std::shared_ptr<const ::mcp::server_lists> lists)
{
    auto entry = entry_of(id);
    if (entry == nullptr) {
        co_return core::caller_error(errc::agent_not_found);
    }
    co_return co_await previewer_.preview_lists(std::move(entry), std::move(lists));
}

void card_plane::set_session_card(
    const std::string& id,
    std::shared_ptr<const ::mcp::server_lists> lists,
    card_told done
)
{
    if (const auto entry = entry_of(id); entry != nullptr && !entry->is_written()) {
        sessions_.set_lists(entry, std::move(lists), std::move(done));
    } else {
        done(false);
    }
}

void card_plane::set_session_trouble(const std::string& id, std::optional<core::error> why)
{
    if (const auto entry = entry_of(id); entry != nullptr && !entry->is_written()) {
        sessions_.set_trouble(*entry, std::move(why));
    }
}

bool card_plane::may_be_fetched(const std::string& id)
{
    const auto entry = entry_of(id);
    if (entry == nullptr) {
        return true;
    }
    const auto now = publisher_.now();
    const auto last = entry->asked_at;
    const bool may = !last || now - *last >= publisher_.settings().min_ttl;
    if (may) {
        entry->asked_at = now;
    }
    return may;
}

const card_status* card_plane::status(const std::string& id) const
{
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second->status;
}

void card_plane::collect(telemetry::metrics& into) const
{
    const auto add = [&](const telemetry::metric_row& row,
                         void (*of)(family&, const std::string&, const card_status&)) {
        into.add_agents(row, [this, of](family& series, const std::string& id) {
            if (const auto* known = status(id)) {
                of(series, id, *known);
            }
        });
    };
    into.add(metric("cardea_agents"), agents());
    add(metric("cardea_card_fetch_total"), add_fetches);
    add(metric("cardea_card_age_seconds"), add_age);
    add(metric("cardea_card_changes_total"), add_changes);
    add(metric("cardea_card_problems"), add_problems);
    add(metric("cardea_mcp_tools_hidden"), add_hidden_tools);
}

}  // namespace gateway::cards
