#include "gateway/bridge/event_answer.hpp"

#include "gateway/responses/answer.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head_writer.hpp"

#include <utility>

namespace gateway::bridge {
namespace {

// The relay that asks speaks HTTP/1.1.
std::string head_of_events(net::server_connection& caller)
{
    std::string text;
    responses::begin_head(text, caller, 200);
    net::http1::head_writer out{text};
    out.field("Content-Type", "text/event-stream");
    out.field("Cache-Control", "no-cache, no-transform");
    out.field("Transfer-Encoding", "chunked");
    out.end();
    return text;
}

}  // namespace

net::routine<core::result<>> event_answer::send(std::string message, bool last)
{
    return write("event: message\ndata: " + std::move(message) + "\n\n", last);
}

net::routine<core::result<>> event_answer::send_comment()
{
    return write(": keep-alive\n\n", false);
}

net::routine<core::result<>> event_answer::send_end()
{
    return write({}, true);
}

net::routine<core::result<>> event_answer::write(std::string event, bool last)
{
    const auto head = std::exchange(begun_, true) ? std::string{} : head_of_events(caller_);
    const net::http1::chunk_header header{event.size()};
    net::pieces all;
    all.add(head);
    if (!event.empty()) {
        all.add(header.text());
        all.add(event);
        all.add(net::http1::chunk_end);
    }
    if (last) {
        all.add(net::http1::last_chunk);
    }
    co_return co_await caller_.send(all);
}

}  // namespace gateway::bridge
