#include "gateway/access/outcome.hpp"

namespace gateway::access {

model::access_outcome outcome_of(const core::result<caller>& owner) noexcept
{
    if (owner) {
        return *owner ? model::access_outcome::accepted : model::access_outcome::anonymous;
    }
    switch (owner.error().code) {
        case core::errc::bad_request:
            return model::access_outcome::ambiguous;
        case core::errc::access_unavailable:
        case core::errc::upstream_timeout:  // the caller waited no longer
        case core::errc::draining:
            return model::access_outcome::unavailable;
        case core::errc::rate_limited:
            return model::access_outcome::limited;
        default:
            return model::access_outcome::refused;
    }
}

std::optional<model::denial> denial_of(model::access_outcome outcome, core::errc code) noexcept
{
    using model::access_outcome;
    using model::denial;
    switch (outcome) {
        case access_outcome::refused:
            return denial::refused;
        case access_outcome::ambiguous:
            return denial::ambiguous;
        case access_outcome::limited:
            return denial::limited;
        case access_outcome::unavailable:
            return denial::unavailable;
        case access_outcome::accepted:
        case access_outcome::anonymous:
            break;
    }
    if (code == core::errc::unauthenticated) {
        return denial::unauthenticated;
    }
    return code == core::errc::forbidden ? std::optional{denial::forbidden} : std::nullopt;
}

}  // namespace gateway::access
