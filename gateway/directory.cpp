#include "gateway/directory.hpp"

#include "gateway/agent_filter.hpp"
#include "gateway/agent_walk.hpp"

#include <stop_token>
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

directory::directory(const registry& agents, const card_plane& cards, turns& by)
    : registry_{agents},
      cards_{cards},
      turns_{by}
{
}

listed_agent directory::listed(const agent_entry& agent) const
{
    const auto& record = agent.record;
    const auto* status = cards_.status(record.id);
    const bool known = status != nullptr && status->card != nullptr;
    listed_agent out;
    out.id = record.id;
    out.speaks = record.speaks;
    if (known) {
        out.name = status->facts.name;
        out.description = status->facts.description;
        out.version = status->facts.version;
    }
    out.tags = tags_of(agent.tags, known ? status->words : no_words, listed_tags);
    out.state = state_of(record, status);
    return out;
}

net::task<std::shared_ptr<const directory_page>> directory::render(directory_request request) const
{
    if (request.kind != directory_kind::agents && !request.cursor) {
        const auto pages = co_await cursors();
        if (pages.size() > 1) {
            co_return std::make_shared<const directory_page>(index_of(request.kind, base_, pages));
        }
    }
    page_writer page{request, base_};
    std::size_t count = 0;
    std::string last;
    std::string next;
    agent_visitor take = [&](const std::string& id, const registered_agent& agent) {
        if (!agent.served()) {
            return true;
        }
        if (count == request.limit) {
            next = last;
            return false;
        }
        ++count;
        last = id;
        page.add(listed(*agent.entry));
        return true;
    };
    auto behind = request.cursor.value_or(std::string{});
    std::stop_token to_its_end;
    co_await walk_agents(registry_, turns_, std::move(behind), std::move(take), to_its_end);
    co_return std::make_shared<const directory_page>(page.finish(next));
}

net::task<std::vector<std::string>> directory::cursors() const
{
    std::vector<std::string> out{{}};
    std::size_t count = 0;
    std::string last;
    agent_visitor take = [&](const std::string& id, const registered_agent& agent) {
        if (agent.served()) {
            if (count == largest_page) {
                out.push_back(last);
                count = 0;
            }
            ++count;
            last = id;
        }
        return true;
    };
    std::string from_the_first;
    std::stop_token to_its_end;
    co_await walk_agents(registry_, turns_, from_the_first, std::move(take), to_its_end);
    co_return out;
}

}  // namespace gateway
