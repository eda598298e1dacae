// Audit lines, for those who have to answer for the gateway, written whatever the log's level is: one JSON object a line,
// `{"ts":…,"event":…, members}` (docs/reference.md, "Audit lines"). Never a credential, a body or a card. Texts are cut, and
// escaped so that no terminal obeys them.
#pragma once

#include "core/log.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/request_record.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::model {

// A card that callers get from now on. Views.
struct audited_card {
    std::string_view agent;
    std::string_view name;
    std::string_view version;
    std::string_view protocol_version;
    std::string url;
    std::size_t skills = 0;
    std::size_t bytes = 0;
    std::string_view sha256;
    const std::vector<std::string>& capabilities;  // that are true
    const std::vector<std::string>& security_schemes;
    bool has_signature = false;  // of the gateway
};

// An agent before and after a change. The hashes are of its definition without secrets; empty: there is none.
struct audited_change {
    std::string_view agent;
    std::string_view by;
    std::string before;
    std::string after;
};

// Something that an agent says of itself is not what was approved. The hashes are of the last change; an empty one: there was nothing.
struct audited_pins {
    std::string_view agent;
    const std::vector<std::string>& members;  // as JSON pointers
    std::string_view before;
    std::string_view after;
    std::uint64_t held = 0;  // that wait to be approved
};

// A reload: what was read, and what came of it.
struct audited_reload {
    std::string_view trigger;
    std::string_view sha256;   // of the configuration's text
    std::size_t problems = 0;  // 0: it applies
};

// An agent or a principal that an operator contains or releases, or whose end has come (by: "until").
struct audited_containment {
    bool contains = false;      // else it is released
    std::string_view agent;     // empty: the principal
    std::string_view provider;  // the same of these two
    std::string_view principal;
    std::string_view by;
    std::string_view reason;
    std::string_view until;           // RFC 3339; empty: no end
    std::optional<cut_counts> cut{};  // what that has ended; with `contains`
};

// Requests that were denied the same: on their way from the workers.
struct denied_requests {
    std::string principal;  // empty: nobody's
    std::string provider;
    std::string agent;  // empty: none
    denial reason = denial::unauthenticated;
    std::string rule{};    // that denied it, as access/explain names it; empty: unknown
    std::string method{};  // of the latest, as are the next two; empty: none
    std::string tool{};
    std::string address;
    std::uint64_t count = 1;
};

struct used_key {
    std::string provider;
    std::string key;

    friend auto operator<=>(const used_key&, const used_key&) = default;
};

// Notes of one worker since the last batch.
struct audit_notes {
    std::vector<denied_requests> denied;
    std::vector<used_key> keys;  // that were accepted, and not a moment before
    std::uint64_t dropped = 0;   // denials that found no room

    bool empty() const noexcept { return denied.empty() && keys.empty() && dropped == 0; }
};

// Any thread.
class audit_trail {
public:
    static constexpr std::size_t longest_text = 256;  // bytes
    static constexpr std::size_t longest_list = 64;

    // `sink` outlives the trail; null: nothing is written.
    explicit audit_trail(core::log_sink* sink = nullptr) noexcept
        : sink_{sink}
    {
    }

    bool on() const noexcept { return sink_ != nullptr; }

    void card_published(const audited_card& card) const;
    void agent_changed(const audited_change& change) const;
    void access_denied(const denied_requests& requests) const;
    void key_first_used(const used_key& key) const;
    void configuration_reloaded(const audited_reload& reload) const;
    void containment_changed(const audited_containment& change) const;
    void pin_changed(const audited_pins& change) const;
    // `items` have a kind, a name and a hash each.
    void pin_approved(std::string_view agent, std::string_view by, const std::vector<std::string>& items) const;
    void session_restarted(std::string_view agent, std::string_view by) const;

private:
    core::log_sink* sink_;
};

}  // namespace gateway::model
