#include "gateway/cards/card_history.hpp"

#include "core/json/json.hpp"
#include "jose/digest.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway::cards {
namespace {

// Whether the patch is about nothing but when the card was signed.
bool only_signs(const std::string& patch)
{
    const auto changes = core::parse_json(patch, {.bytes = patch.size()});
    return changes && changes->is_array() && !changes->empty() && std::ranges::all_of(*changes, [](const auto& each) {
               const auto* path = core::string_member(each, "path");
               return path != nullptr && (*path == "/signatures" || path->starts_with("/signatures/"));
           });
}

// Null: the latest card is not there, or damaged.
std::shared_ptr<const model::card_bytes> bytes_of(const std::vector<store::card_version>& versions)
{
    if (versions.empty() || jose::sha256_hex(versions.front().document) != versions.front().sha256) {
        return nullptr;
    }
    return model::make_card_bytes(model::body_with_strong_etag(versions.front().document));
}

}  // namespace

card_history::card_history(net::loop& control, threads::store_thread& store, card_maker& maker, const core::logger& log)
    : loop_{control},
      store_{store},
      maker_{maker},
      log_{log}
{
}

void card_history::note(noted_card card)
{
    waiting_.push_back(std::move(card));
    if (std::exchange(writing_, true)) {
        return;
    }
    net::asio::co_spawn(loop_.get_executor(), write(), [this](const std::exception_ptr& bug) {
        writing_ = false;
        net::log_thrown(bug, log_, "card_history");
    });
}

net::task<> card_history::write()
{
    while (!waiting_.empty()) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        const auto kept = co_await keep(std::move(next));
        const bool leaves = !kept && kept.error().code == core::errc::draining;
        if (!kept && !failing_ && !leaves) {
            log_.write(
                core::log_level::warn,
                "card_persist_failed",
                {{"code", core::name(kept.error().code)}, {"detail", kept.error().detail}}
            );
        }
        failing_ = !kept;
    }
}

net::task<core::result<std::vector<store::card_version>>> card_history::versions(std::string agent)
{
    std::function work = [id = std::move(agent)](store::engine& engine) { return engine.card_versions(id); };
    co_return co_await store_.ask(std::move(work));
}

net::task<core::result<>> card_history::keep(noted_card card)
{
    const auto before = co_await versions(card.agent->id);
    if (!before) {
        co_return before.error();
    }
    if (!before->empty() && before->front().sha256 == card.sha256) {
        co_return core::result<>{};
    }
    store::card_version version{
        .agent = card.agent->id,
        .at = card.at,
        .sha256 = std::move(card.sha256),
        .size = card.cards.after->body.size(),
        .patch = std::nullopt,
        .document = store_.durable() ? card.cards.after->body : std::string{}
    };
    const bool recalled = card.cards.before == nullptr;
    if (recalled) {
        card.cards.before = bytes_of(*before);
    }
    if (card.cards.before != nullptr) {
        auto patch = co_await maker_.compare(std::move(card.agent), std::move(card.cards));
        if (!patch && patch.error().code == core::errc::draining) {
            co_return patch.error();
        }
        if (patch && recalled && only_signs(*patch)) {
            co_return core::result<>{};
        }
        if (patch && patch->size() <= longest_patch) {
            version.patch = std::move(*patch);
        }
    }
    std::function work = [kept = std::move(version)](store::engine& engine) { return engine.keep_card_version(kept); };
    co_return co_await store_.ask(std::move(work));
}

}  // namespace gateway::cards
