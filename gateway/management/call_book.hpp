// How the calls of all agents end, by what workers note. On the control loop's thread; time is given.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/model/snapshot.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::management {

// How the calls of one agent ended in the last five minutes. Pure: it has no clock.
class call_window {
public:
    static constexpr std::chrono::minutes span{5};
    static constexpr std::chrono::seconds step{30};  // a call counts for `span`, or up to one step less
    static constexpr std::uint32_t fewest = 5;       // calls that say something

    // `failures` of these calls failed. Times do not go back.
    void add(std::uint32_t calls, std::uint32_t failures, core::steady_time now) noexcept;

    // More than half of the calls failed, which are at least `fewest`.
    bool failing(core::steady_time now) const noexcept;

private:
    static constexpr std::int64_t steps = span / step;

    struct counts {
        std::uint32_t calls = 0;
        std::uint32_t failures = 0;
    };

    counts& at(std::int64_t number) noexcept { return counts_[static_cast<std::size_t>(number % steps)]; }

    std::array<counts, static_cast<std::size_t>(steps)> counts_{};
    std::int64_t latest_ = 0;  // the number of the step that was added to last
};

struct call_facts {
    bool worked = false;   // a call of it has worked, since it has its address
    bool failing = false;  // call_window::failing()
};

class call_book {
public:
    // Where calls of an agent go, for as long as the agents do not change; null: there is no such agent.
    using address_finder = std::function<const std::string*(const std::string& id)>;

    explicit call_book(address_finder find)
        : find_{std::move(find)}
    {
    }

    // Notes of agents that are gone are dropped, and what is known of some of these: of all in time, as notes come. An agent whose
    // address is another one begins again.
    void add(const std::vector<model::call_note>& notes, core::steady_time now);

    call_facts facts(const std::string& id, core::steady_time now) const;

private:
    struct page {
        std::string address;
        call_window window{};
        bool worked = false;
    };

    // Looks at a few pages more.
    void drop_gone();

    address_finder find_;
    model::string_map<page> pages_;
    std::size_t bucket_ = 0;  // of `pages_`, looked at last for agents that are gone
};

}  // namespace gateway::management
