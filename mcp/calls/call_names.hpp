// Under which names a server knows the calls of one connection: their ids, or their progress tokens. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mcp {

// One request under way, as an exchange_book numbers them: never the same twice, never 0. On a shared connection it is also the id that
// the server gets.
using call_number = std::uint64_t;

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
