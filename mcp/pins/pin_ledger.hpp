// All that is approved of one agent, and what waits for that: its card, or the tools and instructions of an MCP server. Pure: the time
// comes with what was seen; one thread at a time.
#pragma once

#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "mcp/pins/lock_file.hpp"
#include "mcp/pins/pinned_server.hpp"
#include "mcp/protocol/discovery.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_pinned_tools = 1000;               // of one agent
inline constexpr std::size_t most_pinned_bytes = 4 * 1024 * 1024;    // the same, with what waits
inline constexpr std::size_t most_pinned_of_all = 64 * 1024 * 1024;  // of all agents
inline constexpr std::size_t most_held = 1000;                       // of one agent
inline constexpr std::size_t most_of_callers = most_held / 4;        // of these, that only callers' lists have
inline constexpr std::size_t most_callers_bytes = most_pinned_bytes / 4;
inline constexpr std::chrono::minutes callers_turn{10};   // before one of these gives way to the next
inline constexpr std::chrono::hours callers_within{24};   // that it waits; then it has to be seen again
inline constexpr std::chrono::hours volatile_within{24};  // three texts
inline constexpr std::size_t volatile_texts = 3;

enum class pin_kind : std::uint8_t { card, instructions, tool };

// "card", "instructions", "tool".
std::string_view name(pin_kind kind) noexcept;
std::optional<pin_kind> pin_kind_of(std::string_view name) noexcept;

// Why something waits: there was nothing of its name, its shape has changed, or only its words; or there is no room to keep it.
enum class held_for : std::uint8_t { added, changed, words, pins_full };

// "new", "changed", "words", "pins_full".
std::string_view name(held_for why) noexcept;

// The name of an item that an operator approves.
struct pin_key {
    pin_kind kind = pin_kind::card;
    std::string name;  // of a tool; else empty
    std::string sha256;

    friend auto operator<=>(const pin_key&, const pin_key&) = default;
};

struct pinned_text {
    std::string sha256;
    std::string shape;  // of a tool
    std::string text;   // a tool or a card as JSON, or instructions; empty if there is no room for it
};

// The difference between two texts of this kind as they are compared: RFC 6902. `before`: null: there is none.
std::string difference(pin_kind kind, const pinned_text* before, std::string_view now);

struct held_text : pinned_text {
    held_for why = held_for::added;
    core::wall_time since{};
    bool own = true;  // seen by the gateway itself; false: in lists of callers alone
};

// One change that was seen.
struct pin_change {
    pin_key now;
    std::string before;  // sha256 of the approved form; empty: there is none
    std::vector<std::string>
        members;        // JSON pointers below `/card`, `/instructions` or `/tools/NAME`; at most most_changed_members
    bool held = false;  // it waits to be approved; false: it is the new baseline
};

inline constexpr std::size_t most_changed_members = 8;

// The rules under which something is seen.
struct pin_terms {
    core::pin_mode mode = core::pin_mode::warn;
    std::vector<std::string> except;        // of core::pin_settings
    bool server = true;                     // an MCP server; false: an agent with a card
    bool registered = false;                // by itself: first sight approves nothing
    std::optional<locked_agent> lock = {};  // the agent's part of a lock file; nothing: there is no file
    std::size_t room = most_pinned_bytes;   // for this agent, of most_pinned_of_all
    core::wall_time now{};
    std::string place = {};  // of a card: where it was found
    // The addresses of an agent that registered itself: what is approved is so for these. Empty: for any.
    std::string source = {};
};

class pin_ledger {
public:
    // The ledger of an agent that has been seen, and of which nothing is approved.
    static pin_ledger of_nothing();

    // Approvals of an agent with other addresses end.
    void set_source(const std::string& source);
    const std::string& source() const noexcept { return source_; }

    // Lists that the gateway itself has read.
    std::vector<pin_change> take_lists(const server_lists& lists, const pin_terms& terms);

    // The text of a card that was fetched; `print` is print_of_card() of it.
    std::vector<pin_change> take_card(std::string_view text, const std::string& print, const pin_terms& terms);

    // A tool that a caller was listed, of an agent with `enforce`.
    std::vector<pin_change> take_tool(const listed_item& tool, const pin_terms& terms);

    // Each of these that waits is approved. Fails with version_conflict, and nothing changes: one of them does not wait, or has no text.
    core::result<std::vector<pin_key>> approve(const std::vector<pin_key>& items);

    // A lock file begins to hold, has changed, or holds no longer: what it approves is approved, and nothing else is.
    void set_lock(const std::optional<locked_agent>& lock);

    // The approved card's text and place; null: none is.
    const pinned_text* card() const noexcept { return card_ ? &*card_ : nullptr; }
    const std::string& card_place() const noexcept { return card_place_; }

    approved_server approved() const;

    // Nothing of the agent is approved, be it seen or not.
    bool waits() const noexcept { return !card_ && !instructions_ && tools_.empty(); }

    std::size_t bytes() const noexcept;

    // Rises with each change that the store has to have.
    std::uint64_t revision() const noexcept { return revision_; }
    std::size_t held_count(pin_kind kind) const noexcept;
    std::size_t held_count() const noexcept { return held_.size(); }

    // Members of an agent in agents/pins: `approved`, `held` with `diff` if that is wanted, `volatile`.
    core::json shown(bool with_diff) const;

    // For the store. read() fails with parse_error.
    std::string text() const;
    static core::result<pin_ledger> read(std::string_view text);

private:
    struct word_history {
        std::vector<std::pair<std::string, core::wall_time>> texts;  // hashes of different ones
        bool is_volatile = false;
    };
    struct seen_item {
        pin_key key;
        std::string shape;
        std::string_view text;
    };
    using forms = std::vector<const pinned_text*>;

    bool begins(const pin_terms& terms);
    void take_one(const seen_item& seen, const pin_terms& terms, bool first, std::vector<pin_change>& changes);
    bool takes_lock(const seen_item& seen, const pin_terms& terms);
    bool is_volatile(const pin_key& key, const forms& approved, core::wall_time now);
    bool hold(const seen_item& seen, held_for why, const pin_terms& terms, bool own);
    bool makes_room(std::size_t bytes, bool own, core::wall_time now);
    void drop_old(core::wall_time now);
    template <class Test>
    void drop_held(const Test& is_dropped);
    void drop_unlisted(const std::set<pin_key>& listed);
    forms approved_forms(const pin_key& key) const;
    bool has_room(const seen_item& seen, const pin_terms& terms) const noexcept;
    void put(const pin_key& key, pinned_text text, bool alone);
    pin_change change_of(const seen_item& seen, const forms& approved, bool held) const;

    std::uint64_t revision_ = 1;
    std::string source_;  // of pin_terms; empty: none was told
    bool seen_ = false;
    std::optional<pinned_text> card_;
    std::string card_place_;
    std::optional<pinned_text> instructions_;
    std::map<std::string, std::vector<pinned_text>, std::less<>> tools_;
    std::map<pin_key, held_text> held_;
    // Shapes of the tools of the gateway's own list, by name; empty: it cannot be read, or another one of its name is not approved.
    std::map<std::string, std::string, std::less<>> own_shapes_;
    std::map<std::string, word_history, std::less<>> words_;  // by place_of()
    std::string held_card_place_;
};

}  // namespace mcp
