#include "gateway/model/endpoint_entries.hpp"

#include "core/url.hpp"
#include "gateway/model/call_address.hpp"
#include "gateway/model/sent_credentials.hpp"

#include <algorithm>

namespace gateway::model {

std::shared_ptr<const agent_entry> endpoint_of(const std::shared_ptr<const agent_entry>& agent, std::size_t i)
{
    if (agent->siblings == nullptr || i >= agent->siblings->all.size()) {
        return agent;
    }
    return {agent, &agent->siblings->all[i]};
}

const agent_entry& first_of(const agent_entry& agent) noexcept
{
    return agent.siblings == nullptr ? agent : agent.siblings->all.front();
}

std::vector<std::string_view> keys_that_leave(const agent_entry* before, const agent_entry* now)
{
    const auto keys_of = [](const agent_entry* agent) {
        std::vector<std::string_view> keys;
        const auto count = agent == nullptr ? 0 : endpoint_count(*agent);
        for (std::size_t i = 0; i < count; ++i) {
            const auto& each = agent->siblings == nullptr ? *agent : agent->siblings->all[i];
            if (each.upstream != nullptr) {
                keys.emplace_back(each.upstream->key);
            }
        }
        return keys;
    };
    auto left = keys_of(before);
    std::erase_if(left, [stay = keys_of(now)](std::string_view key) {
        return std::ranges::find(stay, key) != stay.end();
    });
    return left;
}

std::size_t endpoint_count(const agent_entry& agent) noexcept
{
    return agent.siblings == nullptr ? 1 : agent.siblings->all.size();
}

core::steady_time again_at(const agent_entry& agent, core::steady_time now) noexcept
{
    if (agent.reach != nullptr) {
        return agent.reach->group->again_at(now);
    }
    return agent.breaker == nullptr ? now : agent.breaker->again_at(now);
}

std::string moved_path(std::string_view path, const agent_entry& from, const agent_entry& to)
{
    const auto query = path.find('?') == path.npos ? std::string_view{} : path.substr(path.find('?'));
    const auto only = path.substr(0, path.size() - query.size());
    auto moved = moved_below(only, from.own_path, to.own_path).append(query);
    if (from.query_key == to.query_key) {
        return moved;
    }
    return with_query(core::without_parameters(std::move(moved), from.query_key.reveal()), to.query_key);
}

std::string moved_head(std::string_view head, const agent_entry& from, const agent_entry& to)
{
    const auto line_end = head.find("\r\n") + 2;
    const auto line = head.substr(0, line_end);
    const auto begin = line.find(' ') + 1;
    const auto end = line.find(' ', begin);
    std::string out{line.substr(0, begin)};
    out += moved_path(line.substr(begin, end - begin), from, to);
    out += line.substr(end);
    out += to.fixed_fields;
    if (const auto rest = head.substr(line_end); rest.starts_with(from.fixed_fields)) {
        out += rest.substr(from.fixed_fields.size());
    }
    return out;
}

}  // namespace gateway::model
