// What belongs to the process though one thread alone uses it. A thread-local object with a destructor is registered when its thread
// uses it first, in the middle of a call, and glibc ends the process if it has no memory for that.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace core {

// `made` is a smart pointer. Ends before what was needed to make it. Any thread.
template <class Owner>
typename Owner::element_type* kept_until_exit(Owner made)
{
    static std::mutex mutex;
    static std::vector<Owner> all;
    const std::lock_guard lock{mutex};
    return all.emplace_back(std::move(made)).get();
}

}  // namespace core
