// A file that holds nothing but space. A full disk refuses to delete, too; giving this space back lets it.
#pragma once

#include <cstdint>
#include <string>

namespace store {

class ballast {
public:
    // Nothing is done before fill(). At most `size` bytes; 0: never any.
    ballast(std::string path, std::uint64_t size)
        : path_{std::move(path)},
          size_{size}
    {
    }

    // Takes the space if it is not taken: `size` bytes, or an eighth of what the disk has left if that is less. Does
    // without if even that cannot be had.
    void fill() noexcept;

    // Gives the space back. False: there was none.
    bool release() noexcept;

private:
    std::string path_;
    std::uint64_t size_;
    bool held_ = false;
};

}  // namespace store
