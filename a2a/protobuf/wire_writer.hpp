// Fields appended to a message on the wire. The length of a nested message is known only at its end: one byte is kept for it, and lengths
// that need more are put in at the end of all, with one move of each byte. Internal to a2a/protobuf/.
#pragma once

#include "a2a/protobuf/message_type.hpp"
#include "a2a/protobuf/text_sink.hpp"

#include <boost/container/small_vector.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2a::protobuf {

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

}  // namespace a2a::protobuf
