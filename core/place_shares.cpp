#include "core/place_shares.hpp"

#include "core/keyed_hash.hpp"

#include <functional>

namespace core {
namespace {

using number = std::uint64_t;

constexpr unsigned count_size = 32;
constexpr number one_name = number{1} << count_size;
constexpr number count_bits = one_name - 1;

// Pages of it are not touched before principals hold places in them.
constinit place_shares process_shares;

// Mixes all bits into all others (the finalizer of SplitMix64).
number mixed(number bits) noexcept
{
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31U);
}

const keyed_hash& hash()
{
    static const keyed_hash of_process;
    return of_process;
}

// Not 0; the lower half names the row.
number name_in(number hash) noexcept
{
    return (hash & ~count_bits) | one_name;
}

}  // namespace

place_shares& all_shares() noexcept
{
    return process_shares;
}

caller_mark mark_of_principal(std::string_view provider, std::string_view id)
{
    return provider.empty() && id.empty() ? 0 : hash()(provider, id)[0] | 1U;
}

caller_mark mark_of_address(std::uint64_t number)
{
    return hash()({reinterpret_cast<const char*>(&number), sizeof number}, {})[0] & ~caller_mark{1};
}

void place_share::give_back() noexcept
{
    auto* const in = std::exchange(in_, nullptr);
    if (in == nullptr) {
        return;
    }
    auto now = in->load(std::memory_order_relaxed);
    while (!in->compare_exchange_weak(now, (now & count_bits) == places_ ? 0 : now - places_)) {
    }
}

std::uint64_t place_shares::of_object(const void* object, std::string_view part) noexcept
{
    return mixed(reinterpret_cast<std::uintptr_t>(object)) ^ std::hash<std::string_view>{}(part);
}

number place_shares::held(const holder_row& in, number name) noexcept
{
    number sum = 0;
    for (const auto& each : in.holders) {
        const auto now = each.load();
        sum += (now & ~count_bits) == name ? now & count_bits : 0;
    }
    return sum;
}

std::uint64_t place_shares::count(std::uint64_t of, caller_mark whose) const noexcept
{
    const auto hash = mixed(whose ^ mixed(of));
    return whose % 2 == 0 ? 0 : held(rows_[hash % rows_.size()], name_in(hash));
}

// Two threads that begin with a principal at one moment may give it two names in its row. So whoever has taken a place sums them up:
// a place that is held stays where it is, and the last of those that are one too many sees all others.
std::optional<place_share>
place_shares::take_counted(std::uint64_t of, caller_mark whose, std::uint64_t most, std::uint64_t places) noexcept
{
    const auto hash = mixed(whose ^ mixed(of));
    const auto name = name_in(hash);
    auto& in = rows_[hash % rows_.size()];
    most = std::min(most, count_bits);
    if (places > most) {
        return std::nullopt;
    }
    std::atomic<number>* taken = nullptr;
    for (auto at = in.holders.begin(); at != in.holders.end() && taken == nullptr; ++at) {
        auto now = at->load();
        while ((now & ~count_bits) == name && taken == nullptr) {
            if ((now & count_bits) + places > most) {
                return std::nullopt;
            }
            taken = at->compare_exchange_weak(now, now + places) ? &*at : nullptr;
        }
    }
    for (auto at = in.holders.begin(); at != in.holders.end() && taken == nullptr; ++at) {
        number none = 0;
        taken = at->compare_exchange_strong(none, name | places) ? &*at : nullptr;
    }
    if (taken == nullptr) {
        return place_share{};
    }
    place_share share{*taken, places};
    return held(in, name) <= most ? std::optional{std::move(share)} : std::nullopt;
}

}  // namespace core
