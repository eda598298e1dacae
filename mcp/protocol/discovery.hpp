// Everything a server lists, as one immutable value, and the walk that finds it. Pure: who asks and when is the
// caller's; any thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "mcp/protocol/list_page.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// One tool, resource, template or prompt.
struct listed_item {
    std::string key;  // its name, URI or URI template: not empty, and of no other item of its list
    std::string raw;  // the whole object on one line (usable()): unknown members and the spelling of numbers survive

    friend bool operator==(const listed_item&, const listed_item&) = default;
};

// The items of a list that no caller gets.
struct left_out_items {
    std::size_t count = 0;
    std::vector<std::string> first;  // each with its list and why, in the server's words too; at most most_told_items
};

inline constexpr std::size_t most_told_items = 8;

// A tool that callers do not get, because nobody has approved it as it is.
struct held_tool {
    std::string name;
    bool known = false;  // another shape of this name is approved

    friend bool operator==(const held_tool&, const held_tool&) = default;
};

struct server_lists {
    server_facts server;
    std::array<std::vector<listed_item>, list_kinds> lists;  // by index_of(), in the server's order
    std::array<left_out_items, list_kinds> left_out;         // by index_of(); for operators
    std::vector<held_tool> held = {};  // tools that are not in `lists`, of a server with pin: enforce

    // From the modern era: how long the server holds it for fresh, at most a day, and whether other principals may see it.
    // Nothing: the era has no such word.
    std::optional<core::duration> time_to_live;
    bool shareable = true;

    const std::vector<listed_item>& operator[](list_kind list) const noexcept { return lists[index_of(list)]; }
};

// Nothing that a caller could see differs; the times to live may, and what was left out.
bool same_content(const server_lists& a, const server_lists& b) noexcept;

// The limits of all lists together.
left_out_items joined(const std::array<left_out_items, list_kinds>& lists);

struct discovery_limits {
    std::size_t pages = 1000;              // of one list
    std::size_t items = 10000;             // of all lists
    std::size_t bytes = 16 * 1024 * 1024;  // of all items
    std::size_t cursor_bytes = 64 * 1024;
};

// Whether tools are left out that clients over streamable HTTP have to reject (header_problem()); only the modern era has
// such tools.
enum class tool_headers : std::uint8_t { ignored, checked };

// The next request.
struct list_question {
    list_kind list = list_kind::tools;
    std::string cursor;  // raw text for list_request(); empty: the first page
};

// Walks the wanted lists, page by page:
//     while (auto question = walk.next()) { ask; accept() or refuse(); }
// A list that the server does not know after all (-32601) is empty. Any other failure leaves its list as it was, or with what was read
// if it was empty (left()), and the walk goes on. A cursor that came before ends its list. Left out and counted (left_out())
// are such cursors, and items that no caller could use: those that are not objects, have no key or that of a different item, or are not
// usable(); and tools as `headers` says.
class list_reader {
public:
    list_reader(
        list_set wanted,
        era speaks,
        discovery_limits limits = {},
        tool_headers headers = tool_headers::ignored
    );

    // These are wanted lists of which the server says nothing that can be read: that it lists something is told (left_out()). One that is not
    // among `offered` is none if it fails. Those that have something are offered from now on.
    void set_undeclared(list_set lists, list_set offered) noexcept
    {
        undeclared_ = lists & wanted_;
        doubted_ = undeclared_ & ~offered;
    }

    // Whether the question asked last is about such a list, which may not be there.
    bool asks_doubted() const noexcept { return at_ < list_kinds && doubted_[at_]; }

    // Nothing: the walk is over.
    std::optional<list_question> next() const;

    // The raw result of the question asked last. Fails with upstream_protocol, and the walk goes on with the next list: not a list
    // result, or over a limit, which the detail names.
    core::result<> accept(std::string_view result);

    // Reads it a little at a time, for a page may have 10,000 items: open(), then take_some() while in_page(). At least one item is
    // taken, and others up to so many bytes.
    core::result<> open(std::string_view result);

    // Opens a page that was read before; its items are moved out of it.
    core::result<> open(list_page& result);
    bool in_page() const noexcept { return page_ != nullptr; }
    core::result<> take_some(std::size_t most_bytes);

    // The error answer to the question asked last. Fails for `tools/list`.
    core::result<> refuse(const rpc_failure& failure);

    // The question asked last gets no answer.
    void skip(std::string why);

    // Nor do those that have not been asked.
    void skip_rest(const std::string& why);

    // The base with what was walked instead of what it had (but for an order), once next() says nothing.
    server_lists onto(server_lists base) &&;

    const list_set& left() const noexcept { return left_; }
    bool left_all() const noexcept { return left_.any() && left_ == wanted_; }

    // The answer to the first of these.
    const std::string& first_left() const noexcept { return first_left_; }

    // The items that were left out of all lists that were walked, with words of any length.
    left_out_items left_out() const { return joined(left_out_); }

private:
    // The unread part of a result.
    struct page {
        std::string items{};  // raw
        std::vector<std::string_view> each{};
        std::vector<list_item> read{};  // instead, if they were read before
        std::size_t taken = 0;
        std::string time_to_live{};  // raw, as the next two
        std::string scope{};
        std::string cursor{};
    };

    core::result<> begin_page(std::string_view type);
    core::result<> find_items();
    core::result<> count_items(std::size_t count);
    core::result<> take_item(list_item item);
    core::result<> turn_page(std::string_view cursor);
    void take_freshness(std::string_view ttl, std::string_view scope);
    void leave_out(std::string_view key, std::string_view why);
    void end_list(std::string_view why);
    void note(std::string words);
    void next_list();
    core::error failed(std::string_view why);

    list_set wanted_;
    era speaks_;
    discovery_limits limits_;
    bool check_headers_;
    std::array<std::vector<listed_item>, list_kinds> found_;
    std::array<left_out_items, list_kinds> left_out_;
    list_set undeclared_;
    list_set doubted_;  // of these
    list_set left_;
    std::string first_left_;
    std::unique_ptr<page> page_;  // null: none is under way
    std::size_t at_ = 0;          // the list under way; list_kinds: none
    std::string cursor_;
    std::set<std::string, std::less<>> cursors_;            // of the list under way
    std::map<std::string, std::size_t, std::less<>> keys_;  // where the items of the list under way are
    std::size_t pages_ = 0;                                 // of the list under way
    std::size_t items_ = 0;
    std::size_t bytes_ = 0;
    std::size_t items_before_ = 0;  // of the lists before the one under way
    std::size_t bytes_before_ = 0;
    std::optional<core::duration> time_to_live_;
    bool shareable_ = true;
};

// The lists that a notification says have changed; none for any other method.
list_set changed_by(std::string_view notification) noexcept;

inline constexpr core::duration change_debounce{250};

// Which lists are to be walked again, once changes have stopped coming in for a moment.
class change_tracker {
public:
    // True: the first change since take(): the caller walks change_debounce later. Changes of lists that the server does
    // not offer count for nothing: `offers` as it said.
    bool note(std::string_view notification, const list_set& offers) noexcept;

    list_set take() noexcept;

private:
    list_set changed_;
};

}  // namespace mcp
