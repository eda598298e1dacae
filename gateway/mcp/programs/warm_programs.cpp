#include "gateway/mcp/programs/warm_programs.hpp"

#include <utility>

namespace gateway::mcp::programs {

warm_programs::warm_programs(::mcp::start_place turns, ::mcp::transport_factory make, retire_function retire)
    : turns_{turns},
      make_{std::move(make)},
      retire_{std::move(retire)}
{
}

warm_programs::~warm_programs()
{
    keep(0);
}

std::unique_ptr<program> warm_programs::take(bool held)
{
    if (waiting_.empty()) {
        return std::make_unique<program>(turns_, make_, held);
    }
    auto taken = waiting_.front().release();
    waiting_.pop_front();
    taken->serves();
    return taken;
}

void warm_programs::keep(std::size_t wanted)
{
    while (waiting_.size() > wanted) {
        retire_(waiting_.back().release());
        waiting_.pop_back();
    }
    while (waiting_.size() < wanted) {
        waiting_.emplace_back(*this, std::make_unique<program>(turns_, make_));
    }
}

void warm_programs::drop(const warm& gone)
{
    for (auto each = waiting_.begin(); each != waiting_.end(); ++each) {
        if (&*each == &gone) {
            retire_(each->release());
            waiting_.erase(each);
            return;
        }
    }
}

}  // namespace gateway::mcp::programs
