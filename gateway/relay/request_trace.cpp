#include "gateway/relay/request_trace.hpp"

#include "core/ascii.hpp"
#include "net/upstream/upstream.hpp"

#include <charconv>

namespace gateway::relay {
namespace {

std::uint16_t port_of(const std::string& digits) noexcept
{
    std::uint16_t port = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return port;
}

}  // namespace

bool request_trace::replaces(std::string_view name) const noexcept
{
    return joined() && (core::equal_ignoring_case(name, "traceparent") ||
                        (parent_ == 0 && core::equal_ignoring_case(name, "tracestate")));
}

void attempt_span::begin(const net::upstream_target& to, std::string_view method, core::steady_time now)
{
    if (of_ == nullptr) {
        return;
    }
    end(now);
    auto at = of_->at_;
    at.span = of_->ids_->span();
    told_ = told_trace{at, of_->parent_ != 0};
    if (!at.sampled || of_->attempts().size() >= request_trace::most_attempts) {
        return;
    }
    index_ = of_->attempts().size();
    kept_ = true;
    of_->keep().attempts.push_back({at.span, now, {}, method, to.host, port_of(to.port)});
}

traced_attempt* attempt_span::current() noexcept
{
    return kept_ ? &of_->keep().attempts[index_] : nullptr;
}

void attempt_span::note(const core::result<>& how, unsigned status, core::steady_time now)
{
    auto* const attempt = current();
    if (attempt == nullptr) {
        return;
    }
    if (how) {
        attempt->status = status;
        return;
    }
    attempt->failure = how.error().code;
    end(now);
}

void attempt_span::end(core::steady_time now) noexcept
{
    if (auto* const attempt = current()) {
        attempt->ended = now;
        kept_ = false;
    }
}

}  // namespace gateway::relay
