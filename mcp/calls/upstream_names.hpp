// What a client's ids are called on a connection to a server, and its progress tokens alike. A name is used once, so that an
// answer that comes late or twice is never taken for the answer to another request. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace mcp {

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

}  // namespace mcp
