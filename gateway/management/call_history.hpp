// How the calls of each agent, and of the gateway, went in the last hour and the last day, in memory of a fixed size. On the control
// loop's thread; time is given.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/call_verdict.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gateway::management {

// Value below which the part `of_all` (0 to 1) of the observations is, in milliseconds, as histogram_quantile() of Prometheus gives it
// for the buckets of telemetry::histogram_bounds; nullopt: there are none. Pure.
std::optional<double>
quantile_ms(double of_all, std::span<const std::uint64_t, model::call_numbers::buckets> latencies) noexcept;

struct call_slot {
    core::wall_time end{};
    std::uint64_t calls = 0;
    std::uint64_t failed = 0;         // because of the agent, or of the gateway
    std::uint64_t caller_errors = 0;  // because of the caller
    std::optional<double> p50_ms{};   // four digits; nullopt: no answer that is not a stream
    std::optional<double> p99_ms{};
};

// Slots of one agent, or of the gateway: the oldest first, the last one in progress.
struct call_series {
    core::wall_time since{};  // calls before that are not known
    std::vector<call_slot> minutes;
    std::vector<call_slot> quarters;
};

// The last five full minutes, or those that there have been.
struct recent_calls {
    std::optional<double> calls_per_minute = 0;  // nullopt: the agent has no history, and may have had calls
    std::optional<double> failed_ratio{};        // 0 to 1; nullopt: no calls
    std::optional<double> p50_ms{};
    std::optional<double> p99_ms{};
};

class call_history {
public:
    static constexpr std::size_t minutes = 60;
    static constexpr std::size_t quarters = 96;
    static constexpr std::size_t recent = 5;        // minutes
    static constexpr std::size_t page_size = 2764;  // bytes of an agent at most: 2.7 KiB, with an id of up to 15 bytes

    // `agents`: how many have a history; of more, those not called for longest have none. It begins at `start`, which is
    // `wall_start` by the wall clock: slots begin at whole minutes and quarters of an hour of that.
    call_history(std::size_t agents, core::steady_time start, core::wall_time wall_start);

    // Times do not go back.
    void add(const std::vector<model::call_note>& notes, core::steady_time now);

    // Each is about the agent with this id, or about the gateway if it is empty. Agents without a history had no calls.
    call_series series(std::string_view id, core::steady_time now) const;
    recent_calls recent_of(std::string_view id, core::steady_time now) const;
    std::array<std::uint32_t, minutes> spark_of(std::string_view id, core::steady_time now) const;

    // How many agents have a history.
    std::size_t agents() const noexcept { return pages_.size(); }

private:
    using buckets = std::array<std::uint32_t, model::call_numbers::buckets>;

    struct counts {
        std::uint64_t calls = 0;
        std::uint64_t failed = 0;
        std::uint64_t caller_errors = 0;
    };

    // Counts of `Width` bytes each, the largest of which stands for all above it, and percentiles of two bytes on a logarithmic scale,
    // exact to 0.02 %.
    template <std::size_t Width>
    class packed_slot {
    public:
        counts read() const noexcept;
        void write(const counts& from) noexcept;
        std::optional<double> percentile(std::size_t index) const noexcept;
        void set_percentile(std::size_t index, std::optional<double> ms) noexcept;

    private:
        std::uint64_t number(std::size_t from, std::size_t width) const noexcept;
        void put(std::size_t from, std::size_t width, std::uint64_t value) noexcept;

        std::array<std::uint8_t, 3 * Width + 4> bytes_{};
    };

    // Latencies of a minute that is over; counts over 16 bits are all scaled down.
    struct scaled_buckets {
        std::array<std::uint16_t, model::call_numbers::buckets> counts{};
        std::uint16_t shift = 0;
    };

    class page {
    public:
        explicit page(std::int64_t minute) noexcept
            : first_{minute},
              latest_{minute}
        {
        }

        void add(const model::call_numbers& numbers, std::int64_t minute) noexcept;
        std::int64_t first() const noexcept { return first_; }

        counts counts_of(std::int64_t minute) const noexcept;

        // Slots by their numbers: minutes, and quarters of an hour.
        call_slot minute(std::int64_t number) const noexcept;
        call_slot quarter(std::int64_t number) const noexcept;

        // Latencies of one of the five minutes before the latest one, or of that.
        void add_latencies(std::int64_t minute, std::array<std::uint64_t, model::call_numbers::buckets>& into)
            const noexcept;

    private:
        // With percentiles of a slot in progress from its latencies; null: of one that is over.
        template <std::size_t Width>
        static call_slot shown(const packed_slot<Width>& slot, const buckets* in_progress);
        void go_to(std::int64_t minute) noexcept;
        bool has(std::int64_t minute) const noexcept;

        std::int64_t first_;   // number of the minute of its first call
        std::int64_t latest_;  // number of the minute of its last call
        buckets minute_latencies_{};
        buckets quarter_latencies_{};
        std::array<scaled_buckets, recent> recent_{};
        std::array<packed_slot<3>, minutes> minutes_{};
        std::array<packed_slot<4>, quarters> quarters_{};
    };

    struct agent_page {
        std::string id;
        page calls;
    };
    using page_list = std::list<agent_page>;  // those not called for longest first

    // Whether calls of the agent may have been forgotten.
    bool may_lack(std::string_view id) const noexcept { return !id.empty() && (dropped_ || most_ == 0); }

    std::int64_t minute_of(core::steady_time time) const noexcept;
    core::wall_time end_of(std::int64_t minute) const noexcept;
    const page* find(std::string_view id) const;
    page* page_of(const std::string& id, std::int64_t minute);

    std::size_t most_;
    core::steady_time start_;
    core::wall_time wall_start_;
    core::duration before_;  // the start, in its quarter of an hour
    page all_;
    page_list list_;
    std::unordered_map<std::string_view, page_list::iterator> pages_;
    bool dropped_ = false;  // an agent has lost its history

    // An agent takes a node of the list, and one of the map with its bucket.
    static_assert(sizeof(agent_page) + 2 * sizeof(void*) + sizeof(std::string_view) + 4 * sizeof(void*) <= page_size);
};

}  // namespace gateway::management
