#include "gateway/cards/card_publisher.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/model/call_address.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

namespace gateway::cards {

card_publisher::card_publisher(
    net::loop& control,
    const config::card_settings& settings,
    const core::logger& log,
    clock now
)
    : loop_{control},
      settings_{settings},
      log_{log},
      now_{std::move(now)}
{
}

void card_publisher::start(net::task<> work, std::string_view name) const
{
    net::asio::co_spawn(executor(), std::move(work), [&log = log_, name](const std::exception_ptr& bug) {
        net::log_thrown(bug, log, name);
    });
}

void card_publisher::accept(card_slot& slot, served_card card, core::steady_time fetched_at, core::duration fresh_for)
{
    const auto address = std::move(card.address);
    publish(slot, std::move(card), fetched_at, fresh_for);
    note_address(slot, address.problem);
    if (slot.agent->record.speaks == core::protocol::a2a && find_path_) {
        find_path_(slot.id(), address.route);
    }
}

void card_publisher::publish(card_slot& slot, served_card card, core::steady_time fetched_at, core::duration fresh_for)
{
    auto& status = slot.status;
    const bool changed = !status.card || !model::same_bytes(*status.card->bytes, *card.bytes);
    if (changed) {
        change(status, loop_.http_date());
    }
    status.whole = std::move(card.whole);
    status.tools = std::move(card.tools);
    status.era = card.era;
    status.mcp_version = std::move(card.mcp_version);
    status.required = std::move(card.required);
    status.extended = card.extended;
    note_hidden(slot, card.hidden);
    // Else the same object, so that memory holds the text once.
    succeed(status, changed ? card.bytes : status.card->bytes, fetched_at, fresh_for, settings_);
    if (changed) {
        ++status.changes;
        log_published(slot.id(), card);
        status.facts = std::move(card.facts);
        status.shown_name = std::move(card.log.name);
        status.shown_version = std::move(card.log.version);
        status.words = std::move(card.words);
        status.problems = std::move(card.problems);
        status.signed_by = std::move(card.signed_by);
    }
    publish_(slot.id(), status.card);
}

void card_publisher::renew(card_slot& slot, core::duration fresh_for)
{
    succeed(slot.status, slot.status.card->bytes, now_(), fresh_for, settings_);
    publish_(slot.id(), slot.status.card);
}

void card_publisher::publish_stale(const card_slot& slot)
{
    if (usable(slot.status, now_())) {
        publish_(slot.id(), slot.status.card);
    }
}

void card_publisher::fail(card_slot& slot, core::error why)
{
    constexpr std::size_t longest = 1000;  // of a detail, which may quote what the agent sent
    why.detail = model::secrets_of(slot.agent->record, {slot.agent->token.reveal()}).apply(why.detail, longest);
    log_.write(
        core::log_level::warn,
        "card_fetch_failed",
        {{"agent", slot.id()}, {"code", core::name(why.code)}, {"detail", why.detail}}
    );
    auto& counts = slot.status.failures;
    const auto known = std::ranges::find(counts, why.code, &std::pair<core::errc, std::uint64_t>::first);
    if (known == counts.end()) {
        counts.emplace_back(why.code, 1);
    } else {
        ++known->second;
    }
    if (find_path_ && !slot.status.card && model::answers(why.code)) {
        find_path_(slot.id(), {});
    }
    cards::fail(slot.status, std::move(why), now_(), settings_);
}

// The address is no part of what callers are shown, and may change while that does not.
void card_publisher::note_address(card_slot& slot, const std::optional<::a2a::card_problem>& problem) const
{
    auto& noted = slot.status.address_problem;
    if (problem && problem != noted) {
        log_.write(
            core::log_level::warn,
            "card_address_ignored",
            {{"agent", slot.id()}, {"path", problem->path}, {"what", problem->what}}
        );
    }
    noted = problem;
}

void card_publisher::note_hidden(card_slot& slot, const std::optional<hidden_tools>& hidden) const
{
    auto& noted = slot.status.hidden;
    const auto before = noted ? std::move(noted->displaced) : std::string{};
    if (hidden && !hidden->displaced.empty() && hidden->displaced != before) {
        log_.write(core::log_level::warn, "mcp_tool_hidden", {{"agent", slot.id()}, {"tools", hidden->displaced}});
    }
    noted = hidden;
}

// Logs the card that callers get from now on. Never the card itself, nor what an agent was given and says in it.
void card_publisher::log_published(const std::string& id, const served_card& card) const
{
    const auto& facts = card.facts;
    if (audit_ != nullptr) {
        audit_->card_published(
            {.agent = id,
             .name = card.log.name,
             .version = card.log.version,
             .protocol_version = card.log.protocol_version,
             .url = model::public_address(public_base_, id),
             .skills = facts.skills,
             .bytes = card.bytes->body.size(),
             .sha256 = card.log.sha256,
             .capabilities = facts.capabilities,
             .security_schemes = card.log.scheme_names,
             .has_signature = !card.signed_by.empty()}
        );
    }
    log_.write(
        core::log_level::info,
        "card_published",
        {{"agent", id},
         {"name", card.log.name},
         {"version", card.log.version},
         {"protocol_version", card.log.protocol_version},
         {"url", model::public_address(public_base_, id)},
         {"shape", ::a2a::name(facts.generation)},
         {"served", core::name(card.shape)},
         {"skills", facts.skills},
         {"capabilities", card.log.capabilities},
         {"security_schemes", card.log.security_schemes},
         {"signed_by", card.signed_by},
         {"problems", facts.errors + facts.warnings},
         {"size", card.bytes->body.size()},
         {"etag", card.bytes->etag},
         {"sha256", card.log.sha256}}
    );
    for (const auto& [shape, count, first] : card.losses) {
        log_.write(
            core::log_level::info,
            "card_members_lost",
            {{"agent", id}, {"served", core::name(shape)}, {"count", count}, {"lost", first}}
        );
    }
    for (const auto& [shape, code, detail] : card.refusals) {
        log_.write(
            core::log_level::warn,
            "card_shape_failed",
            {{"agent", id}, {"served", core::name(shape)}, {"code", core::name(code)}, {"detail", detail}}
        );
    }
}

}  // namespace gateway::cards
