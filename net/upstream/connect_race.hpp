// Connects to one of several addresses: attempts begin as net/upstream/happy_eyeballs.hpp says, and the first connection wins. The
// loop's thread.
#pragma once

#include "core/descriptor.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/poller.hpp"
#include "net/loop/types.hpp"
#include "net/upstream/happy_eyeballs.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace net {

// Both may destroy the race.
class race_observer {
public:
    // `place`: of the address, in the list that the race has.
    virtual void on_connected(core::descriptor socket, std::size_t place) = 0;
    virtual void on_refused(error_code last) = 0;

protected:
    ~race_observer() = default;
};

class connect_race {
public:
    // At least one address. Both references outlive the race, whose destruction ends all attempts.
    connect_race(loop& owner, std::vector<tcp::endpoint> addresses, race_observer& observer);
    ~connect_race();
    connect_race(const connect_race&) = delete;
    connect_race& operator=(const connect_race&) = delete;

    // Once. The observer may be called inside this.
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
    race_observer& observer_;
    connect_plan plan_;
    std::vector<std::unique_ptr<attempt>> attempts_;  // under way
    std::optional<timer> timer_;
    std::shared_ptr<const bool> alive_;  // a timer that has expired may still be told of when the race is gone
    error_code last_error_;
};

}  // namespace net
