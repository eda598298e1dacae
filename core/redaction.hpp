// Keeps credentials of ours out of what a peer says: a server that repeats what it was given, in an error or on stderr, must
// not bring it into the log. Pure; const calls from any thread.
#pragma once

#include "core/mcp_server.hpp"
#include "core/secret.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

class redaction {
public:
    // A value of fewer bytes is a word like others: to mask each `1` would eat the text.
    static constexpr std::size_t shortest = 6;

    redaction() = default;

    // Each line of a value with line breaks counts too.
    explicit redaction(const std::vector<std::string>& values);

    // The first `most` bytes of `text` with `masked` instead of each value that begins in them; values that overlap become
    // one mask. A value that begins there and goes on behind is masked whole.
    std::string apply(std::string_view text, std::size_t most = std::string_view::npos) const;

    // How many bytes behind `most` apply() has to see.
    std::size_t reach() const noexcept { return reach_; }

    friend bool operator==(const redaction&, const redaction&) = default;

private:
    void add(std::string_view value);

    std::vector<std::string> values_;  // longest first, each once
    std::size_t reach_ = 0;
};

// A redaction of everything that a server is given: its environment, its header fields (their credentials without `Bearer ` too), the query of
// `url`, and its arguments (what stands behind `=`, `:` or the last blank in them, and the password of an address, too) but for
// names of options, paths, and the program that a launcher such as npx is to run; what follows an option that is named after a
// credential counts whatever it looks like.
redaction redaction_of(
    const mcp_server& server,
    const std::vector<std::pair<std::string, secret>>& headers = {},
    std::string_view url = {}
);

// Says for each argument of `program` whether it cannot be a credential by the same rules, and can be shown.
std::vector<bool> harmless_arguments(std::string_view program, const std::vector<std::string>& arguments);

}  // namespace core
