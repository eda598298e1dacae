#include "gateway/directory.hpp"

#include "gateway/agent_filter.hpp"

#include <utility>

namespace gateway {
namespace {

agent_state state_of(const core::agent& agent, const card_status* status)
{
    if (agent.speaks == core::protocol::mcp) {
        return agent_state::not_callable;
    }
    if (status == nullptr || (!status->card && !status->failure)) {
        return agent_state::unknown;
    }
    return status->failure ? agent_state::unavailable : agent_state::ready;
}

}  // namespace

directory::directory(const registry& agents, const card_plane& cards)
    : registry_{agents},
      cards_{cards}
{
}

listed_agent directory::listed(const core::agent& agent) const
{
    const auto* status = cards_.status(agent.id);
    const bool known = status != nullptr && status->card != nullptr;
    listed_agent out;
    out.id = agent.id;
    out.speaks = agent.speaks;
    if (known) {
        out.name = status->facts.name;
        out.description = status->facts.description;
        out.version = status->facts.version;
    }
    out.tags = tags_of(agent, known ? status->words : card_words{});
    out.state = state_of(agent, status);
    return out;
}

std::shared_ptr<const directory_page> directory::render(const directory_request& request) const
{
    const auto& all = registry_.all();
    std::vector<listed_agent> shown;
    std::string next;
    const auto* last = static_cast<const std::string*>(nullptr);
    for (auto at = request.cursor ? all.upper_bound(*request.cursor) : all.begin(); at != all.end(); ++at) {
        if (!at->second.served()) {
            continue;
        }
        if (shown.size() == request.limit) {
            next = *last;
            break;
        }
        shown.push_back(listed(at->second.entry->record));
        last = &at->first;
    }
    if (request.kind != directory_kind::agents && !request.cursor && !next.empty()) {
        return std::make_shared<const directory_page>(index_of(request.kind, base_, cursors()));
    }
    return std::make_shared<const directory_page>(page_of(request, base_, shown, next));
}

std::vector<std::string> directory::cursors() const
{
    std::vector<std::string> out{{}};
    std::size_t count = 0;
    const auto* last = static_cast<const std::string*>(nullptr);
    for (const auto& [id, agent] : registry_.all()) {
        if (!agent.served()) {
            continue;
        }
        if (count == largest_page) {
            out.push_back(*last);
            count = 0;
        }
        ++count;
        last = &id;
    }
    return out;
}

}  // namespace gateway
