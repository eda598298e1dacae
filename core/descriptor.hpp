// A file descriptor with an owner: closed when the owner goes. One thread at a time.
#pragma once

#include <unistd.h>

#include <utility>

namespace core {

class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int number) noexcept
        : number_{number}
    {
    }
    ~descriptor() { reset(); }
    descriptor(descriptor&& other) noexcept
        : number_{std::exchange(other.number_, none)}
    {
    }
    descriptor& operator=(descriptor&& other) noexcept
    {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, none);
        }
        return *this;
    }

    bool open() const noexcept { return number_ != none; }
    int number() const noexcept { return number_; }

    // Gives the descriptor up without closing it.
    int release() noexcept { return std::exchange(number_, none); }

    void reset() noexcept
    {
        if (open()) {
            ::close(std::exchange(number_, none));  // whatever close() says, Linux has freed the number
        }
    }

private:
    static constexpr int none = -1;

    int number_ = none;
};

}  // namespace core
