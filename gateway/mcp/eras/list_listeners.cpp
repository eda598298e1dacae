#include "gateway/mcp/eras/list_listeners.hpp"

#include "mcp/translation/list_subscription.hpp"

#include <utility>

namespace gateway::mcp::eras {

std::shared_ptr<table::text_queue> list_listeners::listen(
    const std::string& agent_id,
    std::string_view raw_id,
    std::string_view wishes,
    std::shared_ptr<const ::mcp::server_lists> known
)
{
    std::erase_if(all_, [](const listener& each) { return each.reader.expired(); });
    auto reader = std::make_shared<table::text_queue>(on_);
    const auto wanted = known == nullptr ? ::mcp::list_set{} : ::mcp::lists_listened_to(wishes);
    reader->push(::mcp::acknowledged_text(raw_id, wanted), table::text_kind::answer);
    all_.push_back({agent_id, std::string{raw_id}, wanted, std::move(known), reader});
    return reader;
}

void list_listeners::changed(const std::string& agent_id, const std::shared_ptr<const ::mcp::server_lists>& lists)
{
    ::mcp::list_differences to_now{*lists};
    for (auto& each : all_) {
        if (each.agent_id != agent_id || each.known == nullptr) {
            continue;
        }
        const auto before = std::exchange(each.known, lists);
        const auto changes = to_now.from(before) & each.wanted;
        const auto reader = each.reader.lock();
        for (auto& text : ::mcp::changed_texts(each.raw_id, changes)) {
            if (reader != nullptr) {
                reader->push(std::move(text), table::text_kind::notification);
            }
        }
    }
}

void list_listeners::end(const std::string& agent_id)
{
    std::erase_if(all_, [&](const listener& each) {
        const auto reader = each.agent_id == agent_id ? each.reader.lock() : nullptr;
        if (reader != nullptr) {
            reader->finish(::mcp::listened_answer(each.raw_id));
        }
        return each.agent_id == agent_id;
    });
}

}  // namespace gateway::mcp::eras
