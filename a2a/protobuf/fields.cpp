#include "a2a/protobuf/fields.hpp"

#include "a2a/protobuf/wire.hpp"
#include "core/json/json_writer.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <utility>

namespace a2a::protobuf {
namespace {

constexpr unsigned varint_bits = 7;
constexpr unsigned longest_value = 10 * varint_bits;  // of a varint; tags and lengths have five bytes at most
constexpr unsigned longest_head = 5 * varint_bits;

const field_row* tenant_of(const message_type& type) noexcept
{
    const auto found = std::ranges::find(type.fields, std::string_view{"tenant"}, &field_row::json_name);
    return found == type.fields.end() ? nullptr : &*found;
}

struct shown {
    const field_row* as = nullptr;  // the wrapper; null: there is none
    const field_row* id_as = nullptr;
    const field_row* state_as = nullptr;
    std::string_view id;
    std::string_view context;
    std::uint64_t state = 0;
    bool status = false;
    bool artifact = false;
};

bool is_wrapper(std::string_view name) noexcept
{
    return name == "task" || name == "message" || name == "statusUpdate" || name == "artifactUpdate";
}

// `level`: 0 for the answer, 1 within a wrapper, 2 within a status.
bool read_shown(const message_type& type, std::string_view bytes, unsigned level, shown& to)
{
    wire_reader reader{bytes};
    wire_field field;
    while (!reader.done()) {
        if (!reader.next(field)) {
            return false;
        }
        const auto* const row = type.find(field.number);
        if (row == nullptr || row->wire() != field.type) {
            continue;
        }
        const auto name = row->json_name();
        if (level < 2 && (name == "id" || name == "taskId")) {
            to.id_as = row;
            to.id = field.bytes;
        } else if (level < 2 && name == "contextId") {
            to.context = field.bytes;
        } else if (level < 2 && name == "artifact") {
            to.artifact = true;
        } else if (level < 2 && name == "status" && row->kind == field_kind::message) {
            to.status = true;
            if (!read_shown(*row->message, field.bytes, 2, to)) {
                return false;
            }
        } else if (level == 2 && name == "state") {
            to.state_as = row;
            to.state = field.value;
        } else if (level == 0 && is_wrapper(name) && row->kind == field_kind::message) {
            if (to.as != row) {  // of one oneof
                to = shown{};
                to.as = row;
            }
            if (!read_shown(*row->message, field.bytes, 1, to)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

bool append_shown(const message_type& type, std::string_view bytes, std::string& json)
{
    shown found;
    if (!read_shown(type, bytes, 0, found)) {
        return false;
    }
    core::json_writer outer{json, '{'};
    if (found.as != nullptr) {
        outer.name(found.as->json_name());
        json += '{';
    }
    core::json_writer in{json};
    if (!found.id.empty()) {
        in.member(found.id_as->json_name(), found.id);
    }
    if (!found.context.empty()) {
        in.member("contextId", found.context);
    }
    if (found.status) {
        in.name("status");
        core::json_writer status{json, '{'};
        const auto* const names = found.state_as == nullptr ? nullptr : found.state_as->enumeration;
        if (names != nullptr && found.state < names->names.size()) {
            status.member("state", names->names[found.state]);
        }
        status.close('}');
    }
    if (found.artifact) {
        in.raw_member("artifact", "{}");
    }
    json += found.as != nullptr ? "}}" : "}";
    return true;
}

void replace_tenant(const message_type& type, std::string& bytes, field_place old, std::string_view tenant)
{
    const auto* const row = tenant_of(type);
    std::string field;
    if (row != nullptr && !tenant.empty()) {
        wire_writer to{field, tenant.size() + 16};
        to.delimited(row->number, tenant);
        to.finish();
    }
    bytes.replace(old.begin, old.end - old.begin, field);
}

bool request_scan::refuse(std::string_view why, int code)
{
    trouble found{false};
    found.refuse(why, code);
    if (row_ != nullptr) {
        found.within(row_->json_name());
    }
    for (auto i = depth_; i > 0; --i) {
        found.within(levels_[i].row->json_name());
    }
    refused_ = found.take();
    return false;
}

// Whether what is to be found stands within this message.
bool request_scan::descends() const noexcept
{
    if (row_->kind != field_kind::message || row_->alone == 0 || depth_ + 1 == levels_.size()) {
        return false;
    }
    const auto name = row_->json_name();
    return name == "message" || name == "configuration" || name == "taskPushNotificationConfig" ||
           name == "pushNotification";
}

bool request_scan::is_wanted() const noexcept
{
    if (row_->kind != field_kind::text) {
        return false;
    }
    const auto name = row_->json_name();
    if (depth_ < 2) {
        return depth_ == 0 ? name == "tenant" : name == "taskId" || name == "contextId" || name == "referenceTaskIds";
    }
    return name == "taskId" || name == "url";
}

translation<> request_scan::feed(std::string_view bytes, const visitor& each)
{
    for (bool good = true; good;) {
        while (at_part_ == part::tag && shift_ == 0 && depth_ > 0 && at_ == here().end) {
            --depth_;
        }
        if (bytes.empty() || at_part_ == part::nothing) {
            return {};
        }
        const bool counted = at_part_ == part::bytes || at_part_ == part::text;
        good = counted ? take_bytes(bytes, each) : read_varint(bytes, each);
    }
    return std::move(refused_);
}

// Takes the next of the bytes at hand off the front.
bool request_scan::take_bytes(std::string_view& bytes, const visitor& each)
{
    const auto piece = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
    bytes.remove_prefix(piece.size());
    at_ += piece.size();
    left_ -= piece.size();
    if (at_part_ == part::text) {
        return take_text(piece, each);
    }
    at_part_ = left_ == 0 ? part::tag : part::bytes;
    return true;
}

// Takes the next varint off the front, as far as it has come.
bool request_scan::read_varint(std::string_view& bytes, const visitor& each)
{
    if (at_part_ == part::tag && shift_ == 0) {
        begin_ = at_;
        row_ = nullptr;
    }
    std::uint64_t value = static_cast<unsigned char>(bytes.front());
    if (shift_ == 0 && value < 0x80 && at_ < here().end) {  // as most are
        bytes.remove_prefix(1);
        ++at_;
    } else {
        const auto most = at_part_ == part::varint ? longest_value : longest_head;
        const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), here().end - at_));
        std::size_t size = 0;
        bool more = true;
        value = value_;
        while (more && size < room && shift_ < most) {
            const auto bits = static_cast<unsigned char>(bytes[size++]);
            value |= static_cast<std::uint64_t>(bits & 0x7FU) << shift_;
            shift_ += varint_bits;
            more = (bits & 0x80U) != 0;
        }
        bytes.remove_prefix(size);
        at_ += size;
        value_ = value;
        if (more) {
            return shift_ < most ? at_ < here().end || malformed("is cut off")
                                 : malformed("has a varint that is too long");
        }
        shift_ = 0;
        value_ = 0;
    }
    switch (at_part_) {
        case part::tag:
            return begin_field(value);
        case part::length:
            return begin_value(value, each);
        default:
            at_part_ = part::tag;
            return true;
    }
}

bool request_scan::begin_field(std::uint64_t tag)
{
    if (tag >> 3U == 0 || tag > 0xFFFF'FFFFU) {
        return malformed("has a field number that does not exist");
    }
    const auto form = static_cast<wire_type>(tag & 7U);
    row_ = here().type->find(tag >> 3U);
    if (row_ != nullptr && !descends() && !is_wanted()) {
        row_ = nullptr;
    }
    switch (form) {
        case wire_type::delimited:
            at_part_ = part::length;
            return true;
        case wire_type::varint:
        case wire_type::fixed64:
        case wire_type::fixed32:
            if (row_ != nullptr) {
                return refuse("has another wire type", rpc_code::invalid_params);  // some readers see the number alone
            }
            if (form == wire_type::varint) {
                at_part_ = part::varint;
                return true;
            }
            at_part_ = part::bytes;
            left_ = form == wire_type::fixed64 ? 8 : 4;
            return at_ + left_ <= here().end || malformed("is cut off");
        case wire_type::group_begin:
        case wire_type::group_end:
            return malformed("has a group");
    }
    return malformed("has an unknown wire type");
}

bool request_scan::begin_value(std::uint64_t length, const visitor& each)
{
    auto& in = here();
    if (length > in.end - at_) {
        return malformed("is cut off");
    }
    left_ = length;
    at_part_ = length == 0 ? part::tag : part::bytes;
    if (row_ == nullptr) {
        return true;
    }
    const auto bit = 1U << in.type->index_of(*row_);
    if (row_->alone != 0 && (in.seen & bit) != 0) {
        return refuse("is given twice", rpc_code::invalid_params);
    }
    in.seen |= bit;
    if (row_->kind == field_kind::message) {
        at_part_ = part::tag;
        levels_[++depth_] = {row_->message, row_, at_ + length};
        return true;
    }
    if (length > longest_text) {
        return refuse("is too long", rpc_code::invalid_params);
    }
    text_.clear();
    at_part_ = part::text;
    return length > 0 || take_text({}, each);
}

bool request_scan::take_text(std::string_view piece, const visitor& each)
{
    // Also one whose end is late: nobody has seen it.
    const bool says_where = depth_ == 0 || (row_->alone != 0 && here().row->json_name() == "message");
    if (settled_ && says_where) {
        return refuse("comes too late in the message", rpc_code::invalid_params);
    }
    if (left_ > 0 || !text_.empty()) {
        text_ += piece;
        piece = text_;
    }
    if (left_ > 0) {
        return true;
    }
    at_part_ = part::tag;
    if (!core::is_utf8(piece)) {
        return refuse("is not UTF-8", rpc_code::invalid_params);
    }
    if (depth_ == 0) {
        tenant_ = {std::string{piece}, {static_cast<std::size_t>(begin_), static_cast<std::size_t>(at_)}};
        return true;
    }
    const auto name = row_->json_name();
    if (!each(name == "contextId" ? told::context : name == "url" ? told::push_url : told::task, piece)) {
        at_part_ = part::nothing;
    }
    return true;
}

}  // namespace a2a::protobuf
