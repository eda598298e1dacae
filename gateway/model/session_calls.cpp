#include "gateway/model/session_calls.hpp"

#include <cstring>

namespace gateway::model {
namespace {

constexpr std::uint64_t count_bits = 0xFFU;

// Not 0, in all bits but those of the count.
std::uint64_t name_of(const mcp::session_digest& session) noexcept
{
    std::uint64_t name = 0;
    std::memcpy(&name, session.data(), sizeof name);
    return name | (count_bits + 1);
}

std::uint64_t row_of(const mcp::session_digest& session) noexcept
{
    std::uint64_t place = 0;
    static_assert(sizeof place * 2 == sizeof session);
    std::memcpy(&place, session.data() + sizeof place, sizeof place);
    return place;
}

}  // namespace

session_calls::session_calls()
    : rows_(rows)
{
}

session_calls::place::~place()
{
    if (count_ == nullptr) {
        return;
    }
    auto now = count_->load(std::memory_order_relaxed);
    for (;;) {
        const auto left = (now & count_bits) == 1 ? 0 : now - 1;
        if (count_->compare_exchange_weak(now, left, std::memory_order_relaxed)) {
            return;
        }
    }
}

std::optional<session_calls::place> session_calls::take(const mcp::session_digest& session) noexcept
{
    const auto name = name_of(session) & ~count_bits;
    auto& in = rows_[row_of(session) % rows].counts;
    std::atomic<std::uint64_t>* unused = nullptr;
    for (auto& each : in) {
        auto now = each.load(std::memory_order_relaxed);
        while (now != 0 && (now & ~count_bits) == name) {
            if ((now & count_bits) >= most) {
                return std::nullopt;
            }
            if (each.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) {
                return place{&each};
            }
        }
        if (now == 0 && unused == nullptr) {
            unused = &each;
        }
    }
    std::uint64_t none = 0;
    const bool taken = unused != nullptr && unused->compare_exchange_strong(none, name + 1, std::memory_order_relaxed);
    // Another session has come first, or the row is full of others: the call passes uncounted.
    return place{taken ? unused : nullptr};
}

}  // namespace gateway::model
