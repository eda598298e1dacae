#include "a2a/dialect/timestamp.hpp"
#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/message_type.hpp"
#include "a2a/protobuf/tables.hpp"
#include "a2a/protobuf/text.hpp"
#include "a2a/protobuf/wire.hpp"
#include "core/base64.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace a2a::protobuf {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

namespace value_field {
enum : std::uint32_t { null = 1, number, text, boolean, structure, list };
}

constexpr std::size_t longest_name = 64;  // longer than any of the tables

class wire_maker {
public:
    wire_maker(std::string_view json, const codec_options& options, std::string& out)
        : options_{options},
          cursor_{json, options.depth},
          most_{out.size() + options.bytes},
          writer_{out, json.size()},
          trouble_{options.from_agent}
    {
    }

    bool document(const message_type& type)
    {
        cursor_.skip_space();
        if (!message(type) || !(cursor_.finish() || not_json())) {
            return false;
        }
        writer_.finish();
        return true;
    }

    trouble& why() noexcept { return trouble_; }
    conversion counts() const noexcept { return counts_; }

private:
    bool not_json()
    {
        const bool deep = cursor_.why() == "nested too deep";
        return trouble_.refuse(deep ? "is nested too deep" : "is not JSON", rpc_code::parse_error);
    }

    bool fits()
    {
        return writer_.size() <= most_ || trouble_.refuse("is larger than the limit", rpc_code::invalid_request);
    }

    // Passes over the value that comes next.
    bool take(std::string_view& raw)
    {
        const char* const begin = cursor_.position();
        if (!cursor_.value()) {
            return not_json();
        }
        raw = {begin, static_cast<std::size_t>(cursor_.position() - begin)};
        return true;
    }

    // Opens a container and calls `each` at its elements or the names of its members.
    template <class Each>
    bool container(char bracket, std::string_view why, Each&& each)
    {
        if (cursor_.peek() != bracket) {
            return wrong(why);
        }
        if (!cursor_.open(bracket)) {
            return not_json();
        }
        if (cursor_.close()) {
            return true;
        }
        do {
            if (!each() || !fits()) {
                return false;
            }
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close() || not_json();
    }

    // A value of another type than that of its member, unless it is no value at all.
    bool wrong(std::string_view why)
    {
        std::string_view raw;
        return take(raw) && trouble_.refuse(why);
    }

    template <class Each>
    bool members(Each&& each)
    {
        return container('{', "must be an object", [&] {
            std::string_view name;
            bool escaped = false;
            return cursor_.name(name, escaped) ? each(name, escaped) : not_json();
        });
    }

    bool message(const message_type& type)
    {
        switch (type.kind) {
            case message_kind::structure:
                return map(type.fields[0]);
            case message_kind::value:
                return value();
            case message_kind::list:
                return list(type.fields[0]);
            case message_kind::timestamp:
                return timestamp();
            case message_kind::plain:
                break;
        }
        std::uint32_t seen = 0;
        std::size_t hint = 0;
        return members([&](std::string_view name, bool escaped) {
            const auto* const row = find(type, name, escaped, hint);
            if (row == nullptr) {
                ++counts_.lost;
                std::string_view raw;
                return take(raw);
            }
            return member(type, *row, seen) || trouble_.within(row->json_name());
        });
    }

    // Members mostly come in the order of the table.
    static const field_row* find(const message_type& type, std::string_view name, bool escaped, std::size_t& hint)
    {
        std::string room;
        if (escaped) {
            if (name.size() > 6 * longest_name) {
                return nullptr;
            }
            room = core::unescape_json(name);
            name = room;
        }
        const auto count = type.fields.size();
        for (std::size_t i = 0; i < count; ++i) {
            const auto at = hint + i < count ? hint + i : hint + i - count;
            const auto& row = type.fields[at];
            if (row.json_name() == name || row.name == name) {
                hint = at + 1 < count ? at + 1 : 0;
                return &row;
            }
        }
        return nullptr;
    }

    bool member(const message_type& type, const field_row& row, std::uint32_t& seen)
    {
        const bool null_counts = row.kind == field_kind::message && row.message->kind == message_kind::value;
        if (cursor_.peek() == 'n' && !null_counts) {
            std::string_view raw;
            return take(raw);
        }
        const auto bit = 1U << type.index_of(row);
        if ((seen & bit) != 0) {
            return trouble_.refuse("is given twice");
        }
        if ((seen & row.alone) != 0) {
            return trouble_.refuse("is one of two contents");
        }
        seen |= bit;
        if (row.label == field_label::map) {
            return map(row);
        }
        return row.label == field_label::repeated ? list(row) : single(row, row.label == field_label::filled);
    }

    bool list(const field_row& row)
    {
        std::size_t i = 0;
        return container('[', "must be an array", [&] {
            return single(row, false) ? (++i, true) : trouble_.within({}, i);
        });
    }

    bool map(const field_row& row)
    {
        const auto& of_value = row.message->fields[1];
        return members([&](std::string_view key, bool /*escaped*/) {
            const auto begun = writer_.open(row.number);
            if (!text(1, key)) {
                return false;
            }
            const bool good = single(of_value, false);
            writer_.close(begun);
            return good || trouble_.within_key(key);
        });
    }

    // `raw` is what stands between the quotes.
    bool text(std::uint32_t number, std::string_view raw)
    {
        if (raw.find('\\') == std::string_view::npos) {
            writer_.delimited(number, raw);
            return true;
        }
        const auto begun = writer_.open(number);
        const bool good = put_unescaped(writer_.sink(), raw);
        writer_.close(begun);
        return good || trouble_.refuse("has half a surrogate pair");
    }

    bool single(const field_row& row, bool only_filled)
    {
        if (row.kind == field_kind::message) {
            const auto begun = writer_.open(row.number);
            const bool good = message(*row.message);
            writer_.close(begun);
            return good;
        }
        std::string_view raw;
        if (!take(raw)) {
            return false;
        }
        const bool quoted = raw.starts_with('"');
        const auto inside = quoted ? raw.substr(1, raw.size() - 2) : raw;
        switch (row.kind) {
            case field_kind::text:
                if (!quoted) {
                    return trouble_.refuse("must be a string");
                }
                return (only_filled && inside.empty()) || text(row.number, inside);
            case field_kind::bytes:
                return quoted ? base64(row, inside) : trouble_.refuse("must be a string of base64");
            case field_kind::boolean:
                if (raw != "true" && raw != "false") {
                    return trouble_.refuse("must be true or false");
                }
                return varint(row, raw == "true" ? 1 : 0, only_filled);
            case field_kind::int32:
                return whole(row, inside, only_filled);
            case field_kind::enumeration:
                return quoted ? enumeration(row, inside, only_filled) : whole(row, inside, only_filled);
            default:
                return trouble_.refuse("has a kind that JSON has no form for");
        }
    }

    bool varint(const field_row& row, std::int64_t value, bool only_filled)
    {
        if (value != 0 || !only_filled) {
            writer_.tag(row.number, wire_type::varint);
            writer_.varint(static_cast<std::uint64_t>(value));
        }
        return true;
    }

    bool base64(const field_row& row, std::string_view inside)
    {
        const auto begun = writer_.open(row.number);
        const bool escaped = inside.find('\\') != std::string_view::npos;  // `\/`
        const auto plain = escaped ? core::unescape_json(inside) : std::string{};
        char* const end = core::put_from_base64(writer_.sink().room(inside.size()), escaped ? plain : inside);
        if (end == nullptr) {
            return trouble_.refuse("must be base64");
        }
        writer_.sink().took(end);
        writer_.close(begun);
        return true;
    }

    // A number without a fraction, also as a string and in any spelling (1.0, 1e2).
    bool whole(const field_row& row, std::string_view digits, bool only_filled)
    {
        const auto* const end = digits.data() + digits.size();
        const auto value = core::number_end(digits.data(), end) == end ? nearest_double(digits) : std::nullopt;
        if (!value || *value != std::trunc(*value)) {
            return trouble_.refuse("must be a whole number");
        }
        if (*value < std::numeric_limits<std::int32_t>::min() || *value > std::numeric_limits<std::int32_t>::max()) {
            return trouble_.refuse("is a number that is too large");
        }
        return varint(row, static_cast<std::int64_t>(*value), only_filled);
    }

    bool enumeration(const field_row& row, std::string_view name, bool only_filled)
    {
        const auto names = row.enumeration->names;
        const auto found = std::ranges::find(names, name);
        if (found != names.end()) {
            return varint(row, found - names.begin(), only_filled);
        }
        if (!options_.from_agent) {
            return trouble_.refuse("is a name that does not exist");
        }
        ++counts_.lost;
        return true;
    }

    bool value()
    {
        std::string_view raw;
        switch (cursor_.peek()) {
            case '{':
            case '[': {
                const bool is_object = cursor_.peek() == '{';
                const auto begun = writer_.open(is_object ? value_field::structure : value_field::list);
                const bool good = message(is_object ? google::structure : google::list_value);
                writer_.close(begun);
                return good;
            }
            case '"':
                return take(raw) && text(value_field::text, raw.substr(1, raw.size() - 2));
            case 't':
            case 'f':
            case 'n':
                if (!take(raw)) {
                    return false;
                }
                writer_.tag(raw == "null" ? value_field::null : value_field::boolean, wire_type::varint);
                writer_.varint(raw == "true" ? 1 : 0);
                return true;
            default:
                return take(raw) && number(raw);
        }
    }

    bool number(std::string_view raw)
    {
        const auto read = nearest_double(raw);
        if (!read) {
            return trouble_.refuse("is a number that is too large");
        }
        if (!is_exactly(raw, *read)) {
            if (!options_.from_agent) {
                return trouble_.refuse("is a number that no double equals");
            }
            ++counts_.rounded;
        }
        writer_.tag(value_field::number, wire_type::fixed64);
        writer_.fixed64(std::bit_cast<std::uint64_t>(*read));
        return true;
    }

    bool timestamp()
    {
        std::string_view raw;
        if (!take(raw)) {
            return false;
        }
        const auto read = read_timestamp(raw);
        if (!read) {
            return trouble_.refuse("must be a time of RFC 3339 in the years 1 to 9999");
        }
        const auto& type = google::timestamp;
        return varint(type.fields[0], read->at.time_since_epoch().count(), true) &&
               varint(type.fields[1], read->nanos, true);
    }

    const codec_options& options_;
    cursor_type cursor_;
    std::size_t most_;  // of the text with what was before it
    wire_writer writer_;
    trouble trouble_;
    conversion counts_;
};

}  // namespace

translation<conversion>
to_protobuf(const message_type& type, std::string_view json, const codec_options& options, std::string& out)
{
    const auto before = out.size();
    wire_maker make{json, options, out};
    if (make.document(type)) {
        return make.counts();
    }
    out.resize(before);
    return make.why().take();
}

}  // namespace a2a::protobuf
