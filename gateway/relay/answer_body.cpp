#include "gateway/relay/answer_body.hpp"

#include "core/ascii.hpp"

#include <utility>

namespace gateway::relay {

using core::equal_ignoring_case;
using net::http1::field_name;

namespace {

bool has_type(const net::http1::response_head& head, std::string_view type) noexcept
{
    const auto* value = net::http1::find(head.fields, field_name::content_type);
    return value != nullptr && value->size() >= type.size() &&
           equal_ignoring_case(value->substr(0, type.size()), type) &&
           (value->size() == type.size() || (*value)[type.size()] == ';' || (*value)[type.size()] == ' ');
}

}  // namespace

bool is_event_stream(const net::http1::response_head& head) noexcept
{
    return has_type(head, "text/event-stream");
}

bool is_json(const net::http1::response_head& head) noexcept
{
    return has_type(head, "application/json");
}

bool is_empty(const net::http1::response_head& head) noexcept
{
    using net::http1::framing;
    return head.body == framing::none || (head.body == framing::length && head.content_length == 0);
}

bool is_page(const net::http1::response_head& head) noexcept
{
    return !is_empty(head) && (has_type(head, "text/html") || has_type(head, "application/xhtml+xml"));
}

bool has_identity_coding(const net::http1::response_head& head) noexcept
{
    const auto* coding = net::http1::find(head.fields, field_name::content_encoding);
    return coding == nullptr || equal_ignoring_case(*coding, "identity");
}

event_stream::event_stream(std::uint64_t limit, core::duration keep_alive) noexcept
    : scanner_{limit},
      keep_alive_{keep_alive}
{
}

event_stream::passage event_stream::pass(std::string_view piece) noexcept
{
    const bool too_large = !scanner_.feed(piece);
    if (too_large) {
        piece = piece.substr(0, scanner_.ahead_of_refused());
    }
    return {mark_ ? mark_->take(piece) : net::late_bom::outcome{{}, piece}, too_large};
}

std::size_t event_stream::rest_of_event(std::string_view piece) const noexcept
{
    auto scanner = scanner_;
    std::size_t at = 0;
    while (at < piece.size() && !scanner.at_boundary()) {
        scanner.feed(piece.substr(at++, 1));
    }
    return at;
}

core::steady_time event_stream::comment_due() const noexcept
{
    const bool wanted = keep_alive_ > core::duration::zero() && scanner_.at_boundary();
    if (wanted && announcing_) {
        return core::steady_time::min();
    }
    return wanted ? written_ + keep_alive_ : core::steady_time::max();
}

std::string_view event_stream::comment() noexcept
{
    if (scanner_.untouched() && !mark_) {
        mark_.emplace();
    }
    return std::exchange(announcing_, false) ? net::sse_draining : net::sse_keep_alive;
}

}  // namespace gateway::relay
