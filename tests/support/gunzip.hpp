// Reads what somebody else has compressed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace test_support {

// The text of one whole member of gzip with nothing behind it; nothing if it is not that.
std::optional<std::string> gunzip(std::string_view packed);

}  // namespace test_support
