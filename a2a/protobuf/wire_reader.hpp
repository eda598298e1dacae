// Fields of a message on the wire (protobuf.dev "Encoding"), one after the other. Internal to a2a/protobuf/.
#pragma once

#include "a2a/protobuf/message_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace a2a::protobuf {

struct wire_field {
    std::uint64_t number = 0;  // of the field
    wire_type type = wire_type::varint;
    std::uint64_t value = 0;  // of a varint, or the bits of a fixed one
    std::string_view bytes;   // of a delimited one
    std::string_view raw;     // the whole field with its tag
};

class wire_reader {
public:
    // `bytes` outlive the reader.
    explicit wire_reader(std::string_view bytes) noexcept
        : at_{bytes.data()},
          end_{bytes.data() + bytes.size()}
    {
    }

    bool done() const noexcept { return at_ == end_; }

    // The next field if it is a short text or message, as most are; false: next() has to look.
    [[gnu::always_inline]] bool next_short(wire_field& field) noexcept
    {
        const auto left = static_cast<std::size_t>(end_ - at_);
        if (left < 2) {
            return false;
        }
        const unsigned tag = static_cast<unsigned char>(at_[0]);
        const unsigned length = static_cast<unsigned char>(at_[1]);
        if ((tag & 0x87U) != 2 || tag < 8 || length >= 0x80 || length > left - 2) {
            return false;
        }
        field.number = tag >> 3U;
        field.type = wire_type::delimited;
        field.raw = {at_, length + 2U};
        field.bytes = {at_ + 2, length};
        at_ += length + 2U;
        return true;
    }

    // The next field, if it is not done(). False: malformed, and why() says how.
    bool next(wire_field& field) noexcept
    {
        const char* const begin = at_;
        std::uint64_t tag = 0;
        if (!varint(tag, 5)) {
            return false;
        }
        field.number = tag >> 3U;
        field.type = static_cast<wire_type>(tag & 7U);
        if (field.number == 0 || tag > 0xFFFF'FFFFU) {
            return fail("has a field number that does not exist");
        }
        if (!content(field)) {
            return false;
        }
        field.raw = {begin, static_cast<std::size_t>(at_ - begin)};
        return true;
    }

    std::string_view why() const noexcept { return why_; }

private:
    bool content(wire_field& field) noexcept
    {
        switch (field.type) {
            case wire_type::varint:
                return varint(field.value, 10);
            case wire_type::fixed64:
                return fixed(field.value, 8);
            case wire_type::fixed32:
                return fixed(field.value, 4);
            case wire_type::delimited: {
                std::uint64_t length = 0;
                if (!varint(length, 5)) {
                    return false;
                }
                if (length > static_cast<std::size_t>(end_ - at_)) {
                    return fail("is cut off");
                }
                field.bytes = {at_, static_cast<std::size_t>(length)};
                at_ += length;
                return true;
            }
            case wire_type::group_begin:
            case wire_type::group_end:
                return fail("has a group");
        }
        return fail("has an unknown wire type");
    }

    bool varint(std::uint64_t& value, unsigned most_bytes) noexcept
    {
        if (at_ != end_ && (static_cast<unsigned char>(*at_) & 0x80U) == 0) {
            value = static_cast<unsigned char>(*at_++);
            return true;
        }
        value = 0;
        for (unsigned i = 0; i < most_bytes; ++i) {
            if (at_ == end_) {
                return fail("is cut off");
            }
            const std::uint64_t byte = static_cast<unsigned char>(*at_++);
            value |= (byte & 0x7FU) << (7 * i);
            if ((byte & 0x80U) == 0) {
                return true;
            }
        }
        return fail("has a varint that is too long");
    }

    bool fixed(std::uint64_t& value, unsigned size) noexcept
    {
        if (static_cast<std::size_t>(end_ - at_) < size) {
            return fail("is cut off");
        }
        value = 0;
        for (unsigned i = 0; i < size; ++i) {
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at_[i])) << (8 * i);
        }
        at_ += size;
        return true;
    }

    bool fail(std::string_view why) noexcept
    {
        why_ = why;
        return false;
    }

    const char* at_;
    const char* end_;
    std::string_view why_;
};

}  // namespace a2a::protobuf
