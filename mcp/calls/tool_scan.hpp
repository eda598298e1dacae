// Sees the answer to a `tools/call` pass, as JSON or as a stream of events, and notes how the call ended: with a result that has
// `isError: true` (MCP 2025-11-25, server/tools, "Error Handling"), or with an error of JSON-RPC. Copies and changes nothing, and holds
// nothing back. Keys with escapes are other keys. Pure; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcp {

class tool_scan {
public:
    // The next bytes of the body. False: nothing more need be seen.
    bool feed(std::string_view piece) noexcept;

    // The result has `isError: true`.
    bool tool_error() const noexcept { return tool_error_; }

    // The answer is an error of JSON-RPC.
    bool failed() const noexcept { return failed_; }

private:
    enum class form : std::uint8_t { unknown, document, events };
    enum class line : std::uint8_t { begins, data, other };  // of a stream of events
    enum class key : std::uint8_t { other, result, error, is_error };

    void feed_events(std::string_view piece) noexcept;
    void feed_document(std::string_view text) noexcept;
    std::size_t skip_string(std::string_view text, std::size_t at) noexcept;
    std::size_t skip_values(std::string_view text, std::size_t at) noexcept;
    std::size_t read_members(std::string_view text, std::size_t at) noexcept;
    void keep_name(std::string_view part) noexcept;
    void note_key(std::string_view name) noexcept;
    void begin_value(char c) noexcept;
    void close() noexcept;
    void begin_document() noexcept;

    // The depth of maps and lists down to which keys count: the message, and the result in it.
    std::size_t deepest_with_keys() const noexcept { return in_result_ ? 2 : 1; }

    form form_ = form::unknown;
    line line_ = line::begins;
    std::size_t matched_ = 0;  // bytes of `data:` at the begin of the line
    bool after_cr_ = false;    // the last byte of a stream was a CR

    std::array<char, 8> name_{};  // the beginning of the last text where keys are looked for
    std::size_t name_size_ = 0;   // of the whole text, as far as it matters
    std::size_t depth_ = 0;       // of maps and lists that are open
    key key_ = key::other;        // whose value comes next
    bool in_string_ = false;
    bool escaped_ = false;    // the last byte of a text was a backslash that counts
    bool in_result_ = false;  // the map at depth 2 is the result
    bool done_ = false;
    bool tool_error_ = false;
    bool failed_ = false;
};

}  // namespace mcp
