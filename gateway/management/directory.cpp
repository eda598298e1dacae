#include "gateway/management/directory.hpp"

#include "gateway/management/answer_builder.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/agent_filter.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

namespace gateway::management {
namespace {

model::agent_state state_of(const cards::card_status* status)
{
    if (status == nullptr || (!status->card && !status->failure)) {
        return model::agent_state::unknown;
    }
    return status->failure ? model::agent_state::unavailable : model::agent_state::ready;
}

bool has_version(const model::directory_request& request, const model::listed_agent& agent)
{
    return request.version.empty() || request.version == model::server_version(agent);
}

}  // namespace

directory::directory(
    const registry& agents,
    const cards::card_plane& cards,
    threads::turns& by,
    core::memory_budget& memory
)
    : registry_{agents},
      cards_{cards},
      turns_{by},
      memory_{memory}
{
}

model::listed_agent directory::listed(const registered_agent& of) const
{
    const auto& agent = *of.entry;
    const auto& record = agent.record;
    const auto* status = cards_.status(record.id);
    const bool known = status != nullptr && status->card != nullptr;
    model::listed_agent out;
    out.id = record.id;
    out.speaks = record.speaks;
    out.bridged = record.bridge;
    if (known) {
        out.name = status->facts.name;
        out.description = status->facts.description;
        out.version = status->facts.version;
        out.mcp_version = status->card->mcp_version;
    }
    out.tags = model::tags_of(agent.tags, known ? status->words : model::no_words, model::listed_tags);
    out.state = of.contained ? model::agent_state::contained : state_of(status);
    return out;
}

bool directory::is_shown(const model::directory_request& request, const registered_agent& agent) const
{
    const bool offered = request.kind == model::directory_kind::agents ? agent.served() : agent.reached();
    if (!offered || (request.shows && !request.shows(agent.entry->record))) {
        return false;
    }
    const bool any = request.kind < model::directory_kind::servers;
    const auto& record = agent.entry->record;
    return any || (record.speaks == core::protocol::mcp &&
                   (request.search.empty() ||
                    model::server_name(name_space_, record.id).find(request.search) != std::string::npos));
}

net::task<directory::page_pointer> directory::render(model::directory_request request)
{
    auto page = co_await make(std::move(request));
    co_return page == nullptr ? nullptr : shared(std::move(page));
}

net::task<directory::page_pointer> directory::make(model::directory_request request) const
{
    if (model::is_of_one(request.kind)) {
        co_return make_of_one(request);
    }
    core::memory_share memory{memory_, memory_.most() / part_for_operators};
    const bool is_catalog =
        request.kind == model::directory_kind::api_catalog || request.kind == model::directory_kind::ai_catalog;
    if (is_catalog && !request.cursor) {
        const auto pages = co_await cursors(request);
        if (pages.size() > 1) {
            co_return finished(model::index_of(request.kind, base_, pages), std::move(memory));
        }
    }
    model::page_writer page{request, base_};
    std::size_t count = 0;
    std::string last;
    std::string next;
    bool fits = true;
    agent_visitor take = [&](const std::string& id, const registered_agent& agent) {
        if (!is_shown(request, agent)) {
            return true;
        }
        const auto shown = listed(agent);
        if (!has_version(request, shown)) {
            return true;
        }
        if (count == request.limit) {
            next = last;
            return false;
        }
        ++count;
        last = id;
        page.add(shown);
        fits = memory.hold(page.capacity());
        return fits;
    };
    auto behind = request.cursor.value_or(std::string{});
    std::stop_token to_its_end;
    co_await walk_agents(registry_, turns_, std::move(behind), std::move(take), to_its_end);
    co_return fits ? finished(page.finish(next), std::move(memory)) : nullptr;
}

directory::page_pointer directory::make_of_one(const model::directory_request& request) const
{
    const auto* const agent = registry_.find(request.agent);
    if (agent == nullptr || !is_shown(request, *agent)) {
        return std::make_shared<const model::directory_page>();
    }
    const auto shown = listed(*agent);
    if (!has_version(request, shown)) {
        return std::make_shared<const model::directory_page>();
    }
    core::memory_share memory{memory_, memory_.most() / part_for_operators};
    model::page_writer page{request, base_};
    page.add(shown);
    return memory.hold(page.capacity()) ? finished(page.finish({}), std::move(memory)) : nullptr;
}

directory::page_pointer directory::finished(model::directory_page page, core::memory_share memory) const
{
    page.body.shrink_to_fit();  // readers may keep it for long
    if (!memory.hold(page.body.capacity())) {
        return nullptr;
    }
    page.memory = std::move(memory);
    return std::make_shared<const model::directory_page>(std::move(page));
}

directory::page_pointer directory::shared(page_pointer page)
{
    constexpr std::size_t few = 64;
    if (pages_.size() >= std::max(sweep_at_, few)) {
        std::erase_if(pages_, [](const auto& each) { return each.second.expired(); });
        sweep_at_ = 2 * pages_.size();
    }
    auto& known = pages_[page->validators + page->fields];
    if (auto same = known.lock(); same && same->body == page->body) {
        return same;
    }
    known = page;
    return page;
}

net::task<std::vector<std::string>> directory::cursors(const model::directory_request& request) const
{
    std::vector<std::string> out{{}};
    std::size_t count = 0;
    std::string last;
    agent_visitor take = [&](const std::string& id, const registered_agent& agent) {
        if (is_shown(request, agent)) {
            if (count == model::largest_page) {
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

}  // namespace gateway::management
