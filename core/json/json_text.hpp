// JSON written straight to text, without a document: for large answers of one shape.
#pragma once

#include "core/json/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace core {

// Puts commas between members and items; nothing else is checked.
class json_text {
public:
    void open(char bracket)
    {
        comma();
        out_ += bracket;
        first_ = true;
    }

    void close(char bracket)
    {
        out_ += bracket;
        first_ = false;
    }

    void key(std::string_view name)
    {
        comma();
        core::append_json_string(out_, name);
        out_ += ':';
        first_ = true;
    }

    void value(std::string_view text)
    {
        comma();
        core::append_json_string(out_, text);
    }

    void member(std::string_view name, std::string_view text)
    {
        key(name);
        value(text);
    }

    void member_if_any(std::string_view name, std::string_view text)
    {
        if (!text.empty()) {
            member(name, text);
        }
    }

    // Members or items that have been written already, with commas between them.
    void raw(std::string_view text)
    {
        if (!text.empty()) {
            comma();
            out_ += text;
        }
    }

    std::string take() { return std::move(out_); }

    std::size_t capacity() const noexcept { return out_.capacity(); }

private:
    void comma()
    {
        if (!first_) {
            out_ += ',';
        }
        first_ = false;
    }

    std::string out_;
    bool first_ = true;
};

}  // namespace core
