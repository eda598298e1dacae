#include "gateway/model/session_calls.hpp"

#include <cstring>

namespace gateway::model {
namespace {

using number = std::uint64_t;

// From the lowest bit on: calls, streams, seconds, name. The seconds begin again after 36 hours, which no session lives.
constexpr number one_call = 1;
constexpr number one_stream = one_call << 7U;
constexpr number one_second = one_stream << 5U;
constexpr number one_name = one_second << 17U;
constexpr number call_bits = one_stream - one_call;
constexpr number stream_bits = one_second - one_stream;
constexpr number second_bits = one_name - one_second;
constexpr number in_use_bits = call_bits | stream_bits;
constexpr number name_bits = ~(one_name - 1);

constexpr auto idle_seconds = static_cast<number>(std::chrono::seconds{session_calls::longest_idle}.count());

// Not 0.
number name_of(const ::mcp::session_digest& session) noexcept
{
    number name = 0;
    std::memcpy(&name, session.data(), sizeof name);
    return (name & name_bits) | one_name;
}

number row_of(const ::mcp::session_digest& session) noexcept
{
    number place = 0;
    static_assert(sizeof place * 2 == sizeof session);
    std::memcpy(&place, session.data() + sizeof place, sizeof place);
    return place;
}

number at_time(number use, number second) noexcept
{
    return (use & ~second_bits) | ((second * one_second) & second_bits);
}

number seconds_since(number use, number second) noexcept
{
    return ((second * one_second - (use & second_bits)) & second_bits) / one_second;
}

}  // namespace

session_calls::session_calls(std::function<core::steady_time()> clock)
    : clock_{std::move(clock)},
      start_{clock_()},
      rows_(rows)
{
}

session_calls::place::~place()
{
    if (use_ == nullptr) {
        return;
    }
    const auto second = of_->seconds();
    auto now = use_->load(std::memory_order_relaxed);
    while (!use_->compare_exchange_weak(now, at_time(now - unit_, second), std::memory_order_relaxed)) {
    }
}

number session_calls::seconds() const noexcept
{
    return static_cast<number>(std::chrono::duration_cast<std::chrono::seconds>(clock_() - start_).count());
}

// With one `unit` more; nothing: what is in `bits` is at its most.
std::optional<session_calls::place>
session_calls::add(const ::mcp::session_digest& session, number unit, number bits, number full) noexcept
{
    const auto name = name_of(session);
    const auto second = seconds();
    auto& in = rows_[row_of(session) % rows];
    for (auto& each : in.uses) {
        auto now = each.load(std::memory_order_relaxed);
        while ((now & name_bits) == name) {
            if ((now & bits) >= full) {
                return std::nullopt;
            }
            if (each.compare_exchange_weak(now, at_time(now + unit, second), std::memory_order_relaxed)) {
                return place{*this, &each, unit};
            }
        }
    }
    return place{*this, begin(in, at_time(name | unit, second)), unit};
}

// Instead of the session that has been unused for longest. Null: all are in use, or another one has come first.
std::atomic<number>* session_calls::begin(use_row& in, number first) noexcept
{
    const auto second = seconds();
    std::atomic<number>* oldest = nullptr;
    number before = 0;
    for (auto& each : in.uses) {
        const auto now = each.load(std::memory_order_relaxed);
        if (now == 0) {
            oldest = &each;
            before = 0;
            break;
        }
        const bool unused = (now & in_use_bits) == 0;
        if (unused && (oldest == nullptr || seconds_since(now, second) > seconds_since(before, second))) {
            oldest = &each;
            before = now;
        }
    }
    // Whoever misses the one that goes, or this one, is told that not all are in here.
    const bool recent = before != 0 && seconds_since(before, second) < idle_seconds;
    const bool begun = oldest != nullptr && oldest->compare_exchange_strong(before, first, std::memory_order_relaxed);
    if (recent || !begun) {
        in.forgot.store(second + 1, std::memory_order_relaxed);
    }
    return begun ? oldest : nullptr;
}

std::optional<session_calls::place> session_calls::take(const ::mcp::session_digest& session) noexcept
{
    return add(session, one_call, call_bits, most * one_call);
}

session_calls::place session_calls::hold(const ::mcp::session_digest& session) noexcept
{
    return add(session, one_stream, stream_bits, stream_bits).value_or(place{});
}

void session_calls::use(const ::mcp::session_digest& session) noexcept
{
    static_cast<void>(hold(session));
}

bool session_calls::is_idle(const ::mcp::session_digest& session, std::chrono::seconds age) const noexcept
{
    const auto second = seconds();
    if (second < idle_seconds || age < longest_idle) {
        return false;
    }
    const auto name = name_of(session);
    const auto& in = rows_[row_of(session) % rows];
    for (const auto& each : in.uses) {
        const auto now = each.load(std::memory_order_relaxed);
        if ((now & name_bits) == name) {
            return (now & in_use_bits) == 0 && seconds_since(now, second) >= idle_seconds;
        }
    }
    const auto forgot = in.forgot.load(std::memory_order_relaxed);
    return forgot == 0 || second + 1 - forgot >= idle_seconds;
}

}  // namespace gateway::model
