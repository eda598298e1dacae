// A file that holds nothing but space. A full disk refuses to delete, too; giving this space back lets it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace store {

// Bytes that the disk of an open file has left for this process; 0 if it cannot say.
std::uint64_t room_on_disk_of(int file) noexcept;

class ballast {
public:
    using room_left = std::uint64_t (*)(int file) noexcept;

    // Nothing is done before find() or fill(). At most `size` bytes; 0: never any.
    ballast(std::string path, std::uint64_t size, room_left left = room_on_disk_of)
        : path_{std::move(path)},
          size_{size},
          left_{left}
    {
    }

    // Whether it is held, be it since an earlier process.
    bool find() noexcept;

    // Takes the space if it is not taken: `size` bytes, or an eighth of what the disk has left if that is less. What was
    // given back is taken again whole, as far as it is still there. Does without if too little can be had.
    void fill() noexcept;

    // Gives the space back. False: there was none.
    bool release() noexcept;

    // Bytes held; 0: none.
    std::uint64_t held() const noexcept { return held_; }

private:
    std::uint64_t wanted(int file) const noexcept;

    std::string path_;
    std::uint64_t size_;
    room_left left_;
    std::uint64_t held_ = 0;
    std::uint64_t last_ = 0;  // what was held before it was given back
};

// Bytes that the disk of a file has left for this process; the most there are if it cannot say.
std::uint64_t room_beside(const std::string& path) noexcept;

}  // namespace store
