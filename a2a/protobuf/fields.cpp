#include "a2a/protobuf/fields.hpp"

#include "a2a/protobuf/message_type.hpp"
#include "a2a/protobuf/trouble.hpp"
#include "a2a/protobuf/wire_reader.hpp"
#include "a2a/protobuf/wire_writer.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace a2a::protobuf {
namespace {

const field_row* find_row(const message_type& type, std::string_view json_name) noexcept
{
    const auto found = std::ranges::find(type.fields, json_name, &field_row::json_name);
    return found == type.fields.end() ? nullptr : &*found;
}

bool is_utf8(std::string_view text) noexcept
{
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const auto length = static_cast<unsigned char>(*at) < 0x80 ? 1 : core::utf8_length(at, end);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

// Calls `each(wire_field)` for the field that `row` says. False: not a message, two of what is to be one, or `each` said so.
template <class Each>
bool for_each(const field_row& row, std::string_view bytes, trouble& why, Each&& each)
{
    wire_reader in{bytes};
    wire_field field;
    bool seen = false;
    while (!in.done()) {
        if (!in.next(field)) {
            return why.refuse(in.why(), rpc_code::parse_error);
        }
        if (field.number != row.number || field.type != row.wire()) {
            continue;
        }
        if (row.alone != 0 && seen) {
            why.refuse("is given twice");
            return why.within(row.json_name());
        }
        seen = true;
        if (!each(field)) {
            return why.any() && why.within(row.json_name());
        }
    }
    return true;
}

bool walk(
    const message_type& type,
    std::string_view bytes,
    std::string_view path,
    trouble& why,
    const std::function<bool(std::string_view)>& each
)
{
    const auto name = path.substr(0, path.find('.'));
    const auto rest = path.substr(std::min(name.size() + 1, path.size()));
    const auto* const row = find_row(type, name);
    if (row == nullptr || row->kind != (rest.empty() ? field_kind::text : field_kind::message)) {
        throw std::logic_error{"a message has no such string"};
    }
    return for_each(*row, bytes, why, [&](const wire_field& field) {
        if (!rest.empty()) {
            return walk(*row->message, field.bytes, rest, why, each);
        }
        return is_utf8(field.bytes) ? each(field.bytes) : why.refuse("is not UTF-8");
    });
}

}  // namespace

translation<tenant_field> find_tenant(const message_type& type, std::string_view bytes)
{
    tenant_field found;
    const auto* const row = find_row(type, "tenant");
    if (row == nullptr) {
        return found;
    }
    trouble why{false};
    const bool good = for_each(*row, bytes, why, [&](const wire_field& field) {
        found.value = field.bytes;
        found.begin = static_cast<std::size_t>(field.raw.data() - bytes.data());
        found.end = found.begin + field.raw.size();
        return is_utf8(field.bytes) || why.refuse("is not UTF-8");
    });
    if (!good) {
        return why.take();
    }
    return found;
}

void append_tenant(std::string& out, const message_type& type, std::string_view tenant)
{
    const auto* const row = find_row(type, "tenant");
    if (row != nullptr && !tenant.empty()) {
        wire_writer to{out, tenant.size() + 16};
        to.delimited(row->number, tenant);
        to.finish();
    }
}

translation<> set_tenant(const message_type& type, std::string& bytes, std::string_view tenant)
{
    const auto found = find_tenant(type, bytes);
    if (!found) {
        return found.error();
    }
    std::string field;
    append_tenant(field, type, tenant);
    bytes.replace(found->begin, found->end - found->begin, field);
    return {};
}

translation<std::string_view> find_string(const message_type& type, std::string_view bytes, std::string_view path)
{
    std::optional<std::string_view> first;
    auto outcome = each_string(type, bytes, path, [&first](std::string_view text) {
        first = first ? first : text;
        return true;  // a second one is to be refused
    });
    if (!outcome) {
        return std::move(outcome).error();
    }
    return first.value_or(std::string_view{});
}

translation<> each_string(
    const message_type& type,
    std::string_view bytes,
    std::string_view path,
    const std::function<bool(std::string_view)>& each
)
{
    trouble why{false};
    if (!walk(type, bytes, path, why, each) && why.any()) {
        return why.take();
    }
    return {};
}

}  // namespace a2a::protobuf
