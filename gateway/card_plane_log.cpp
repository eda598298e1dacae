#include "a2a/etag.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/session_settings.hpp"
#include "gateway/shown_words.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gateway {
namespace {

std::string joined(const std::vector<std::string>& names)
{
    std::string all;
    for (const auto& each : names) {
        all += (all.empty() ? "" : ",") + each;
    }
    return all;
}

}  // namespace

// One line of the audit trail: what callers are told from now on. Never the card itself, nor what an agent was given and says
// in it.
void card_plane::log_published(const slot& which, core::card_shape shape) const
{
    const auto& id = which.agent->record.id;
    const auto secrets = secrets_of(which.agent->record);
    const auto& facts = which.status.facts;
    const auto& bytes = *which.state.card->bytes;
    log_.write(
        core::log_level::info,
        "agent_card_published",
        {{"agent", id},
         {"name", shown_words(secrets, facts.name)},
         {"version", shown_words(secrets, facts.version)},
         {"protocol_version", shown_words(secrets, facts.protocol_version)},
         {"url", public_address(public_base_, id)},
         {"shape", a2a::name(facts.generation)},
         {"served", core::name(shape)},
         {"skills", facts.skills},
         {"capabilities", joined(facts.capabilities)},
         {"security_schemes", shown_words(secrets, joined(facts.security_schemes))},
         {"signed_by", which.status.signed_by},
         {"problems", facts.errors + facts.warnings},
         {"size", bytes.body.size()},
         {"etag", bytes.etag},
         {"sha256", a2a::sha256_hex(bytes.body)}}
    );
}

// The address is no part of what callers are shown, and may change while that does not.
void card_plane::note_address(slot& which, const std::optional<a2a::card_problem>& problem) const
{
    auto& noted = which.status.address_problem;
    if (problem && problem != noted) {
        log_.write(
            core::log_level::warn,
            "card_address_unused",
            {{"agent", which.agent->record.id}, {"path", problem->path}, {"what", problem->what}}
        );
    }
    noted = problem;
}

void card_plane::log_losses(const core::agent& record, const std::vector<card_loss>& losses) const
{
    if (losses.empty()) {
        return;
    }
    const auto secrets = secrets_of(record);
    constexpr std::size_t named = 20;  // a card may have thousands of members that no version knows
    for (const auto& [shape, paths] : losses) {
        std::string text;
        for (std::size_t i = 0; i < std::min(named, paths.size()); ++i) {
            text += (i == 0 ? "" : ", ") + shown_words(secrets, paths[i]);
        }
        log_.write(
            core::log_level::info,
            "agent_card_lossy",
            {{"agent", record.id}, {"served", core::name(shape)}, {"count", paths.size()}, {"lost", text}}
        );
    }
}

void card_plane::log_refusals(const core::agent& record, const std::vector<card_refusal>& refusals) const
{
    for (const auto& [shape, why] : refusals) {
        log_.write(
            core::log_level::warn,
            "card_version_refused",
            {{"agent", record.id},
             {"served", core::name(shape)},
             {"code", core::name(why.code)},
             {"detail", shown_words(secrets_of(record), why.detail)}}
        );
    }
}

}  // namespace gateway
