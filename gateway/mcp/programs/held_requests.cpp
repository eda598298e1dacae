#include "gateway/mcp/programs/held_requests.hpp"

#include "mcp/calls/upstream_names.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::programs {

core::result<>
held_requests::push(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    const auto size = request.text.size();
    if (all_.size() >= most || (!all_.empty() && bytes_ + size > most_bytes)) {
        return core::gateway_error(core::errc::overloaded, "too many calls of this session wait for its program");
    }
    all_.push_back({::mcp::kept_message{request}, reader});
    bytes_ += size;
    return {};
}

bool held_requests::cancel(const ::mcp::client_message& notification)
{
    const auto id = ::mcp::plain_name(notification.request_id);
    const auto cancelled =
        std::ranges::find_if(all_, [&](const held& each) { return ::mcp::is_spelled(each.message.view().id, id); });
    if (cancelled == all_.end()) {
        return false;
    }
    if (const auto reader = cancelled->reader.lock()) {
        reader->close();
    }
    bytes_ -= cancelled->message.view().text.size();
    all_.erase(cancelled);
    return true;
}

std::list<held_requests::held> held_requests::take()
{
    bytes_ = 0;
    return std::exchange(all_, {});
}

void held_requests::fail(const core::error& why)
{
    for (const auto& each : take()) {
        if (const auto reader = each.reader.lock()) {
            reader->fail(why);
        }
    }
}

}  // namespace gateway::mcp::programs
