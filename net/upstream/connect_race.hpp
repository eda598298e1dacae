// Connects to one of several addresses (Happy Eyeballs, RFC 8305): connect_plan says when attempts begin, and the first connection wins.
// The loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "net/loop/dns_entry.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/poller.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace net {

constexpr family family_of(const boost::asio::ip::address& address) noexcept
{
    return address.is_v4() ? family::v4 : family::v6;
}

// The families in turns, beginning with that of the first address (section 4). But the addresses of a family that failed lately come
// last, unless both did. Null memory: none did.
address_list in_turns(const address_list& found, const family_history* memory, core::steady_time now);

// The order and the times of attempts, which run beside each other (section 5). Pure: the time comes from the caller.
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

    // The time when next() has one; core::steady_time::max(): never.
    core::steady_time due() const noexcept;

    // All have failed.
    bool over() const noexcept { return failed_ == addresses_; }

private:
    std::size_t addresses_;
    std::size_t begun_ = 0;
    std::size_t failed_ = 0;
    core::steady_time due_{core::steady_time::min()};
};

class connect_race {
public:
    // Hears of the end, and may destroy the race: a socket that is connected to the address at `place`, or the last error.
    using end = std::function<void(error_code failed, core::descriptor socket, std::size_t place)>;

    // At least one address. `owner` outlives the race, whose destruction ends all attempts.
    connect_race(loop& owner, std::vector<tcp::endpoint> addresses, end told);
    ~connect_race();
    connect_race(const connect_race&) = delete;
    connect_race& operator=(const connect_race&) = delete;

    // Called once; the end may come inside this call.
    void begin() { go_on(); }

    const tcp::endpoint& address(std::size_t place) const noexcept { return addresses_[place]; }

    // Whether an address of the other family was tried before that one, in vain so far.
    bool passed_over(std::size_t place) const noexcept;

private:
    class attempt;
    using timer =
        asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>;

    void go_on();
    error_code begin_attempt(std::size_t place);
    void won(attempt& by);
    void lost(attempt& by, error_code ec);
    void wait_for_next();

    loop& loop_;
    std::vector<tcp::endpoint> addresses_;
    end told_;
    connect_plan plan_;
    std::vector<std::unique_ptr<attempt>> attempts_;  // under way
    std::optional<timer> timer_;
    std::shared_ptr<const bool> alive_;  // a timer that has expired may still be told of when the race is gone
    error_code last_error_;
};

}  // namespace net
