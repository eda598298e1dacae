#include "a2a/etag.hpp"
#include "gateway/card_plane.hpp"

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

// One line of the audit trail: what callers are told from now on. Never the card itself.
void card_plane::log_published(const slot& which, core::card_shape shape) const
{
    const auto& id = which.agent->record.id;
    const auto& facts = which.status.facts;
    const auto& bytes = *which.state.card->bytes;
    log_.write(
        core::log_level::info,
        "agent_card_published",
        {{"agent", id},
         {"name", facts.name},
         {"version", facts.version},
         {"protocol_version", facts.protocol_version},
         {"url", public_address(public_base_, id)},
         {"shape", a2a::name(facts.generation)},
         {"served", core::name(shape)},
         {"skills", facts.skills},
         {"capabilities", joined(facts.capabilities)},
         {"security_schemes", joined(facts.security_schemes)},
         {"signed_by", which.status.signed_by},
         {"problems", facts.errors + facts.warnings},
         {"size", bytes.body.size()},
         {"etag", bytes.etag},
         {"sha256", a2a::sha256_hex(bytes.body)}}
    );
}

void card_plane::log_losses(const std::string& id, const std::vector<card_loss>& losses) const
{
    constexpr std::size_t named = 20;  // a card may have thousands of members that no version knows
    for (const auto& [shape, paths] : losses) {
        std::string text;
        for (std::size_t i = 0; i < std::min(named, paths.size()); ++i) {
            text += (i == 0 ? "" : ", ") + paths[i];
        }
        log_.write(
            core::log_level::info,
            "agent_card_lossy",
            {{"agent", id}, {"served", core::name(shape)}, {"count", paths.size()}, {"lost", text}}
        );
    }
}

}  // namespace gateway
