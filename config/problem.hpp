// Problems of a configuration, written so that an operator can mend them without reading the source.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace config {

struct field;  // config/fields.hpp

// A place in the file: lines and columns start at 1, columns count bytes.
struct place {
    unsigned line = 1;
    unsigned column = 1;

    friend auto operator<=>(const place&, const place&) = default;
};

struct problem {
    std::string file;
    unsigned line = 1;
    unsigned column = 1;
    std::string key;       // the path of the key, such as `agents.weather.url`; empty: the file as a whole
    std::string what;      // what is wrong, and what was expected; never the value of a secret
    bool warning = false;  // the configuration can be used all the same

    friend bool operator==(const problem&, const problem&) = default;
};

// `file:line:column: key: what`, without a line break; of a warning `file:line:column: warning: key: what`.
std::string to_text(const problem& p);

// Collects what is wrong with one file, and apart from it what is only worth a warning. Keeps the first `most` of each: who
// has fifty things to put right does not need more.
class problem_list {
public:
    static constexpr std::size_t most = 50;

    explicit problem_list(std::string_view file)
        : file_{file}
    {
    }

    void add(place where, std::string_view key, std::string message);
    void warn(place where, std::string_view key, std::string message);
    void add(const field& at, std::string message);
    void warn(const field& at, std::string message);

    bool empty() const noexcept { return problems_.empty(); }
    std::size_t size() const noexcept { return problems_.size(); }
    bool full() const noexcept { return problems_.size() == most; }

    // In the order of the file.
    std::vector<problem> take();
    std::vector<problem> take_warnings();

private:
    static void keep(std::vector<problem>& in, problem found);

    std::string file_;
    std::vector<problem> problems_;
    std::vector<problem> warnings_;
};

// The error of a text or a file that a configuration cannot use. The detail is a predicate.
inline core::error invalid(std::string_view predicate)
{
    return core::gateway_error(core::errc::config_invalid, std::string{predicate});
}

// A key as it is shown: its first letters, digits, '_', '.' and '-', at most 64, and "(...)" for the rest. What follows
// other characters may be a value that lost its space (`{bearer:token}` is one key in YAML).
std::string shown_key(std::string_view key);

// `path` and the key below it, as it is shown.
std::string join(std::string_view path, std::string_view key);

}  // namespace config
