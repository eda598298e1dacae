// The lists of a bundle as its clients get them: results of tools/list, prompts/list, resources/list and resources/templates/list. Pure;
// any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::size_t largest_bundle_page =
    1024 * 1024;  // bytes of the entries of one page, unless the first is longer

struct page_question {
    list_kind list = list_kind::tools;
    std::optional<std::string_view> cursor{};  // its text, not raw; nothing: the first page
    era speaks = era::modern;
};

// Parts of a result that the catalog does not have.
struct page_additions {
    std::string_view front{};  // raw entries with commas between them, which come first on the first page
    std::span<const std::string> unavailable{};  // ids of members that are down: `_meta["cardea/unavailable"]`
    std::string_view server_info{};              // raw; for `_meta` of the modern era; empty: none
};

// Appends the raw result. A cursor names the last entry of the page before: if that has gone since, the list goes on where it was.
// Fails with invalid_params, and then appends nothing: no page of this list had such a cursor.
core::result<> append_page(
    std::string& out,
    const bundle_catalog& catalog,
    const page_question& question,
    const bundle_sight& sight,
    const page_additions& additions = {}
);

}  // namespace mcp
