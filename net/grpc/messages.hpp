// Messages of gRPC over HTTP/2 in a body: each has a flag of compression and a length of four bytes in front (github.com/grpc/grpc:
// doc/PROTOCOL-HTTP2.md, "Length-Prefixed-Message"). Pure; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace net::grpc {

inline constexpr std::size_t prefix_size = 5;

// Appends the prefix of an uncompressed message of `size` bytes, less than 4 GiB.
void append_prefix(std::string& out, std::size_t size);

// Replaces the prefix_size bytes at `at`, which have been kept free for a message that ends with `out`.
void set_prefix(std::string& out, std::size_t at);

// How a body that is a sequence of messages goes on, piece by piece, without keeping any of it. The same bytes in any pieces give the
// same result.
class message_reader {
public:
    enum class fault : std::uint8_t {
        none,
        too_large,  // the next message has more bytes than the limit: told by its prefix
        malformed,  // a flag other than 0 and 1
    };

    // `limit`: bytes of one message without its prefix.
    explicit message_reader(std::uint64_t limit) noexcept
        : limit_{limit}
    {
    }

    // A part of one message, or its end.
    struct part {
        std::string_view
            data;  // of the message, without its prefix; empty: more bytes are needed, or the message is empty
        bool begins = false;  // the prefix is complete: size() and compressed() are of this message
        bool ends = false;    // the message is whole with this
    };

    // Takes what it can off the front of `piece`: to the end of the message at hand at most. Call it until `piece` is empty. After a
    // fault nothing more is taken.
    part next(std::string_view& piece) noexcept;

    fault problem() const noexcept { return problem_; }

    // These describe the message whose prefix came last.
    std::uint64_t size() const noexcept { return size_; }
    bool compressed() const noexcept { return prefix_[0] != '\0'; }

    // Nothing of a message has come without its end.
    bool between_messages() const noexcept { return have_ == 0; }

    // How many messages were whole.
    std::uint64_t count() const noexcept { return count_; }

private:
    std::uint64_t limit_;
    std::uint64_t size_ = 0;
    std::uint64_t left_ = 0;  // of the message
    std::uint64_t count_ = 0;
    std::array<char, prefix_size> prefix_{};
    std::uint8_t have_ = 0;  // bytes of the prefix; prefix_size: within the message
    fault problem_ = fault::none;
};

}  // namespace net::grpc
