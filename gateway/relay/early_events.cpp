#include "gateway/relay/early_events.hpp"

#include "gateway/relay/answer_body.hpp"
#include "gateway/relay/relay.hpp"
#include "net/http1/head_writer.hpp"

#include <string>
#include <utility>

namespace gateway::relay {

using core::errc;

early_events::early_events(
    relay& stream,
    net::caller_exchange& caller,
    answer_writer& writer,
    const relay_settings& settings,
    const relay_call& call
)
    : stream_{stream},
      caller_{caller},
      writer_{writer},
      settings_{settings},
      call_{call},
      due_{
          call.times.patience > core::duration{} ? caller.owner().now() + call.times.patience : core::steady_time::max()
      }
{
}

core::steady_time early_events::due() const
{
    return begun_ ? writer_.comment_due() : due_;
}

net::routine<core::result<>> early_events::break_silence()
{
    if (!begun_) {
        begun_ = settings_.streams.begin(stream_);
        if (!begun_) {
            due_ = core::steady_time::max();  // one stream too many: the caller waits for the answer as it comes
            co_return core::result<>{};
        }
        writer_.leave_length_open();
        writer_.expect_events(settings_.limits.sse_event, settings_.timeouts.stream_keep_alive);
        write_head();
        writer_.add_head(std::nullopt);
    }
    writer_.add_comment();
    auto sent = co_await caller_.send(writer_.take());
    writer_.wrote();
    co_return sent;
}

bool early_events::wraps(const net::http1::response_head& head) const noexcept
{
    return call_.traits.as_events && head.status == 200 && is_json(head) && has_identity_coding(head) &&
           !is_empty(head);
}

net::routine<core::result<>> early_events::begin(const net::http1::response_head& head)
{
    core::result<> broken;
    if (!begun_) {
        broken = co_await break_silence();
    }
    if (broken && !begun_) {
        broken = core::gateway_error(errc::overloaded, "streams, of all or of this principal");
    }
    co_return broken ? adopt(head) : std::move(broken);
}

void early_events::write_head() const
{
    auto& text = caller_.scratch();
    text.clear();
    net::http1::head_writer head{text};
    head.status_line(200);
    head.field("Content-Type", "text/event-stream");
    head.field("Cache-Control", "no-cache, no-transform");
    head.field("X-Accel-Buffering", "no");
    head.field("Date", caller_.owner().http_date());
    if (call_.hooks.repair != nullptr) {
        call_.hooks.repair->add_head_fields(text);
    }
}

core::result<> early_events::adopt(const net::http1::response_head& head)
{
    if (!has_identity_coding(head)) {
        return core::upstream_error(errc::upstream_protocol, "the answer is in a content coding");
    }
    if (head.status == 200 && is_event_stream(head)) {
        return {};
    }
    const bool leads_elsewhere = head.status >= 300 && head.status < 400;
    if (!is_json(head) || is_empty(head) || leads_elsewhere) {
        return core::upstream_error(errc::upstream_status, "status " + std::to_string(head.status));
    }
    writer_.wrap_as_event();
    return {};
}

}  // namespace gateway::relay
