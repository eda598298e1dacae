// What the relay does to streams of events: it announces them, limits their events, and puts comments between them.
#include "gateway/traffic/relay.hpp"

namespace gateway::traffic {

using net::http1::framing;

// With the answer's framing known, which decides whether comments can be put in. False: one stream too many.
bool relay::expect_events()
{
    const auto& head = lease_->parser().head();
    if (!is_event_stream(head)) {
        return true;
    }
    outcome_.stream = model::stream_end::complete;
    if (settings_.observer != nullptr) {
        announced_ = settings_.observer->stream_began(*this);
        if (!announced_) {
            outcome_.stream.reset();
            return false;
        }
    }
    if (has_identity_coding(head)) {
        events_.emplace(settings_.sse_event, head.body == framing::length ? core::duration{} : settings_.keep_alive);
    }
    return true;
}

// Adds a piece of the body, in a chunk if the caller gets chunks. False: an event is over its limit, and what came before
// it was added.
bool relay::add_data(net::pieces& out, net::http1::chunk_header& size, std::string_view data)
{
    const auto passed = events_ ? events_->pass(data) : event_stream::passage{{{}, data}, false};
    const auto& [held, rest] = passed.bytes;
    if (rest.empty()) {
        return !passed.too_large;
    }
    if (rechunk_) {
        size = net::http1::chunk_header{held.size() + rest.size()};
        out.add(size.text());
    }
    out.add(held);
    out.add(rest);
    if (rechunk_) {
        out.add(net::http1::chunk_end);
    }
    return !passed.too_large;
}

void relay::add_comment(net::pieces& out)
{
    const auto comment = events_->comment();
    if (rechunk_) {
        chunk_headers_[0] = net::http1::chunk_header{comment.size()};
        out.add(chunk_headers_[0].text());
    }
    out.add(comment);
    if (rechunk_) {
        out.add(net::http1::chunk_end);
    }
}

}  // namespace gateway::traffic
