#include "gateway/cards/card_plane.hpp"

namespace gateway::cards {

// The audit trail: what callers are told from now on. Never the card itself, nor what an agent was given and says in it.
void card_plane::log_published(const slot& which, const made_card& made) const
{
    const auto& id = which.agent->record.id;
    const auto& facts = made.facts;
    log_.write(
        core::log_level::info,
        "card_published",
        {{"agent", id},
         {"name", made.log.name},
         {"version", made.log.version},
         {"protocol_version", made.log.protocol_version},
         {"url", model::public_address(public_base_, id)},
         {"shape", a2a::name(facts.generation)},
         {"served", core::name(made.shape)},
         {"skills", facts.skills},
         {"capabilities", made.log.capabilities},
         {"security_schemes", made.log.security_schemes},
         {"signed_by", made.signed_by},
         {"problems", facts.errors + facts.warnings},
         {"size", made.bytes->body.size()},
         {"etag", made.bytes->etag},
         {"sha256", made.log.sha256}}
    );
    for (const auto& [shape, count, first] : made.losses) {
        log_.write(
            core::log_level::info,
            "card_members_lost",
            {{"agent", id}, {"served", core::name(shape)}, {"count", count}, {"lost", first}}
        );
    }
    for (const auto& [shape, code, detail] : made.refusals) {
        log_.write(
            core::log_level::warn,
            "card_shape_failed",
            {{"agent", id}, {"served", core::name(shape)}, {"code", core::name(code)}, {"detail", detail}}
        );
    }
}

// The address is no part of what callers are shown, and may change while that does not.
void card_plane::note_address(slot& which, const std::optional<a2a::card_problem>& problem) const
{
    auto& noted = which.status.address_problem;
    if (problem && problem != noted) {
        log_.write(
            core::log_level::warn,
            "card_address_ignored",
            {{"agent", which.agent->record.id}, {"path", problem->path}, {"what", problem->what}}
        );
    }
    noted = problem;
}

}  // namespace gateway::cards
