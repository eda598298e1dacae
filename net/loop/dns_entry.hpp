// The addresses of one name, when it is looked up again, and which family of addresses failed lately. Pure: the time comes from the caller.
#pragma once

#include "core/clock.hpp"

#include <boost/asio/ip/address.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace net {

enum class family : std::uint8_t { v4, v6 };

// The families of addresses of a name that failed lately (RFC 8305): their addresses are tried last. Shared by all loops; any thread.
class family_history {
public:
    static constexpr core::duration lasts{10 * 60'000};

    bool failed(family which, core::steady_time now) const noexcept
    {
        return now.time_since_epoch().count() < until_[place(which)].load(std::memory_order_relaxed);
    }

    void note_failed(family which, core::steady_time now) noexcept
    {
        until_[place(which)].store((now + lasts).time_since_epoch().count(), std::memory_order_relaxed);
    }

    void note_worked(family which) noexcept { until_[place(which)].store(never_failed, std::memory_order_relaxed); }

private:
    using ticks = core::steady_time::rep;
    static constexpr ticks never_failed = core::steady_time::min().time_since_epoch().count();

    static constexpr std::size_t place(family which) noexcept { return static_cast<std::size_t>(which); }

    std::array<std::atomic<ticks>, 2> until_{never_failed, never_failed};
};

using address_list = std::vector<boost::asio::ip::address>;  // in the order in which they are tried
using shared_addresses = std::shared_ptr<const address_list>;

struct name_settings {
    core::duration timeout{2'000};     // of a lookup
    core::duration refresh{30'000};    // from one lookup to the next
    core::duration stale{5 * 60'000};  // how long addresses are valid while lookups fail
};

class dns_entry {
public:
    explicit dns_entry(const name_settings& settings) noexcept
        : settings_{settings}
    {
    }

    // A lookup has begun; it ends with found() or failed(), however late. One at a time.
    void begin(core::steady_time now) noexcept;
    bool looking() const noexcept { return begun_.has_value(); }

    // When the lookup under way is over its time, which may be past; nobody waits for it any longer.
    core::steady_time late_at() const noexcept
    {
        return begun_ ? *begun_ + settings_.timeout : core::steady_time::max();
    }

    // At least one address. True: they differ from those before, also in their order.
    bool found(address_list addresses, core::steady_time now);

    // The addresses stay valid. True: this is a failure that pass() has not reported as late.
    bool failed(core::steady_time now) noexcept;

    // Changes since the last call.
    struct change {
        bool late = false;     // the lookup has taken longer than the timeout, which is a failure
        bool gone = false;     // lookups have failed for `stale`: there are no addresses any more
        bool look_up = false;  // another lookup is due: begin()
    };
    change pass(core::steady_time now) noexcept;

    // When pass() has something to say next.
    core::steady_time due() const noexcept;

    // Null: none are known.
    const shared_addresses& addresses() const noexcept { return addresses_; }

private:
    name_settings settings_;
    shared_addresses addresses_;
    std::optional<core::steady_time> begun_;          // the lookup under way
    std::optional<core::steady_time> failing_since_;  // no lookup has succeeded since
    core::steady_time next_{core::steady_time::max()};
    bool late_ = false;  // the lookup under way
};

}  // namespace net
