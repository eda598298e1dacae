#include "net/grpc/messages.hpp"

#include <algorithm>

namespace net::grpc {
namespace {

constexpr unsigned byte_bits = 8;

}  // namespace

void append_prefix(std::string& out, std::size_t size)
{
    out += '\0';
    for (unsigned shift = 4 * byte_bits; shift > 0; shift -= byte_bits) {
        out += static_cast<char>(size >> (shift - byte_bits));
    }
}

void set_prefix(std::string& out, std::size_t at)
{
    std::string prefix;
    append_prefix(prefix, out.size() - at - prefix_size);
    std::ranges::copy(prefix, out.begin() + static_cast<std::ptrdiff_t>(at));
}

message_reader::part message_reader::next(std::string_view& piece) noexcept
{
    part out;
    if (problem_ != fault::none) {
        return out;
    }
    if (have_ < prefix_size) {
        const auto size = std::min<std::size_t>(prefix_size - have_, piece.size());
        std::copy_n(piece.data(), size, prefix_.begin() + have_);
        have_ = static_cast<std::uint8_t>(have_ + size);
        piece.remove_prefix(size);
        if (have_ > 0 && static_cast<unsigned char>(prefix_[0]) > 1) {
            problem_ = fault::malformed;
            return out;
        }
        if (have_ < prefix_size) {
            return out;
        }
        size_ = 0;
        for (std::size_t i = 1; i < prefix_size; ++i) {
            size_ = (size_ << byte_bits) | static_cast<unsigned char>(prefix_[i]);
        }
        left_ = size_;
        if (size_ > limit_) {
            problem_ = fault::too_large;
            return out;
        }
        out.begins = true;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, piece.size()));
    out.data = piece.substr(0, size);
    piece.remove_prefix(size);
    left_ -= size;
    if (left_ == 0) {
        out.ends = true;
        have_ = 0;
        ++count_;
    }
    return out;
}

}  // namespace net::grpc
