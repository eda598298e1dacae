// The time of a status. 0.3 takes any ISO 8601 form, 1.0 asks for RFC 3339 in UTC with `Z` (specification 1.0.1 section
// 5.6.1), and strict readers of ProtoJSON refuse anything else. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace a2a {

struct utc_time {
    std::chrono::sys_seconds at;  // of the years 1 to 9999
    std::int32_t nanos = 0;
};

// The time that the raw JSON string says, as append_timestamp() reads it.
std::optional<utc_time> read_timestamp(std::string_view raw);

// Appends the time that the raw JSON string says, in UTC with `Z` and in quotes. A time without a zone counts as UTC.
// The digits of the fraction stay, at most nine. False, with nothing appended: not a time of the years 1 to 9999.
bool append_timestamp(std::string& out, std::string_view raw);

}  // namespace a2a
