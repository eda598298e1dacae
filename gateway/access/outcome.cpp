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
        case model::access_outcome::refused:
            return model::denial::refused;
        case model::access_outcome::ambiguous:
            return model::denial::ambiguous;
        case model::access_outcome::limited:
            return model::denial::limited;
        case model::access_outcome::unavailable:
            return model::denial::unavailable;
        case model::access_outcome::accepted:
        case model::access_outcome::anonymous:
            break;
    }
    if (code == core::errc::unauthenticated) {
        return model::denial::unauthenticated;
    }
    return code == core::errc::forbidden ? std::optional{model::denial::forbidden} : std::nullopt;
}

}  // namespace gateway::access
