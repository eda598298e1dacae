#include "net/loop/dns_entry.hpp"

#include <algorithm>
#include <utility>

namespace net {

void dns_entry::begin(core::steady_time now) noexcept
{
    begun_ = now;
    late_ = false;
    next_ = core::steady_time::max();
}

bool dns_entry::found(address_list addresses, core::steady_time now)
{
    begun_.reset();
    failing_since_.reset();
    next_ = now + settings_.refresh;
    if (addresses_ != nullptr && *addresses_ == addresses) {
        return false;
    }
    addresses_ = std::make_shared<const address_list>(std::move(addresses));
    return true;
}

bool dns_entry::failed(core::steady_time now) noexcept
{
    begun_.reset();
    next_ = now + settings_.refresh;
    if (!failing_since_) {
        failing_since_ = now;
    }
    return !late_;
}

dns_entry::change dns_entry::pass(core::steady_time now) noexcept
{
    change out;
    if (begun_ && !late_ && now >= *begun_ + settings_.timeout) {
        late_ = true;
        out.late = true;
        if (!failing_since_) {
            failing_since_ = now;
        }
    }
    if (addresses_ && failing_since_ && now >= *failing_since_ + settings_.stale) {
        addresses_.reset();
        out.gone = true;
    }
    out.look_up = !begun_ && now >= next_;
    return out;
}

core::steady_time dns_entry::due() const noexcept
{
    auto when = begun_ && !late_ ? *begun_ + settings_.timeout : next_;
    if (addresses_ && failing_since_) {
        when = std::min(when, *failing_since_ + settings_.stale);
    }
    return when;
}

}  // namespace net
