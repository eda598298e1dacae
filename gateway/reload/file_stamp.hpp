// What of a file changes when it is written, replaced, or reached through another link.
#pragma once

#include <cstdint>
#include <string>

namespace gateway::reload {

struct file_stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = -1;  // there is none
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

// Of what `path` leads to. Blocks as stat(2) does.
file_stamp stamp_of(const std::string& path);

}  // namespace gateway::reload
