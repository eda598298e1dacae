// Reports exceptions of coroutines that nobody awaits: bugs, which their completion handlers report.
#pragma once

#include "core/log.hpp"

#include <exception>
#include <string_view>

namespace net {

// Passes the text of `thrown` to `report`; null: nothing was thrown. What is no std::exception is thrown on.
template <class Report>
void report_thrown(const std::exception_ptr& thrown, const Report& report)
{
    if (!thrown) {
        return;
    }
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& bug) {
        report(std::string_view{bug.what()});
    }
}

// The report is the line internal_error, with `where`.
inline void log_thrown(const std::exception_ptr& thrown, const core::logger& log, std::string_view where)
{
    report_thrown(thrown, [&](std::string_view text) {
        log.write(core::log_level::error, "internal_error", {{"where", where}, {"what", text}});
    });
}

}  // namespace net
