#include "a2a/dialect/task_list.hpp"

#include "a2a/dialect/walk.hpp"
#include "core/ascii.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace a2a {
namespace {

// The name for a reader that ignores case and underscores.
std::string plain_name(std::string_view raw, bool escaped)
{
    auto name = core::folded(escaped ? core::unescape_json(raw) : std::string{raw});
    std::erase(name, '_');
    return name;
}

template <class Each>
void each_member(std::string_view raw, Each&& each)
{
    core::json_cursor<core::wide_bytes> cursor{raw, core::json_cursor<core::wide_bytes>::deepest};
    cursor.object([&each](std::string_view name, bool escaped, std::string_view value) {
        each(plain_name(name, escaped), value);
        return true;
    });
}

// Every id that it has in some reader's eyes is one that the caller may know.
bool is_kept(std::string_view task, const task_filter& keeps)
{
    if (!is_object(task)) {
        return false;
    }
    bool named = false;
    bool kept = true;
    each_member(task, [&](const std::string& name, std::string_view value) {
        if (name == "id") {
            std::string room;
            named = true;
            kept = kept && is_string(value) && keeps(text_of(value, room));
        }
    });
    return named && kept;
}

// Appends the array with what is kept of it; returns how many that are.
std::size_t append_kept(std::string& out, std::string_view list, const task_filter& keeps)
{
    std::size_t kept = 0;
    array_walker at{list};
    std::string_view task;
    out += '[';
    while (at.next(task)) {
        if (is_kept(task, keeps)) {
            out.append(kept > 0 ? "," : "").append(task);
            ++kept;
        }
    }
    out += ']';
    return kept;
}

// A value, and what stands there instead; a total is known last.
struct replacement {
    std::string_view was;
    std::string text;
    bool is_total = false;
};

}  // namespace

std::string kept_tasks(std::string_view result, const task_filter& keeps)
{
    const auto value = result.substr(std::min(result.find_first_not_of(" \t\r\n"), result.size()));
    std::string out;
    if (is_array(value)) {
        append_kept(out, value, keeps);
        return out;
    }
    std::vector<replacement> found;
    std::size_t kept = 0;
    const auto look = [&](const std::string& name, std::string_view member) {
        if (name == "totalsize") {
            found.push_back({member, {}, /*is_total=*/true});
        } else if (name == "tasks") {
            auto& list = found.emplace_back(replacement{member, "[]"});
            if (is_array(member)) {
                list.text.clear();
                kept += append_kept(list.text, member, keeps);
            }
        }
    };
    if (is_object(value)) {
        each_member(value, look);
    }
    const char* from = result.data();
    for (const auto& each : found) {
        out.append(from, each.was.data()).append(each.is_total ? std::to_string(kept) : each.text);
        from = each.was.data() + each.was.size();
    }
    out.append(from, result.data() + result.size());
    return out;
}

}  // namespace a2a
