#include "gateway/push/push_outcome.hpp"

#include <algorithm>

namespace gateway::push {
namespace {

using core::errc;

bool may_change(unsigned status) noexcept
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

std::string_view name(push_end e) noexcept
{
    switch (e) {
        case push_end::delivered:
            return "delivered";
        case push_end::rejected:
            return "rejected";
        case push_end::redirected:
            return "redirected";
        case push_end::forbidden:
            return "forbidden";
        case push_end::unreadable:
            return "unreadable";
        case push_end::exhausted:
            return "exhausted";
        case push_end::expired:
            return "expired";
    }
    return "unreadable";
}

push_verdict judge(const core::result<net::fetch_response>& answer)
{
    push_verdict verdict;
    if (!answer) {
        const auto code = answer.error().code;
        verdict.why = core::name(code);
        if (code == errc::upstream_forbidden) {
            verdict.end = push_end::forbidden;
        }
        return verdict;
    }
    const auto status = answer->status;
    verdict.why = "status " + std::to_string(status);
    if (status >= 200 && status < 300) {
        verdict.end = push_end::delivered;
    } else if (status >= 300 && status < 400) {
        verdict.end = push_end::redirected;
    } else if (may_change(status)) {
        verdict.patience = answer->retry_after();
    } else {
        verdict.end = push_end::rejected;
    }
    return verdict;
}

core::duration pause_after(std::uint64_t attempts, core::duration patience, double random) noexcept
{
    constexpr core::duration first = first_pause;
    constexpr core::duration longest = longest_pause;
    constexpr std::uint64_t most_doublings = 16;
    const auto doublings = std::min(attempts > 0 ? attempts - 1 : 0, most_doublings);
    const auto whole = std::min(first * (1U << doublings), longest);
    const auto less = core::duration{static_cast<core::duration::rep>(static_cast<double>(whole.count()) * random / 2)};
    return std::max(whole - less, std::min(patience, longest));
}

}  // namespace gateway::push
