// Written by tables.py. Do not edit.
// clang-format off
#include "a2a/protobuf/tables.hpp"

#include "a2a/protobuf/message_type.hpp"

#include <array>

namespace a2a::protobuf::google {
namespace {

constexpr std::array<std::string_view, 1> null_value_names{
    "NULL_VALUE",
};

}  // namespace

constexpr enum_type null_value{null_value_names};

namespace {

constexpr std::array<field_row, 1> list_value_rows{
    field_row{R"(,"values":)", "values", 1, field_kind::message, field_label::repeated, 0x0, &google::value},
};

constexpr std::array<field_row, 1> structure_rows{
    field_row{R"(,"fields":)", "fields", 1, field_kind::message, field_label::map, 0x0, &google::struct_fields_entry},
};

constexpr std::array<field_row, 2> struct_fields_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::message, field_label::present, 0x2, &google::value},
};

constexpr std::array<field_row, 2> timestamp_rows{
    field_row{R"(,"seconds":)", "seconds", 1, field_kind::int64, field_label::filled, 0x1},
    field_row{R"(,"nanos":)", "nanos", 2, field_kind::int32, field_label::filled, 0x2},
};

constexpr std::array<field_row, 6> value_rows{
    field_row{R"(,"nullValue":)", "null_value", 1, field_kind::enumeration, field_label::present, 0x3f, nullptr, &google::null_value},
    field_row{R"(,"numberValue":)", "number_value", 2, field_kind::number, field_label::present, 0x3f},
    field_row{R"(,"stringValue":)", "string_value", 3, field_kind::text, field_label::present, 0x3f},
    field_row{R"(,"boolValue":)", "bool_value", 4, field_kind::boolean, field_label::present, 0x3f},
    field_row{R"(,"structValue":)", "struct_value", 5, field_kind::message, field_label::present, 0x3f, &google::structure},
    field_row{R"(,"listValue":)", "list_value", 6, field_kind::message, field_label::present, 0x3f, &google::list_value},
};

}  // namespace

constinit const message_type empty{"google.protobuf.Empty", message_kind::plain, {}};
constinit const message_type list_value{"google.protobuf.ListValue", message_kind::list, list_value_rows};
constinit const message_type structure{"google.protobuf.Struct", message_kind::structure, structure_rows};
constinit const message_type struct_fields_entry{"google.protobuf.Struct.FieldsEntry", message_kind::plain, struct_fields_entry_rows};
constinit const message_type timestamp{"google.protobuf.Timestamp", message_kind::timestamp, timestamp_rows};
constinit const message_type value{"google.protobuf.Value", message_kind::value, value_rows};

}  // namespace a2a::protobuf::google
