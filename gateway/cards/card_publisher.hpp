// Publishes cards, of whatever origin: notes in the agent's entry what is served from now on, and tells the workers, the log
// and whoever routes calls. On the control loop.
#pragma once

#include "a2a/card/card.hpp"
#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_entry.hpp"
#include "gateway/cards/card_history.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/audit_trail.hpp"
#include "net/loop/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::cards {

class card_publisher {
public:
    using clock = std::function<core::steady_time()>;
    using publication = std::function<void(const std::string& id, std::shared_ptr<const model::published_card> card)>;
    using pathfinder = std::function<void(const std::string& id, const model::call_route& route)>;

    // References outlive the publisher.
    card_publisher(net::loop& control, const config::card_settings& settings, const core::logger& log, clock now);

    // These work as card_plane::set_publisher() and card_plane::set_pathfinder().
    void set_publication(publication publish) { publish_ = std::move(publish); }
    void set_pathfinder(pathfinder find) { find_path_ = std::move(find); }

    // From now on published cards are noted there; it outlives the publisher.
    void set_audit(const model::audit_trail& audit) noexcept { audit_ = &audit; }

    // From now on published cards are noted there too; it outlives the publisher.
    void set_history(card_history& history) noexcept { history_ = &history; }

    // The value of the snapshot.
    void set_public_base(std::string base) { public_base_ = std::move(base); }

    const config::card_settings& settings() const noexcept { return settings_; }
    core::steady_time now() const { return now_(); }
    net::executor executor() const { return loop_.get_executor(); }

    // Begins work that nobody awaits; an exception that ends it is a line in the log. `name`: of the work, a literal.
    void start(net::task<> work, std::string_view name) const;

    // A card that its agent or the operator wrote: it may say where calls go.
    void accept(card_entry& entry, served_card card, core::steady_time fetched_at, core::duration fresh_for);

    void publish(card_entry& entry, served_card card, core::steady_time fetched_at, core::duration fresh_for);

    // The card that is there is fresh again.
    void renew(card_entry& entry, core::duration fresh_for);

    // The workers ask from now on.
    void withdraw(const std::string& id) { publish_(id, nullptr); }

    // After fail(): the workers serve the previous card as stale for as long as it may be, and ask from then on.
    void publish_stale(const card_entry& entry);

    // No card came. The detail of `why` is cut, and freed of the agent's secrets.
    void fail(card_entry& entry, core::error why);

private:
    void record_hidden(card_entry& entry, const std::optional<hidden_tools>& hidden) const;
    void record_address(card_entry& entry, const std::optional<::a2a::card_problem>& problem) const;
    void log_published(const std::string& id, const served_card& card) const;

    net::loop& loop_;
    const config::card_settings& settings_;
    const core::logger& log_;
    clock now_;
    publication publish_;
    pathfinder find_path_;
    std::string public_base_;
    const model::audit_trail* audit_ = nullptr;  // null: nowhere
    card_history* history_ = nullptr;            // null: nowhere
};

}  // namespace gateway::cards
