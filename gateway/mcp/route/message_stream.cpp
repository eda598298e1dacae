#include "gateway/mcp/route/message_stream.hpp"

#include "gateway/responses/answer.hpp"
#include "mcp/calls/client_message.hpp"
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
    auto& text = caller_.scratch();
    responses::begin_head(text, caller_, 200);
    net::http1::head_writer out{text};
    out.field("Content-Type", "text/event-stream");
    out.field("Cache-Control", "no-cache, no-transform");
    out.field("X-Accel-Buffering", "no");
    text += fields;
    caller_.complete_head(text, net::answer_length::open());
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
    const auto first = std::exchange(first_, {});
    net::answer_part all{.head = std::exchange(head_, {}), .last = last};
    all.body.add(first);
    all.body.add(event);
    all.body.add(data);
    all.body.add(end);
    sent_ = caller_.owner().now();
    co_return co_await caller_.send(all);
}

}  // namespace gateway::mcp::route
