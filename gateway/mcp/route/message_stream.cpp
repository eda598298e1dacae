#include "gateway/mcp/route/message_stream.hpp"

#include "gateway/responses/answer.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head_writer.hpp"
#include "net/sse/sse.hpp"

#include <utility>

namespace gateway::mcp::route {
namespace {

constexpr std::string_view priming_event = "retry: 5000\ndata:\n\n";
constexpr std::string_view id_begin = "id: ";
constexpr std::string_view event_begin = "event: message\ndata: ";
constexpr std::string_view event_end = "\n\n";

}  // namespace

void message_stream::begin(std::string_view fields)
{
    chunked_ = caller_.head().minor_version == 1;
    if (!chunked_) {
        caller_.end_body_with_connection();  // HTTP/1.0
    }
    auto& text = caller_.scratch();
    responses::begin_head(text, caller_, 200);
    net::http1::head_writer out{text};
    out.field("Content-Type", "text/event-stream");
    out.field("Cache-Control", "no-cache, no-transform");
    out.field("X-Accel-Buffering", "no");
    if (chunked_) {
        out.field("Transfer-Encoding", "chunked");
    }
    text += fields;
    out.end();
    head_ = text;
}

void message_stream::prime(std::string_view id)
{
    if (!id.empty()) {
        first_.append(id_begin).append(id) += '\n';
    }
    first_ += priming_event;
}

net::routine<core::result<>> message_stream::send_head()
{
    return write({}, {}, {}, false);
}

net::routine<core::result<>> message_stream::send(std::string message, bool last)
{
    // A line end in it would end the field.
    const auto line = ::mcp::one_line(std::move(message));
    co_return co_await write(event_begin, line, event_end, last);
}

net::routine<core::result<>> message_stream::send(const model::program_event& event, bool last)
{
    std::string begin;
    if (!event.id.empty()) {
        begin.append(id_begin).append(event.id) += '\n';
    }
    begin += event_begin;
    if (::mcp::is_one_line(*event.text)) {
        co_return co_await write(begin, *event.text, event_end, last);
    }
    const auto line = ::mcp::one_line(*event.text);
    co_return co_await write(begin, line, event_end, last);
}

net::routine<core::result<>> message_stream::send_comment(std::string_view text)
{
    return write(text, {}, {}, false);
}

net::routine<core::result<>> message_stream::send_last(std::string_view event)
{
    return write(event, {}, {}, true);
}

net::routine<core::result<>> message_stream::send_end()
{
    return write({}, {}, {}, true);
}

net::routine<core::result<>>
message_stream::write(std::string_view event, std::string_view data, std::string_view end, bool last)
{
    const auto head = std::exchange(head_, {});
    const auto first = std::exchange(first_, {});
    const auto size = first.size() + event.size() + data.size() + end.size();
    const net::http1::chunk_header header{size};
    net::pieces all;
    all.add(head);
    if (chunked_ && size > 0) {
        all.add(header.text());
    }
    all.add(first);
    all.add(event);
    all.add(data);
    all.add(end);
    if (chunked_ && size > 0) {
        all.add(net::http1::chunk_end);
    }
    if (chunked_ && last) {
        all.add(net::http1::last_chunk);
    }
    sent_ = caller_.owner().now();
    co_return co_await caller_.send(all);
}

}  // namespace gateway::mcp::route
