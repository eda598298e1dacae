// The form of the tables, which tables.py writes from the pinned files: one row for each message and field. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace a2a::protobuf {

// How a value stands on the wire (protobuf.dev "Encoding", "Message Structure").
enum class wire_type : std::uint8_t { varint, fixed64, delimited, group_begin, group_end, fixed32 };

enum class field_kind : std::uint8_t { text, bytes, boolean, int32, int64, number, enumeration, message };

// `filled`: left out if it has the default value; `present`: counts with any value.
enum class field_label : std::uint8_t { filled, present, repeated, map };

// The messages that ProtoJSON writes in a form of their own.
enum class message_kind : std::uint8_t { plain, structure, value, list, timestamp };

struct message_type;

// The name of each number, from 0 on.
struct enum_type {
    std::span<const std::string_view> names;
};

struct field_row {
    std::string_view key;   // `,"messageId":`
    std::string_view name;  // in the .proto file
    std::uint32_t number = 0;
    field_kind kind = field_kind::text;
    field_label label = field_label::filled;
    std::uint32_t alone =
        0;  // bits of the rows that may not stand beside it: its own, and those of its oneof; 0: repeated
    const message_type* message =
        nullptr;  // of a message; of a map, its entry: field 0 is the key, a text, and field 1 the value
    const enum_type* enumeration = nullptr;

    constexpr std::string_view json_name() const noexcept { return key.substr(2, key.size() - 4); }

    constexpr wire_type wire() const noexcept
    {
        switch (kind) {
            case field_kind::boolean:
            case field_kind::int32:
            case field_kind::int64:
            case field_kind::enumeration:
                return wire_type::varint;
            case field_kind::number:
                return wire_type::fixed64;
            case field_kind::text:
            case field_kind::bytes:
            case field_kind::message:
                break;
        }
        return wire_type::delimited;
    }
};

struct message_type {
    static constexpr std::size_t most_numbers = 32;

    consteval message_type(std::string_view full_name, message_kind form, std::span<const field_row> in_order)
        : name{full_name},
          kind{form},
          fields{in_order}
    {
        for (std::size_t i = 0; i < in_order.size(); ++i) {
            by_number[in_order[i].number] = static_cast<std::uint8_t>(i + 1);
        }
    }

    // Null: there is none.
    constexpr const field_row* find(std::uint64_t number) const noexcept
    {
        const auto i = number < most_numbers ? by_number[number] : 0U;
        return i == 0 ? nullptr : &fields[i - 1];
    }

    constexpr std::size_t index_of(const field_row& row) const noexcept
    {
        return static_cast<std::size_t>(&row - fields.data());
    }

    std::string_view name;  // `lf.a2a.v1.Message`
    message_kind kind = message_kind::plain;
    std::span<const field_row> fields;                   // by number
    std::array<std::uint8_t, most_numbers> by_number{};  // one more than the index in `fields`
};

}  // namespace a2a::protobuf
