// The open questions of a server over one connection, and the ids under which its client knows them. Pure; one
// thread.
#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

class server_questions {
public:
    static constexpr std::size_t longest_id = 1024;  // bytes of a server's id, raw; it is looked at again and again

    struct question {
        std::string id;                               // the server's, raw
        std::uint64_t asked_in = 0;                   // the call; 0: put to who listens, or the call is over
        std::optional<core::steady_time> since = {};  // that expire() has seen it
    };

    // `first`: the first id that the client gets, all of them new; 0: the server's own.
    explicit server_questions(std::int64_t first);

    // Whether one is open that has the server's id `raw`.
    bool has(std::string_view raw) const;

    // The raw id that the client gets for the server's id `raw`; perhaps the same.
    std::string name_for(std::string_view raw);

    // `name`: of name_for(). None has the id of the server.
    void add(std::string_view name, question asked);

    // Nobody waits for its answer any more. Nothing: none is open that the client knows by that raw id.
    std::optional<question> take(std::string_view name);

    struct withdrawn {
        std::string name;  // raw
        std::uint64_t asked_in = 0;
    };

    // Takes it by the id of the server.
    std::optional<withdrawn> withdraw(std::string_view raw);

    // Those of a call, which is over. The client may answer them all the same.
    void end(std::uint64_t call);

    // The server's raw ids of those that expire() has seen `patience` ago or before. Nobody waits for their answers any more.
    std::vector<std::string> expire(core::steady_time now, core::duration patience);

    std::size_t size() const noexcept { return open_.size(); }

    // `first` for the next connection of the same client: the client has heard of no id from there on.
    std::int64_t next() const noexcept { return next_; }

private:
    using questions = std::map<std::string, question, std::less<>>;

    questions::const_iterator find(std::string_view raw) const;

    bool renames_;
    std::int64_t next_;
    questions open_;  // by what the client knows them by, as plain_name()
};

// `passed`: to a client. `answered`: by the gateway, because it is a ping that no client reads, or because no client can be asked.
enum class question_end : std::uint8_t { passed, answered };

struct question_tally {
    static constexpr std::size_t ends = 2;
    static constexpr std::array<std::string_view, 5> methods{
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "ping",
        "other",
    };

    std::array<std::array<std::uint64_t, ends>, methods.size()> counts{
    };  // by the position in `methods`, and by question_end

    void count(std::string_view method, question_end end)
    {
        const auto known = std::ranges::find(methods, method);
        const auto at = known == methods.end() ? methods.size() - 1 : static_cast<std::size_t>(known - methods.begin());
        ++counts[at][static_cast<std::size_t>(end)];
    }
};

}  // namespace mcp
