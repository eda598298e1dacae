#include "core/json/canonical_json.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace core {
namespace {

// The order of a UTF-8 sequence's first byte is that of its code point, and so is that of UTF-16, except that the
// surrogates of what has four bytes (D800 to DFFF) come before E000 to FFFF, which begin with EE or EF.
unsigned rank(unsigned char byte) noexcept
{
    const bool four_bytes = byte >= 0xF0;
    const bool after_surrogates = byte == 0xEE || byte == 0xEF;
    if (four_bytes) {
        return byte - 2U;
    }
    return after_surrogates ? byte + 8U : byte;
}

// Whether it stands in UTF-16 where its bytes would put it, among others of which the same is true.
bool is_in_order_of_bytes(std::string_view name) noexcept
{
    return std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0xEE; });
}

void append_special(std::string& out, char c)
{
    constexpr std::string_view short_escapes = "\b\t\n\f\r";
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else if (const auto at = short_escapes.find(c); at != std::string_view::npos) {
        out += '\\';
        out += "btnfr"[at];
    } else {
        append_escape(out, static_cast<unsigned char>(c));
    }
}

// A number that a double holds exactly keeps its own digits.
void append_whole_number(std::string& out, const json& value)
{
    constexpr std::int64_t largest_exact = std::int64_t{1} << 53U;
    const auto number = value.get<double>();
    if (std::abs(number) >= static_cast<double>(largest_exact)) {
        out += canonical_number(number);
        return;
    }
    std::array<char, 20> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value.get<std::int64_t>());
    out.append(text.data(), end.ptr);
}

// A lean text leaves these values out: readers cannot tell them from absent ones.
bool says_nothing(std::string_view text) noexcept
{
    return text == "null" || text == R"("")" || text == "[]" || text == "{}";
}

class writer {
public:
    explicit writer(const canonical_form& form)
        : form_{form}
    {
    }

    // The recursion is as deep as parse_json() allows.
    void value(const json& value);
    void document(const json& value);
    canonical_text take() && { return {std::move(out_), left_out_}; }

private:
    using object = json::object_t;

    void string(std::string_view text);
    void number(const json& value);
    void members(const object& from, std::span<const std::string_view> without = {});
    void close(char bracket);

    // Ends an element or a member that was written from `begin` on; its value begins at `value`.
    void end_item(std::size_t begin, std::size_t value)
    {
        if (form_.lean && says_nothing(std::string_view{out_}.substr(value))) {
            out_.resize(begin);
            left_out_ = true;
            return;
        }
        out_ += ',';
    }

    const canonical_form& form_;
    std::string out_;
    std::vector<const object::value_type*> order_;  // of the members of the objects that are open
    bool left_out_ = false;
};

void writer::string(std::string_view text)
{
    out_ += '"';
    std::size_t written = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool coded = form_.python && byte >= 0x80;
        if (byte >= 0x20 && byte != '"' && byte != '\\' && !coded) {
            ++i;
            continue;
        }
        out_.append(text.substr(written, i - written));
        if (coded) {
            const auto next = first_code_point(text.substr(i));
            append_escape(out_, next.value);
            i += next.bytes;
        } else {
            append_special(out_, text[i++]);
        }
        written = i;
    }
    out_.append(text.substr(written)).append(1, '"');
}

void writer::number(const json& value)
{
    if (form_.python) {
        out_ += to_text(value);
    } else if (value.is_number_float()) {
        out_ += canonical_number(value.get<double>());
    } else {
        append_whole_number(out_, value);
    }
}

void writer::close(char bracket)
{
    if (out_.back() == ',') {
        out_.pop_back();
    }
    out_ += bracket;
}

void writer::members(const object& from, std::span<const std::string_view> without)
{
    const auto first = order_.size();
    bool by_bytes = true;
    for (const auto& each : from) {
        if (std::ranges::find(without, each.first) == without.end()) {
            order_.push_back(&each);
            by_bytes = by_bytes && (form_.python || is_in_order_of_bytes(each.first));
        }
    }
    const auto count = order_.size() - first;
    std::sort(order_.begin() + static_cast<std::ptrdiff_t>(first), order_.end(), [=](const auto* a, const auto* b) {
        return by_bytes ? a->first < b->first : less_in_utf16(a->first, b->first);
    });
    out_ += '{';
    for (auto i = first; i < first + count; ++i) {
        const auto at = out_.size();
        string(order_[i]->first);
        out_ += ':';
        const auto said = out_.size();
        value(order_[i]->second);
        end_item(at, said);
    }
    order_.resize(first);
    close('}');
}

void writer::document(const json& value)
{
    if (value.is_object()) {
        members(value.get_ref<const object&>(), form_.without);
    } else {
        this->value(value);
    }
}

void writer::value(const json& value)
{
    switch (value.type()) {
        case json::value_t::object:
            members(value.get_ref<const object&>());
            return;
        case json::value_t::array:
            out_ += '[';
            for (const auto& each : value.get_ref<const json::array_t&>()) {
                const auto at = out_.size();
                this->value(each);
                end_item(at, at);
            }
            close(']');
            return;
        case json::value_t::string:
            string(value.get_ref<const std::string&>());
            return;
        case json::value_t::number_integer:
        case json::value_t::number_unsigned:
        case json::value_t::number_float:
            number(value);
            return;
        case json::value_t::boolean:
            out_ += value.get<bool>() ? "true" : "false";
            return;
        case json::value_t::null:
        case json::value_t::binary:
        case json::value_t::discarded:
            break;
    }
    out_ += "null";
}

}  // namespace

bool less_in_utf16(std::string_view a, std::string_view b) noexcept
{
    const auto [in_a, in_b] = std::ranges::mismatch(a, b);
    if (in_a == a.end() || in_b == b.end()) {
        return in_a == a.end() && in_b != b.end();
    }
    // Within a sequence the ranks of continuation bytes are their own order.
    return rank(static_cast<unsigned char>(*in_a)) < rank(static_cast<unsigned char>(*in_b));
}

// ECMA-262, Number::toString: the shortest digits that mean the same double, then where the point goes.
std::string canonical_number(double value)
{
    assert(std::isfinite(value));
    if (value == 0) {
        return "0";
    }
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::scientific);
    const std::string_view all{text.data(), static_cast<std::size_t>(end.ptr - text.data())};
    const auto e = all.find('e');
    std::string digits{all.substr(0, 1)};
    if (e > 2) {
        digits += all.substr(2, e - 2);
    }
    int exponent = 0;
    const auto* from = all.data() + e + 1;
    std::from_chars(*from == '+' ? from + 1 : from, end.ptr, exponent);

    const int count = static_cast<int>(digits.size());
    const int point = exponent + 1;  // so many digits stand before it
    std::string out = value < 0 ? "-" : "";
    if (count <= point && point <= 21) {
        return out + digits + std::string(static_cast<std::size_t>(point - count), '0');
    }
    if (0 < point && point <= 21) {
        return out + digits.insert(static_cast<std::size_t>(point), ".");
    }
    if (-6 < point && point <= 0) {
        return out + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    }
    if (count > 1) {
        digits.insert(1, ".");
    }
    return out + digits + 'e' + (exponent < 0 ? "" : "+") + std::to_string(exponent);
}

std::string canonical_json(const json& value)
{
    return canonical_json(value, {}).text;
}

canonical_text canonical_json(const json& value, const canonical_form& form)
{
    writer out{form};
    out.document(value);
    return std::move(out).take();
}

}  // namespace core
