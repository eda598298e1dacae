// Puts a line together from many short pieces: they are gathered here, so that the string behind it grows once or twice, and not with
// each. One thread.
#pragma once

#include "core/ascii.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::telemetry {

class line_writer {
public:
    // Appends to `out`, which outlives the writer, at the latest with end().
    explicit line_writer(std::string& out) noexcept
        : out_{out}
    {
    }
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;

    // Always inlined: of most pieces the length is known there, and copying them takes two instructions.
    [[gnu::always_inline]] void add(std::string_view text)
    {
        if (text.size() > room_.size() - used_) {
            add_long(text);
            return;
        }
        std::copy_n(text.data(), text.size(), room_.data() + used_);
        used_ += text.size();
    }

    void add_number(std::uint64_t value)
    {
        std::array<char, 20> digits;  // NOLINT(*-member-init): written before it is read
        const auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        add({digits.data(), static_cast<std::size_t>(end - digits.data())});
    }

    // 16 digits.
    void add_hex(std::uint64_t value)
    {
        const auto digits = core::hex_digits_of(value);
        add({digits.data(), digits.size()});
    }

    // With quotes, and what JSON escapes in them.
    void add_json_string(std::string_view text)
    {
        const auto plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
        if (std::ranges::all_of(text, plain)) {
            add("\"");
            add(text);
            add("\"");
            return;
        }
        end();
        core::append_json_string(out_, text);
    }

    void end()
    {
        out_.append(room_.data(), used_);
        used_ = 0;
    }

private:
    void add_long(std::string_view text)
    {
        end();
        out_.append(text);
    }

    std::string& out_;
    std::size_t used_ = 0;
    std::array<char, 768> room_;  // NOLINT(*-member-init): written before it is read
};

}  // namespace gateway::telemetry
