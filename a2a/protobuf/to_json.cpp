#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/message_type.hpp"
#include "a2a/protobuf/text.hpp"
#include "a2a/protobuf/wire.hpp"
#include "core/base64.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2a::protobuf {
namespace {

void put_digits(text_sink& to, unsigned value, unsigned count)
{
    char* const begin = to.room(count);
    for (auto* at = begin + count; at != begin; value /= 10) {
        *--at = static_cast<char>('0' + value % 10);
    }
    to.took(begin + count);
}

// Texts of larger ones are not much longer, even as base64, and room that is not needed is written for nothing.
constexpr std::size_t small_message = 4096;

class json_maker {
public:
    json_maker(const codec_options& options, std::size_t size, std::string& out)
        : room_{std::min(options.depth, 64U)},
          most_{out.size() + options.bytes},
          out_{out, (size <= small_message ? 2 * size : size + size * 3 / 8) + 64},
          trouble_{options.from_agent},
          passes_{options.tenant_once}
    {
    }

    // False: why() knows why, or the message is irregular().
    bool document(const message_type& type, std::string_view bytes)
    {
        const bool good = message(type, bytes);
        out_.finish();
        return good;
    }

    // JSON wants the fields of a message once each and their elements together, and the wire need not have them so.
    bool irregular() const noexcept { return irregular_; }

    trouble& why() noexcept { return trouble_; }
    conversion counts() const noexcept { return counts_; }

private:
    bool message(const message_type& type, std::string_view bytes)
    {
        switch (type.kind) {
            case message_kind::structure:
                return structure(type, bytes);
            case message_kind::value:
                return value(type, bytes);
            case message_kind::list:
                return list(type, bytes);
            case message_kind::timestamp:
                return timestamp(type, bytes);
            case message_kind::plain:
                break;
        }
        return plain(type, bytes);
    }

    bool open(char bracket)
    {
        if (room_ == 0) {
            return trouble_.refuse("is nested too deep", rpc_code::parse_error);
        }
        --room_;
        out_.put(bracket);
        return true;
    }

    bool close(char bracket)
    {
        ++room_;
        out_.put(bracket);
        return out_.size() <= most_ || trouble_.refuse("is larger than the limit", rpc_code::invalid_request);
    }

    // The next field that the type knows, in `row`; null at the end. False: malformed.
    [[gnu::always_inline]] bool
    next(wire_reader& in, const message_type& type, wire_field& field, const field_row*& row)
    {
        row = nullptr;
        if (in.next_short(field)) {
            const auto* const found = type.find(field.number);
            if (found != nullptr && found->wire() == wire_type::delimited) {
                row = found;
                return true;
            }
            if (!drop(found)) {
                return false;
            }
        }
        return in.done() || next_known(in, type, field, row);
    }

    [[gnu::noinline]] bool
    next_known(wire_reader& in, const message_type& type, wire_field& field, const field_row*& row)
    {
        while (!in.done()) {
            if (!in.next(field)) {
                return trouble_.refuse(in.why(), rpc_code::parse_error);
            }
            const auto* const found = type.find(field.number);
            if (found != nullptr && found->wire() == field.type) {
                row = found;
                return true;
            }
            if (!drop(found)) {
                return false;
            }
        }
        return true;
    }

    // A field that is not known, or not so. A request with one tenant may go on as it came, to readers that see its number alone.
    bool drop(const field_row* known)
    {
        ++counts_.lost;
        if (known == nullptr || !passes_) {
            return true;
        }
        trouble_.refuse("has another wire type");
        return trouble_.within(known->json_name());
    }

    bool plain(const message_type& type, std::string_view bytes)
    {
        if (!open('{')) {
            return false;
        }
        wire_reader in{bytes};
        wire_field field;
        const field_row* row = nullptr;
        bool first = true;
        std::uint32_t seen = 0;
        if (!next(in, type, field, row)) {
            return false;
        }
        while (row != nullptr) {
            const auto bit = 1U << type.index_of(*row);
            if ((seen & (row->alone | bit)) != 0) {
                irregular_ = true;
                return false;
            }
            seen |= bit;
            if (row->label == field_label::filled && is_default(*row, field)) {
                if (!next(in, type, field, row)) {
                    return false;
                }
                continue;
            }
            out_.put(first ? row->key.substr(1) : row->key);
            first = false;
            if (row->alone == 0) {
                if (!elements(in, type, field, row)) {
                    return false;
                }
            } else if (!single(*row, field)) {
                return trouble_.within(row->json_name());
            } else if (!next(in, type, field, row)) {
                return false;
            }
        }
        return close('}');
    }

    // Only the lower 32 bits of a number count.
    static bool is_default(const field_row& row, const wire_field& field) noexcept
    {
        if (field.type == wire_type::delimited) {
            return field.bytes.empty();
        }
        return row.kind == field_kind::boolean ? field.value == 0 : static_cast<std::uint32_t>(field.value) == 0;
    }

    // All elements of a repeated field or a map that stand together, the first of them in `field`; then the field behind them.
    bool elements(wire_reader& in, const message_type& type, wire_field& field, const field_row*& row)
    {
        const auto& repeated = *row;
        const bool is_map = repeated.label == field_label::map;
        if (!open(is_map ? '{' : '[')) {
            return trouble_.within(repeated.json_name());
        }
        for (std::size_t i = 0; row == &repeated; ++i) {
            if (i > 0) {
                out_.put(',');
            }
            if (is_map ? !entry(*repeated.message, field.bytes) : !single(repeated, field)) {
                return is_map ? trouble_.within(repeated.json_name()) : trouble_.within(repeated.json_name(), i);
            }
            if (!next(in, type, field, row)) {
                return false;
            }
        }
        return close(is_map ? '}' : ']');
    }

    // `"key":value`
    bool entry(const message_type& type, std::string_view bytes)
    {
        wire_field key;
        wire_field value;
        wire_reader in{bytes};
        const bool is_short =
            in.next_short(key) && key.number == 1 && in.next_short(value) && value.number == 2 && in.done();
        if (!is_short && !read_entry(type, bytes, key, value)) {
            return false;
        }
        if (!text(key.bytes)) {
            return false;
        }
        out_.put(':');
        return single(type.fields[1], value) || trouble_.within_key(key.bytes);
    }

    [[gnu::noinline]] bool
    read_entry(const message_type& type, std::string_view bytes, wire_field& key, wire_field& value)
    {
        key = value = {};
        bool has_value = false;
        wire_reader in{bytes};
        wire_field field;
        const field_row* row = nullptr;
        while (next(in, type, field, row) && row != nullptr) {
            if (row == &type.fields[0]) {
                key = field;
            } else if (!has_value) {
                has_value = true;
                value = field;
            } else {
                irregular_ = true;
                return false;
            }
        }
        return !trouble_.any();
    }

    bool single(const field_row& row, const wire_field& field)
    {
        switch (row.kind) {
            case field_kind::text:
                return text(field.bytes);
            case field_kind::bytes:
                out_.put('"');
                out_.took(core::put_base64(out_.room(core::base64_size(field.bytes.size())), field.bytes));
                out_.put('"');
                return true;
            case field_kind::boolean:
                out_.put(field.value != 0 ? std::string_view{"true"} : std::string_view{"false"});
                return true;
            case field_kind::int32:
                put_double(out_, static_cast<std::int32_t>(field.value));
                return true;
            case field_kind::enumeration:
                enumeration(*row.enumeration, static_cast<std::int32_t>(field.value));
                return true;
            case field_kind::message:
                return message(*row.message, field.bytes);
            case field_kind::number:
                return number(std::bit_cast<double>(field.value));
            case field_kind::int64:
                break;  // only in a timestamp
        }
        return trouble_.refuse("has a kind that JSON has no form for");
    }

    bool text(std::string_view bytes) { return put_json_text(out_, bytes) || trouble_.refuse("is not UTF-8"); }

    // A number that has no name is written as it is.
    void enumeration(const enum_type& type, std::int32_t number)
    {
        if (number >= 0 && static_cast<std::size_t>(number) < type.names.size()) {
            out_.put('"');
            out_.put(type.names[static_cast<std::size_t>(number)]);
            out_.put('"');
        } else {
            put_double(out_, number);
        }
    }

    bool number(double value)
    {
        if (!std::isfinite(value)) {
            return trouble_.refuse("is not a finite number");
        }
        put_double(out_, value);
        return true;
    }

    bool structure(const message_type& type, std::string_view bytes)
    {
        return bracketed(
            type,
            bytes,
            '{',
            '}',
            [this](std::size_t /*i*/, const field_row& row, std::string_view element) {
                return entry(*row.message, element);
            }
        );
    }

    bool list(const message_type& type, std::string_view bytes)
    {
        return bracketed(type, bytes, '[', ']', [this](std::size_t i, const field_row& row, std::string_view element) {
            return message(*row.message, element) || trouble_.within({}, i);
        });
    }

    // A message of one repeated field, written as its elements.
    template <class Each>
    bool bracketed(const message_type& type, std::string_view bytes, char opening, char closing, Each&& each)
    {
        if (!open(opening)) {
            return false;
        }
        wire_reader in{bytes};
        wire_field field;
        const field_row* row = nullptr;
        for (std::size_t i = 0; next(in, type, field, row); ++i) {
            if (row == nullptr) {
                return close(closing);
            }
            if (i > 0) {
                out_.put(',');
            }
            if (!each(i, *row, field.bytes)) {
                return false;
            }
        }
        return false;
    }

    bool value(const message_type& type, std::string_view bytes)
    {
        wire_reader in{bytes};
        wire_field field;
        const field_row* row = nullptr;
        if (!next(in, type, field, row)) {
            return false;
        }
        if (!in.done()) {
            wire_field after;
            const field_row* second = nullptr;
            if (!next(in, type, after, second)) {
                return false;
            }
            if (second != nullptr) {
                irregular_ = true;
                return false;
            }
        }
        if (row == nullptr || row->kind == field_kind::enumeration) {
            out_.put("null");
            return true;
        }
        return single(*row, field);
    }

    // RFC 3339 in UTC, with as many digits of the fraction as it takes in threes.
    bool timestamp(const message_type& type, std::string_view bytes)
    {
        std::int64_t seconds = 0;
        std::int32_t nanos = 0;
        wire_reader in{bytes};
        wire_field field;
        const field_row* row = nullptr;
        while (next(in, type, field, row) && row != nullptr) {
            if (row->kind == field_kind::int64) {
                seconds = static_cast<std::int64_t>(field.value);
            } else {
                nanos = static_cast<std::int32_t>(field.value);
            }
        }
        constexpr std::int64_t first = -62135596800;  // 0001-01-01T00:00:00Z
        constexpr std::int64_t last = 253402300799;   // 9999-12-31T23:59:59Z
        if (trouble_.any()) {
            return false;
        }
        if (seconds < first || seconds > last || nanos < 0 || nanos > 999'999'999) {
            return trouble_.refuse("is not a time of the years 1 to 9999");
        }
        moment(std::chrono::sys_seconds{std::chrono::seconds{seconds}}, static_cast<unsigned>(nanos));
        return true;
    }

    void moment(std::chrono::sys_seconds at, unsigned nanos)
    {
        const auto day = std::chrono::floor<std::chrono::days>(at);
        const std::chrono::year_month_day date{day};
        const std::chrono::hh_mm_ss time{at - day};
        out_.put('"');
        put_digits(out_, static_cast<unsigned>(static_cast<int>(date.year())), 4);
        const auto two = [this](char before, auto number) {
            out_.put(before);
            put_digits(out_, static_cast<unsigned>(number), 2);
        };
        two('-', static_cast<unsigned>(date.month()));
        two('-', static_cast<unsigned>(date.day()));
        two('T', time.hours().count());
        two(':', time.minutes().count());
        two(':', time.seconds().count());
        if (nanos != 0) {
            out_.put('.');
            const unsigned digits = nanos % 1'000'000 == 0 ? 3 : nanos % 1'000 == 0 ? 6 : 9;
            put_digits(out_, nanos / (digits == 3 ? 1'000'000 : digits == 6 ? 1'000 : 1), digits);
        }
        out_.put("Z\"");
    }

    unsigned room_;     // how many more containers may be opened
    std::size_t most_;  // of `out_`
    text_sink out_;
    trouble trouble_;
    conversion counts_;
    bool passes_;
    bool irregular_ = false;
};

// Whether the outermost message has one tenant at most.
bool has_one_tenant(const message_type& type, std::string_view bytes)
{
    wire_reader in{bytes};
    wire_field field;
    std::size_t count = 0;
    while (!in.done() && in.next(field)) {
        const auto* const row = type.find(field.number);
        count += row != nullptr && row->wire() == field.type && row->name == "tenant" ? 1 : 0;
    }
    return count <= 1;
}

// `out` is as it was after a failure.
translation<conversion> convert(
    const message_type& type,
    std::string_view bytes,
    const codec_options& options,
    std::string& out,
    bool& irregular
)
{
    const auto before = out.size();
    json_maker make{options, bytes.size(), out};
    if (make.document(type, bytes)) {
        return make.counts();
    }
    out.resize(before);
    irregular = make.irregular();
    return make.why().take();
}

}  // namespace

translation<conversion>
to_json(const message_type& type, std::string_view bytes, const codec_options& options, std::string& out)
{
    const auto before = out.size();
    bool irregular = false;
    auto done = convert(type, bytes, options, out, irregular);
    if (!irregular) {
        return done;
    }
    trouble why{options.from_agent};
    std::string canonical;
    if (const auto malformed = append_canonical(canonical, type, bytes); !malformed.empty()) {
        why.refuse(malformed, rpc_code::parse_error);
        return why.take();
    }
    if (options.tenant_once && !has_one_tenant(type, bytes)) {
        why.refuse("is given twice");
        why.within("tenant");
        return why.take();
    }
    out.resize(before);
    return convert(type, canonical, options, out, irregular);
}

}  // namespace a2a::protobuf
