// The two clocks, by name. Pure code takes time points as parameters; only the edges of the program read a clock.
#pragma once

#include <chrono>

namespace core {

using duration = std::chrono::milliseconds;

// Deadlines and ages: never jumps.
using steady_time = std::chrono::steady_clock::time_point;

// Times that are written down for people and other machines: `Date`, log lines, audit.
using wall_time = std::chrono::system_clock::time_point;

}  // namespace core
