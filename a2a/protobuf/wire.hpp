// Messages on the wire (protobuf.dev "Encoding"): fields read one after the other, appended, and put in order; and what is wrong with them.
// Internal to a2a/protobuf/.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/protobuf/message_type.hpp"
#include "a2a/protobuf/text.hpp"

#include <boost/container/small_vector.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2a::protobuf {

// Why a conversion fails, and where. The path is put together on the way out, so that one that succeeds pays nothing for it.
class trouble {
public:
    explicit trouble(bool from_agent) noexcept
        : from_agent_{from_agent}
    {
    }

    // All four return false, for `return trouble.refuse(…)`. Only the first refusal counts.
    bool refuse(std::string_view why, int code = rpc_code::invalid_params);
    bool within(std::string_view member);
    bool within(std::string_view member, std::size_t position);
    bool within_key(std::string_view key);  // of a map: the caller's text, valid UTF-8

    bool any() const noexcept { return any_; }
    refusal take();

private:
    static constexpr std::size_t longest_key = 32;
    static constexpr std::size_t longest_path = 256;

    bool from_agent_;
    bool any_ = false;
    refusal found_;
};

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

// Fields appended to a message. The length of a nested message is known only at its end: one byte is kept for it, and lengths that need more
// are put in at the end of all, with one move of each byte.
class wire_writer {
public:
    // `out` outlives the writer, and nobody else touches it until finish().
    wire_writer(std::string& out, std::size_t expected)
        : out_{out},
          sink_{out, expected}
    {
    }
    wire_writer(const wire_writer&) = delete;
    wire_writer& operator=(const wire_writer&) = delete;

    // For the content of a field.
    text_sink& sink() noexcept { return sink_; }

    void varint(std::uint64_t value)
    {
        char* to = sink_.room(longest_varint);
        for (; value >= 0x80; value >>= 7U) {
            *to++ = static_cast<char>(value | 0x80U);
        }
        *to++ = static_cast<char>(value);
        sink_.took(to);
    }

    void tag(std::uint32_t number, wire_type type) { varint(number << 3U | static_cast<std::uint32_t>(type)); }

    void fixed64(std::uint64_t bits)
    {
        char* const to = sink_.room(8);
        for (unsigned i = 0; i < 8; ++i) {
            to[i] = static_cast<char>(bits >> (8 * i));
        }
        sink_.took(to + 8);
    }

    void delimited(std::uint32_t number, std::string_view bytes)
    {
        tag(number, wire_type::delimited);
        varint(bytes.size());
        sink_.put(bytes);
    }

    struct mark {
        std::size_t at = 0;     // of the length
        std::size_t added = 0;  // bytes that longer lengths before it will add
    };

    // Begins a delimited field whose length is not known yet.
    mark open(std::uint32_t number)
    {
        tag(number, wire_type::delimited);
        sink_.put('\0');
        return {sink_.size() - 1, added_};
    }

    void close(mark begun)
    {
        const auto length = sink_.size() - begun.at - 1 + (added_ - begun.added);
        if (length < 0x80) {
            *sink_.at(begun.at) = static_cast<char>(length);
            return;
        }
        late_.push_back({begun.at, length});
        added_ += size_of(length) - 1;
    }

    // How long the text becomes.
    std::size_t size() const noexcept { return sink_.size() + added_; }

    // Puts the longer lengths in.
    void finish();

private:
    struct late_length {
        std::size_t at = 0;
        std::size_t length = 0;
    };

    static constexpr std::size_t longest_varint = 10;

    static std::size_t size_of(std::uint64_t value) noexcept
    {
        return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
    }

    std::string& out_;
    text_sink sink_;
    std::size_t added_ = 0;
    boost::container::small_vector<late_length, 16> late_;
};

// Appends the message with each field at most once, by number, the elements of repeated fields together, as protobuf.dev "Last One Wins"
// says. Unknown fields go last. Returns why it cannot, or nothing.
std::string_view append_canonical(std::string& out, const message_type& type, std::string_view bytes);

}  // namespace a2a::protobuf
