// Fields appended to a message on the wire. The length of a nested message is known only at its end: one byte is kept for it, and lengths
// that need more are put in at the end of all, with one move of each byte. Internal to a2a/protobuf/.
#pragma once

#include "a2a/protobuf/message_type.hpp"

#include <boost/container/small_vector.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2a::protobuf {

class wire_writer {
public:
    // `out` outlives the writer. Nobody else writes to it between open() and finish() but by appending.
    explicit wire_writer(std::string& out) noexcept
        : out_{out}
    {
    }
    wire_writer(const wire_writer&) = delete;
    wire_writer& operator=(const wire_writer&) = delete;

    void varint(std::uint64_t value)
    {
        while (value >= 0x80) {
            out_ += static_cast<char>(value | 0x80U);
            value >>= 7U;
        }
        out_ += static_cast<char>(value);
    }

    void tag(std::uint32_t number, wire_type type) { varint(number << 3U | static_cast<std::uint32_t>(type)); }

    void fixed64(std::uint64_t bits)
    {
        for (unsigned i = 0; i < 8; ++i) {
            out_ += static_cast<char>(bits >> (8 * i));
        }
    }

    void delimited(std::uint32_t number, std::string_view bytes)
    {
        tag(number, wire_type::delimited);
        varint(bytes.size());
        out_ += bytes;
    }

    struct mark {
        std::size_t at = 0;     // of the length
        std::size_t added = 0;  // bytes that longer lengths before it will add
    };

    // Begins a delimited field whose length is not known yet.
    mark open(std::uint32_t number)
    {
        tag(number, wire_type::delimited);
        out_ += '\0';
        return {out_.size() - 1, added_};
    }

    void close(mark begun)
    {
        const auto length = out_.size() - begun.at - 1 + (added_ - begun.added);
        if (length < 0x80) {
            out_[begun.at] = static_cast<char>(length);
            return;
        }
        late_.push_back({begun.at, length});
        added_ += size_of(length) - 1;
    }

    // How long the text becomes. 
    std::size_t size() const noexcept { return out_.size() + added_; }

    // Puts the longer lengths in.
    void finish();

private:
    struct late_length {
        std::size_t at = 0;
        std::size_t length = 0;
    };

    static std::size_t size_of(std::uint64_t value) noexcept
    {
        return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
    }

    std::string& out_;
    std::size_t added_ = 0;
    boost::container::small_vector<late_length, 16> late_;
};

}  // namespace a2a::protobuf
