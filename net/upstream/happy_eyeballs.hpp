// In which order, and when, the addresses of a host are connected to (Happy Eyeballs, RFC 8305). Pure: the time comes from the
// caller.
#pragma once

#include "core/clock.hpp"
#include "net/loop/family_memory.hpp"
#include "net/loop/name_record.hpp"

#include <cstddef>
#include <optional>

namespace net {

constexpr family family_of(const boost::asio::ip::address& address) noexcept
{
    return address.is_v4() ? family::v4 : family::v6;
}

// The families in turns, beginning with that of the first address (section 4). But the addresses of a family that failed lately come
// last, unless both did. Null memory: none did.
address_list in_turns(const address_list& found, const family_memory* memory, core::steady_time now);

// One connection is wanted; attempts run beside each other (section 5).
class connect_plan {
public:
    static constexpr core::duration head_start{250};  // of an attempt before the next one

    explicit connect_plan(std::size_t addresses) noexcept
        : addresses_{addresses}
    {
    }

    // The address to begin with now, by its place; nothing: none is left, or not yet.
    std::optional<std::size_t> next(core::steady_time now) noexcept;

    // An attempt has ended without a connection. If it is the latest one, the next does not wait.
    void failed(std::size_t place) noexcept;

    // When next() has one; core::steady_time::max(): never.
    core::steady_time due() const noexcept;

    // All have failed.
    bool over() const noexcept { return failed_ == addresses_; }

private:
    std::size_t addresses_;
    std::size_t begun_ = 0;
    std::size_t failed_ = 0;
    core::steady_time due_{core::steady_time::min()};
};

}  // namespace net
