// One of a bounded number of places to wait, taken by an address for as long as this stands. One thread; the list outlives whoever
// reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gateway::access {

// The address that has taken each place (number_of()); 0 where that does not matter.
using taken_places = std::vector<std::uint64_t>;

class waiting_place {
public:
    explicit waiting_place(std::shared_ptr<taken_places> taken, std::uint64_t sender = 0)
        : taken_{std::move(taken)},
          sender_{sender}
    {
        taken_->push_back(sender_);
    }
    ~waiting_place() { taken_->erase(std::ranges::find(*taken_, sender_)); }
    waiting_place(const waiting_place&) = delete;
    waiting_place& operator=(const waiting_place&) = delete;

private:
    std::shared_ptr<taken_places> taken_;
    std::uint64_t sender_;
};

}  // namespace gateway::access
