// Tool search of bundles: the index of one bundle's tools, and the thread on which indexes are made and asked.
#pragma once

#include "core/error.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/bundle/tool_search.hpp"
#include "mcp/protocol/version.hpp"
#include "net/loop/types.hpp"
#include "store/text_index.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::bundles {

// A tool of a bundle, as its lists have it. Views into what tools_to_search::owner holds.
struct searchable_tool {
    std::string_view name;        // that callers use
    std::string_view own_name;    // at the member
    std::string_view definition;  // raw, with the name that callers use
    std::size_t member = 0;       // its place among tools_to_search::members
};

// Everything that a bundle has to be looked through.
struct tools_to_search {
    std::shared_ptr<const void> owner;                 // of the bytes that `tools` view
    std::vector<::mcp::searched_member> members = {};  // in written order; `tools` in them counts for nothing here
    std::vector<searchable_tool> tools = {};           // in the order of the list, which is that of equal ranks
};

// Which of the tools one caller has: by their places in tools_to_search::tools. Shorter: the rest is hidden.
using visible_tools = std::vector<bool>;

// What was asked, and for whom.
struct search_question {
    ::mcp::search_tool tool = ::mcp::search_tool::find;  // `call`: of which the name is unknown, or is not read
    std::string arguments = {};                          // raw, of the call; empty: none
    visible_tools visible = {};
    ::mcp::era speaks = ::mcp::era::modern;
};

enum class search_outcome : std::uint8_t { found, nothing, unknown_name, refused, failed };

std::string_view outcome_name(search_outcome outcome) noexcept;

struct search_answer {
    std::string result = {};  // raw `result` of the call
    search_outcome outcome = search_outcome::failed;
};

// One thread at a time uses it: that of tool_searches. Any may destroy it.
class tool_index {
public:
    explicit tool_index(tools_to_search tools);

    // Makes the index, unless it is there: answer() does if nobody has. Fails with store_failed.
    core::result<> prepare() const;

    // Never fails: what cannot be answered is a result with `isError`. A hidden tool takes no place, and nothing tells of it.
    search_answer answer(const search_question& question) const;

    // The members of which the caller has a tool, with the number of these. Any thread.
    std::vector<::mcp::searched_member> members_seen(const visible_tools& visible) const;

    // Memory of the index, once it is made, without the definitions, which belong to the bundle.
    std::size_t bytes() const;

private:
    struct entry {
        std::string plain;      // plain_words() of the name that callers use
        std::string own_plain;  // of that at the member
    };
    ::mcp::found_tool at(std::size_t place) const;
    std::vector<std::string_view> nearest(std::string_view name, const visible_tools& visible) const;
    core::result<std::vector<std::size_t>> ranked(const ::mcp::find_request& request, const visible_tools& visible)
        const;
    search_answer find(const search_question& question) const;
    search_answer describe(const search_question& question) const;
    search_answer call(const search_question& question) const;

    tools_to_search tools_;
    mutable std::vector<entry> entries_;
    mutable std::unique_ptr<store::text_index> texts_;  // null: not made yet
};

using tool_index_pointer = std::shared_ptr<const tool_index>;

// The thread of all indexes. Any loop may ask; the answer comes back to it. Whoever asks keeps this alive.
class tool_searches {
public:
    // Questions that wait at a time, of all callers; beyond it they are refused.
    static constexpr std::size_t most_waiting = 1024;

    // Makes the index ahead of the first question. Nobody waits for it.
    void prepare(tool_index_pointer index);

    // Fails with overloaded over most_waiting. `index` is not null.
    net::task<core::result<search_answer>> ask(tool_index_pointer index, search_question question);

private:
    std::atomic<std::size_t> waiting_ = 0;
    threads::side_thread thread_;
};

}  // namespace gateway::bundles
