#include "mcp/calls/server_questions.hpp"

#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mcp {

server_questions::server_questions(std::int64_t first)
    : renames_{first > 0},
      next_{std::max(first, upstream_names::first_new)}
{
}

// By the server's id; there are few.
server_questions::questions::const_iterator server_questions::find(std::string_view raw) const
{
    return std::ranges::find_if(open_, [id = plain_name(raw)](const auto& each) {
        return is_spelled(each.second.id, id);
    });
}

bool server_questions::has(std::string_view raw) const
{
    return find(raw) != open_.end();
}

std::string server_questions::name_for(std::string_view raw)
{
    if (renames_) {
        return std::to_string(next_++);
    }
    // None that next() gives later.
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    if (const auto number = integer_of<std::int64_t>(raw); number && *number <= highest) {
        next_ = std::max(next_, *number + 1);
    }
    return std::string{raw};
}

void server_questions::add(std::string_view name, question asked)
{
    open_.emplace(plain_name(name), std::move(asked));
}

std::optional<server_questions::question> server_questions::take(std::string_view name)
{
    auto taken = open_.extract(plain_name(name));
    return taken.empty() ? std::nullopt : std::optional{std::move(taken.mapped())};
}

std::optional<server_questions::withdrawn> server_questions::withdraw(std::string_view raw)
{
    const auto found = find(raw);
    if (found == open_.end()) {
        return std::nullopt;
    }
    auto taken = open_.extract(found);
    return withdrawn{std::move(taken.key()), taken.mapped().asked_in};
}

void server_questions::end(std::uint64_t call)
{
    for (auto& [name, each] : open_) {
        each.asked_in = each.asked_in == call ? 0 : each.asked_in;
    }
}

std::vector<std::string> server_questions::expire(core::steady_time now, core::duration patience)
{
    std::vector<std::string> late;
    for (auto each = open_.begin(); each != open_.end();) {
        auto& question = each->second;
        const auto since = question.since.value_or(now);
        question.since = since;
        if (now - since < patience) {
            ++each;
            continue;
        }
        late.push_back(std::move(question.id));
        each = open_.erase(each);
    }
    return late;
}

}  // namespace mcp
