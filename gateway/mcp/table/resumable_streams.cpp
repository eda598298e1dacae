#include "gateway/mcp/table/resumable_streams.hpp"

#include "core/json/jsonrpc_server.hpp"

#include <utility>

namespace gateway::mcp::table {

using core::errc;

resumable_streams::resumable_streams(std::function<core::steady_time()> clock, const ::mcp::replay_limits& limits)
    : clock_{std::move(clock)},
      keeps_{limits.bytes > 0},
      store_{limits}
{
}

std::uint64_t resumable_streams::open(stream_terms terms, std::weak_ptr<stream_reader> reader)
{
    const bool unasked = terms.call_id.empty();
    if (const auto known = unasked ? unasked_.find(terms.session) : unasked_.end(); known != unasked_.end()) {
        set_reader(known->second, std::move(reader));
        return known->second;
    }
    const auto stream = store_.open(terms.session);
    if (unasked) {
        unasked_.emplace(terms.session, stream);
    }
    open_.emplace(stream, open_stream{std::move(terms), std::move(reader), nullptr, {}, {}});
    return stream;
}

std::string resumable_streams::place(std::uint64_t stream) const
{
    const auto last = store_.last(stream);
    return last ? last->to_text() : std::string{};
}

void resumable_streams::keep(std::uint64_t stream, model::program_batch& batch)
{
    const auto now = clock_();
    const auto found = open_.find(stream);
    const bool of_call = found != open_.end() && !found->second.terms.call_id.empty();
    if (batch.failure && of_call) {
        const auto& terms = found->second.terms;
        batch.texts.push_back(core::jsonrpc_error_body(terms.call_id, batch.failure->code, terms.agent));
        batch.told = true;
    }
    for (auto& each : std::exchange(batch.texts, {})) {
        auto text = std::make_shared<const std::string>(std::move(each));
        const auto at = store_.keep(stream, text, now);
        batch.events.push_back({at ? at->to_text() : std::string{}, std::move(text)});
    }
    if (batch.over && of_call) {
        store_.end(stream, now);
        open_.erase(found);
    }
}

void resumable_streams::park(std::uint64_t stream, std::shared_ptr<text_queue> queue)
{
    const auto found = open_.find(stream);
    // The server's own messages wait at the session.
    if (found == open_.end() || found->second.terms.call_id.empty()) {
        return;
    }
    queue->set_wake([this, stream] { drain(stream); });
    found->second.parked = std::move(queue);
    found->second.since = clock_();
    drain(stream);
}

void resumable_streams::drain(std::uint64_t stream)
{
    const auto found = open_.find(stream);
    if (found == open_.end() || found->second.parked == nullptr) {
        return;
    }
    const auto queue = found->second.parked;
    auto batch = take_batch(*queue);
    if (batch.over) {
        queue->set_wake({});
        // Its questions are kept for the client like the rest.
        queue->arrived();
    }
    keep(stream, batch);
}

core::result<resumable_streams::resumed>
resumable_streams::resume(const ::mcp::event_position& last, const std::string& session)
{
    auto missed = store_.after(last, session, clock_());
    if (!missed) {
        return core::caller_error(errc::events_gone, "Last-Event-ID is of no stream of the session");
    }
    const auto found = open_.find(last.stream);
    resumed out;
    out.stream = last.stream;
    out.unasked = found != open_.end() && found->second.terms.call_id.empty();
    const bool begins_anew = out.unasked && missed->gap && found->second.told_gone == last.number;
    if (missed->gap && !begins_anew) {
        if (out.unasked) {
            found->second.told_gone = last.number;
        }
        return core::caller_error(errc::events_gone, "what followed Last-Event-ID is not kept any more");
    }
    if (begins_anew) {
        missed->events.clear();
    }
    out.batch.place = begins_anew ? place(last.stream) : last.to_text();
    for (auto& each : missed->events) {
        out.batch.events.push_back({each.at.to_text(), std::move(each.text)});
    }
    if (found != open_.end()) {
        out.queue = take_from_reader(found->second);
    }
    if (out.unasked) {
        // The session gives another one.
        out.queue = nullptr;
    }
    out.batch.over = out.queue == nullptr && !out.unasked;
    return out;
}

std::shared_ptr<text_queue> resumable_streams::take_from_reader(open_stream& stream)
{
    if (auto parked = std::exchange(stream.parked, nullptr)) {
        parked->set_wake({});
        parked->come_back();
        return parked;
    }
    const auto reader = std::exchange(stream.reader, {}).lock();
    return reader == nullptr ? nullptr : reader->give_up();
}

void resumable_streams::set_reader(std::uint64_t stream, std::weak_ptr<stream_reader> reader)
{
    if (const auto found = open_.find(stream); found != open_.end()) {
        found->second.reader = std::move(reader);
    }
}

void resumable_streams::forget(const std::string& session)
{
    for (const auto stream : store_.forget(session)) {
        open_.erase(stream);
    }
    unasked_.erase(session);
}

void resumable_streams::sweep(core::steady_time now)
{
    store_.expire(now);
    std::vector<std::shared_ptr<text_queue>> away;
    for (const auto& [stream, state] : open_) {
        if (state.parked != nullptr && now - state.since >= patience) {
            away.push_back(state.parked);
        }
    }
    // Leaving may end the stream.
    for (const auto& each : away) {
        each->leave();
    }
}

model::program_batch take_batch(text_queue& queue)
{
    model::program_batch batch;
    while (auto text = queue.take()) {
        batch.texts.push_back(std::move(*text));
    }
    batch.over = queue.over();
    if (batch.over) {
        batch.failure = queue.failure();
    }
    return batch;
}

}  // namespace gateway::mcp::table
