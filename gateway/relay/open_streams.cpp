#include "gateway/relay/open_streams.hpp"

namespace gateway::relay {

std::optional<core::place_share> open_streams::share_of(core::caller_mark whose) const noexcept
{
    return core::all_shares().take(core::place_shares::of_object(this), whose, core::half_of(limits_.streams));
}

bool open_streams::keep_place(open_stream& stream)
{
    auto share = share_of(stream.whose());
    if (!share || !has_room()) {
        return false;
    }
    stream.share() = std::move(*share);
    ++kept_places_;
    return true;
}

void open_streams::give_place_up(open_stream& stream)
{
    stream.share().give_back();
    --kept_places_;
}

bool open_streams::begin(open_stream& stream)
{
    auto share = share_of(stream.whose());
    if (!share || !has_room()) {
        return false;
    }
    stream.share() = std::move(*share);
    ++open_;
    counts_.began(stream.agent());
    if (ending_all_) {
        stream.end_stream();
        return true;
    }
    if (!stream.is_linked()) {
        streams_.push_back(stream);
    }
    if (ending_listening_) {
        stream.end_listening();
    }
    return true;
}

void open_streams::tell(void (open_stream::*what)())
{
    // Works like end_all(), but the streams stay.
    stream_list open;
    open.swap(streams_);
    while (!open.empty()) {
        auto& first = open.front();
        open.pop_front();
        streams_.push_back(first);
        (first.*what)();
    }
}

void open_streams::end_listening()
{
    ending_listening_ = true;
    tell(&open_stream::end_listening);
}

void open_streams::end_all()
{
    ending_all_ = true;
    // Ending one resumes its coroutine, which unlinks it; what goes on meanwhile may unlink others.
    while (!streams_.empty()) {
        auto& first = streams_.front();
        streams_.pop_front();
        first.end_stream();
    }
}

}  // namespace gateway::relay
