// JSON written straight to the end of a text, without a document. The last byte of the text says whether a comma is due, so that texts
// written by others may stand between; nothing else is checked. One thread.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace core {

// Appends `text` as a JSON string, quotes included. Bytes that are not valid UTF-8 become U+FFFD. Controls, also those beyond ASCII, and
// whatever ends lines or turns the direction of reading are escaped: logs are read on terminals.
void append_json_string(std::string& out, std::string_view text);

class json_writer {
public:
    // `out` outlives the writer.
    explicit json_writer(std::string& out) noexcept
        : out_{out}
    {
    }
    // Begins where a value is due: no comma comes before it, whatever white space the text ends with.
    json_writer(std::string& out, char bracket)
        : out_{out}
    {
        out_ += bracket;
    }
    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    void open(char bracket)
    {
        comma();
        out_ += bracket;
    }
    void close(char bracket) { out_ += bracket; }

    // Nothing was written since open().
    bool empty() const noexcept { return !out_.empty() && (out_.back() == '{' || out_.back() == '['); }

    // The name of a member with its colon; its value follows. `constant` needs no escapes, `any` may.
    void name(std::string_view constant)
    {
        comma();
        out_.append("\"").append(constant).append("\":");
    }
    void key(std::string_view any)
    {
        value(any);
        out_ += ':';
    }

    void value(std::string_view text)
    {
        comma();
        append_json_string(out_, text);
    }
    void value(const char* text) { value(std::string_view{text}); }
    void value(bool flag) { raw(flag ? "true" : "false"); }
    void value(double number);
    void value(std::integral auto number)
    {
        comma();
        out_ += std::to_string(number);
    }

    // JSON that was written before: a value, or members or items with commas between them. Empty: nothing.
    void raw(std::string_view text)
    {
        if (!text.empty()) {
            comma();
            out_ += text;
        }
    }

    void member(std::string_view constant, const auto& its)
    {
        name(constant);
        value(its);
    }
    void member_if_any(std::string_view constant, std::string_view text)
    {
        if (!text.empty()) {
            member(constant, text);
        }
    }
    void raw_member(std::string_view constant, std::string_view json)
    {
        name(constant);
        out_ += json;
    }
    void raw_member_if_any(std::string_view constant, std::string_view json)
    {
        if (!json.empty()) {
            raw_member(constant, json);
        }
    }

private:
    void comma()
    {
        const char last = out_.empty() ? '{' : out_.back();
        if (last != '{' && last != '[' && last != ':' && last != ',') {
            out_ += ',';
        }
    }

    std::string& out_;
};

}  // namespace core
