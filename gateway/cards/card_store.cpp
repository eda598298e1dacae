#include "gateway/cards/card_store.hpp"

#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace gateway::cards {

card_store::card_store(net::loop& control, threads::store_thread& store, const core::logger& log, clock now)
    : loop_{control},
      store_{store},
      log_{log},
      now_{std::move(now)}
{
}

void card_store::keep(store::kept_card card)
{
    card.fetched = now_();
    const auto there = waiting_.find(card.agent);
    if (there != waiting_.end() && card.document.empty()) {
        card.document = std::move(there->second.document);  // its writing is still to come
    }
    waiting_.insert_or_assign(card.agent, std::move(card));
    if (std::exchange(writing_, true)) {
        return;
    }
    net::asio::co_spawn(loop_.get_executor(), write(), [this](const std::exception_ptr& bug) {
        writing_ = false;
        net::log_thrown(bug, log_, "card_keeper");
    });
}

net::task<> card_store::write()
{
    while (!waiting_.empty()) {
        std::vector<store::kept_card> batch;
        for (auto& [agent, card] : std::exchange(waiting_, {})) {
            batch.push_back(std::move(card));
        }
        std::function work = [cards = std::move(batch)](store::engine& engine) { return engine.keep_cards(cards); };
        auto asked = store_.durable() ? store_.write(std::move(work)) : store_.ask(std::move(work));
        const auto kept = co_await std::move(asked);
        const bool handed_over = !kept && kept.error().code == core::errc::draining;
        if (!kept && !failing_ && !handed_over) {
            log_.write(
                core::log_level::warn,
                "card_persist_failed",
                {{"code", core::name(kept.error().code)}, {"detail", kept.error().detail}}
            );
        }
        failing_ = !kept;
    }
}

net::task<std::optional<recalled_card>> card_store::recall(std::string agent)
{
    if (!store_.durable()) {
        co_return std::nullopt;
    }
    std::function work = [id = std::move(agent)](store::engine& engine) { return engine.card(id); };
    auto found = co_await store_.ask(std::move(work));
    if (!found) {
        co_return std::nullopt;
    }
    auto& kept = *found;
    if (!kept) {
        co_return std::nullopt;
    }
    co_return aged(std::move(*kept));
}

net::task<core::result<std::optional<store::kept_card>>> card_store::kept(std::string agent)
{
    std::function work = [id = std::move(agent)](store::engine& engine) { return engine.card(id); };
    co_return co_await store_.ask(std::move(work));
}

recalled_card card_store::aged(store::kept_card card) const
{
    const auto age = std::chrono::duration_cast<core::duration>(now_() - card.fetched);
    return {std::move(card), std::max(age, core::duration{0})};
}

}  // namespace gateway::cards
