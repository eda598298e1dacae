// The names of calls on a connection to a server: ids and progress tokens. Pure; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace mcp {

// Chooses what a client's ids, or progress tokens, are called. A name is used once, so that an answer that comes late or twice is never
// taken for the answer to another request.
class upstream_names {
public:
    // New names are integers from here on: they fit in 32 bits, which some servers have. The gateway's own requests stay below.
    static constexpr std::int64_t first_new = 1'000'000'000;

    // How many strings go up as they are, and how long they may be; numbers do if each is above all before it.
    static constexpr std::size_t most_strings = 256;
    static constexpr std::size_t longest_string = 64;

    // `always`: every name is new.
    explicit upstream_names(bool always)
        : always_{always}
    {
    }

    // The raw JSON string or integer for `name`, a raw JSON value: itself where no other reader could spell it in another way
    // and it was not used before, else a new one.
    std::string name_for(std::string_view name);

private:
    bool passes(std::string_view name);

    bool always_;
    std::int64_t highest_ = -1;
    std::int64_t next_ = first_new;
    std::set<std::string, std::less<>> strings_;
};

// How a name that a server sent was spelled when it was sent: a server may escape what needs no escape.
std::string plain_name(std::string_view raw);

// Whether that is `plain`, without a copy where nothing is escaped.
bool is_spelled(std::string_view raw, std::string_view plain);

// One request under way, as an exchange_book numbers them: never the same twice, never 0. On a shared connection it is also the id that
// the server gets.
using call_number = std::uint64_t;

// The calls of one connection by the names that its server knows.
class call_names {
public:
    // `name`: a raw JSON string or number, without needless escapes.
    void add(std::string_view name, call_number call) { calls_.insert_or_assign(std::string{name}, call); }
    void remove(std::string_view name);

    // 0: none has the raw name, however that is escaped.
    call_number find(std::string_view raw) const;

    // The call that an answer with this id belongs to: `3`, `3.0` and `"3"` are one if nothing has just that name.
    call_number find_answered(std::string_view raw) const;

private:
    std::map<std::string, call_number, std::less<>> calls_;
};

}  // namespace mcp
