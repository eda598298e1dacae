#include "a2a/protobuf/fields.hpp"

#include "a2a/protobuf/wire.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <utility>

namespace a2a::protobuf {
namespace {

constexpr unsigned varint_bits = 7;
constexpr unsigned longest_value = 10 * varint_bits;  // of a varint; tags and lengths have five bytes at most
constexpr unsigned longest_head = 5 * varint_bits;

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

const field_row* tenant_of(const message_type& type) noexcept
{
    const auto found = std::ranges::find(type.fields, std::string_view{"tenant"}, &field_row::json_name);
    return found == type.fields.end() ? nullptr : &*found;
}

}  // namespace

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

translation<tenant_field> find_tenant(const message_type& type, std::string_view bytes, bool whole)
{
    request_scan scan{type};
    const auto read = scan.feed(bytes, [](request_scan::told, std::string_view) { return true; });
    if (!read) {
        return read.error();
    }
    if (whole && !scan.whole()) {
        return refusal{rpc_code::parse_error, {}, "is cut off"};
    }
    return scan.tenant();
}

refusal request_scan::refuse(std::string_view why, int code) const
{
    trouble found{false};
    found.refuse(why, code);
    if (row_ != nullptr) {
        found.within(row_->json_name());
    }
    for (auto i = depth_; i > 0; --i) {
        found.within(levels_[i].row->json_name());
    }
    return found.take();
}

refusal request_scan::malformed(std::string_view why) const
{
    return refuse(why, rpc_code::parse_error);
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
    for (;;) {
        while (at_part_ == part::tag && depth_ > 0 && at_ == here().end) {
            if (shift_ != 0) {
                return malformed("is cut off");
            }
            --depth_;
        }
        if (bytes.empty() || at_part_ == part::nothing) {
            return {};
        }
        translation<> good;
        if (at_part_ == part::bytes || at_part_ == part::text) {
            const auto piece = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
            bytes.remove_prefix(piece.size());
            at_ += piece.size();
            left_ -= piece.size();
            if (at_part_ == part::text) {
                good = take_text(piece, each);
            } else if (left_ == 0) {
                at_part_ = part::tag;
            }
        } else {
            good = read_varint(bytes, each);
        }
        if (!good) {
            return good;
        }
    }
}

// Takes the next varint off the front, as far as it has come.
translation<> request_scan::read_varint(std::string_view& bytes, const visitor& each)
{
    if (at_part_ == part::tag && shift_ == 0) {
        begin_ = at_;
        row_ = nullptr;
    }
    const auto most = at_part_ == part::varint ? longest_value : longest_head;
    for (bool more = true; more;) {
        if (bytes.empty()) {
            return {};
        }
        const auto bits = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        if (++at_ > here().end) {
            return malformed("is cut off");
        }
        value_ |= static_cast<std::uint64_t>(bits & 0x7FU) << shift_;
        shift_ += varint_bits;
        more = (bits & 0x80U) != 0;
        if (more && shift_ >= most) {
            return malformed("has a varint that is too long");
        }
    }
    shift_ = 0;
    const auto value = std::exchange(value_, 0);
    switch (at_part_) {
        case part::tag:
            return begin_field(value);
        case part::length:
            return begin_value(value, each);
        default:
            at_part_ = part::tag;
            return {};
    }
}

translation<> request_scan::begin_field(std::uint64_t tag)
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
            return {};
        case wire_type::varint:
        case wire_type::fixed64:
        case wire_type::fixed32:
            if (row_ != nullptr) {
                return refuse("has another wire type", rpc_code::invalid_params);  // some readers see the number alone
            }
            if (form == wire_type::varint) {
                at_part_ = part::varint;
                return {};
            }
            at_part_ = part::bytes;
            left_ = form == wire_type::fixed64 ? 8 : 4;
            return at_ + left_ <= here().end ? translation<>{} : malformed("is cut off");
        case wire_type::group_begin:
        case wire_type::group_end:
            return malformed("has a group");
    }
    return malformed("has an unknown wire type");
}

translation<> request_scan::begin_value(std::uint64_t length, const visitor& each)
{
    auto& in = here();
    if (length > in.end - at_) {
        return malformed("is cut off");
    }
    left_ = length;
    at_part_ = length == 0 ? part::tag : part::bytes;
    if (row_ == nullptr) {
        return {};
    }
    const auto bit = 1U << in.type->index_of(*row_);
    if (row_->alone != 0 && (in.seen & bit) != 0) {
        return refuse("is given twice", rpc_code::invalid_params);
    }
    in.seen |= bit;
    if (row_->kind == field_kind::message) {
        at_part_ = part::tag;
        levels_[++depth_] = {row_->message, row_, at_ + length};
        return {};
    }
    if (length > longest_text) {
        return refuse("is too long", rpc_code::invalid_params);
    }
    text_.clear();
    at_part_ = part::text;
    return length == 0 ? take_text({}, each) : translation<>{};
}

translation<> request_scan::take_text(std::string_view piece, const visitor& each)
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
        return {};
    }
    at_part_ = part::tag;
    if (!is_utf8(piece)) {
        return refuse("is not UTF-8", rpc_code::invalid_params);
    }
    if (depth_ == 0) {
        tenant_ = {std::string{piece}, {static_cast<std::size_t>(begin_), static_cast<std::size_t>(at_)}};
        return {};
    }
    const auto name = row_->json_name();
    if (!each(name == "contextId" ? told::context : name == "url" ? told::push_url : told::task, piece)) {
        at_part_ = part::nothing;
    }
    return {};
}

}  // namespace a2a::protobuf
