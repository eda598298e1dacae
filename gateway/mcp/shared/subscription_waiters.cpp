#include "gateway/mcp/shared/subscription_waiters.hpp"

#include "gateway/mcp/shared/shared_answers.hpp"
#include "mcp/calls/upstream_names.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::shared {

subscription_waiters::ticket
subscription_waiters::add(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    const auto made = ++last_;
    waiting added{request.client, std::string{request.principal}, std::string{request.id}, reader};
    all_.emplace(made, std::move(added));
    return made;
}

void subscription_waiters::finish(ticket request, std::string_view member, std::string_view raw)
{
    const auto found = all_.extract(request);
    if (const auto reader = found.empty() ? nullptr : found.mapped().reader.lock()) {
        reader->finish(answer_with(found.mapped().id, member, raw));
    }
}

void subscription_waiters::fail(ticket request, const core::error& why)
{
    const auto found = all_.extract(request);
    if (const auto reader = found.empty() ? nullptr : found.mapped().reader.lock()) {
        reader->fail(why);
    }
}

bool subscription_waiters::cancel(const ::mcp::client_message& notification)
{
    const auto id = ::mcp::plain_name(notification.request_id);
    const auto found = std::ranges::find_if(all_, [&](const auto& each) {
        return each.second.client == notification.client && ::mcp::is_spelled(each.second.id, id);
    });
    if (found == all_.end()) {
        return false;
    }
    if (const auto reader = found->second.reader.lock()) {
        reader->close();
    }
    all_.erase(found);
    return true;
}

void subscription_waiters::end_those_of(std::uint64_t client, const core::error& why)
{
    std::erase_if(all_, [&](const auto& each) {
        const bool its = each.second.client == client;
        if (const auto reader = its ? each.second.reader.lock() : nullptr) {
            reader->fail(why);
        }
        return its;
    });
}

std::size_t subscription_waiters::count_of(std::uint64_t client) const
{
    const auto is_its = [client](const auto& each) { return each.second.client == client; };
    return static_cast<std::size_t>(std::ranges::count_if(all_, is_its));
}

std::size_t subscription_waiters::count_of(std::string_view principal) const
{
    const auto is_its = [principal](const auto& each) { return each.second.principal == principal; };
    return static_cast<std::size_t>(std::ranges::count_if(all_, is_its));
}

}  // namespace gateway::mcp::shared
