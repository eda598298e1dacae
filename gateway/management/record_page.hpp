// A page of agents in the answer to a list, as text: `{"jsonrpc":"2.0","id":…,"result":{"agents":[…],"next":…}}`. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::management {

class record_page {
public:
    // `id` is the request's, raw JSON text. The page has at most `limit` agents and, but for its first one, at most `most`
    // bytes.
    record_page(std::string_view id, std::size_t limit, std::size_t most);

    // One agent's record, a JSON object. False: it does not fit, and the page is full.
    bool add(std::string_view agent, std::string_view record);

    bool full() const noexcept { return cut_ || count_ == limit_; }

    // Whether an agent did not fit.
    bool cut() const noexcept { return cut_; }

    // Memory that it takes.
    std::size_t capacity() const noexcept { return text_.capacity(); }

    // The whole answer. `more`: agents follow, behind the last one here. `members`: further ones of the result, each with a
    // comma in front.
    std::string finish(bool more, std::string_view members = {});

private:
    std::string text_;
    std::string last_;
    std::size_t limit_;
    std::size_t most_;
    std::size_t count_ = 0;
    bool cut_ = false;
};

}  // namespace gateway::management
