// The parameters with which callers ask for a page of the directory. Pure.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/model/directory_kind.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::model {

inline constexpr std::size_t largest_page = 1000;  // agents; catalogs with more of them are catalogs of pages

struct directory_request {
    directory_kind kind = directory_kind::agents;
    std::optional<std::string> cursor;  // only agents with ids behind this one; empty: from the first
    std::size_t limit = largest_page;
    std::function<bool(const core::agent&)> shows{};  // whether the caller may know of an agent; empty: of every one

    // What most callers ask for: no parameter was given, and every agent is shown.
    bool plain() const noexcept;
};

// `query` is what follows the path, with its '?', or empty: `limit` (agents only, 1 to 1000, otherwise 100) and `cursor`.
// Nothing is decoded. Fails with invalid_params; the detail is for the caller and says what was expected.
core::result<directory_request> read_directory_request(directory_kind kind, std::string_view query);

}  // namespace gateway::model
