// One of a bounded number of places to wait, held for as long as this stands. One thread; the count outlives whoever counts.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace gateway::access {

class waiting_place {
public:
    explicit waiting_place(std::shared_ptr<std::size_t> taken)
        : taken_{std::move(taken)}
    {
        ++*taken_;
    }
    ~waiting_place() { --*taken_; }
    waiting_place(const waiting_place&) = delete;
    waiting_place& operator=(const waiting_place&) = delete;

private:
    std::shared_ptr<std::size_t> taken_;
};

}  // namespace gateway::access
