// A command line as words. Pure.
#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace config {

// The words that a POSIX shell makes of a line (XCU 2.2: single quotes, double quotes, backslash), with no shell: nothing is
// expanded, piped, redirected or run. Where a shell would do one of these it fails; quoted, such characters are text. The
// detail of the error is a predicate with the column (bytes, from 1) and shows nothing else of the line.
core::result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace config
