// How the calls of all agents end, by what workers note. On the control loop's thread; time is given.
#pragma once

#include "core/clock.hpp"
#include "gateway/management/call_window.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::management {

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
