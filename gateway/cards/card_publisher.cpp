#include "gateway/cards/card_publisher.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/model/call_address.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
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

void card_publisher::accept(card_entry& entry, served_card card, core::steady_time fetched_at, core::duration fresh_for)
{
    const auto address = std::move(card.address);
    publish(entry, std::move(card), fetched_at, fresh_for);
    record_address(entry, address.problem);
    if (entry.agent->record.speaks == core::protocol::a2a && find_path_) {
        find_path_(entry.id(), address.route);
    }
}

void card_publisher::publish(
    card_entry& entry,
    served_card card,
    core::steady_time fetched_at,
    core::duration fresh_for
)
{
    auto& status = entry.status;
    const bool changed = !status.card || !model::same_bytes(*status.card->bytes, *card.bytes);
    if (changed) {
        change(status, loop_.http_date());
    }
    status.whole = std::move(card.whole);
    status.tools = std::move(card.tools);
    status.as_tools = std::move(card.as_tools);
    status.era = card.era;
    status.mcp_version = std::move(card.mcp_version);
    status.name = card.log.name;
    status.required = std::move(card.required);
    status.extended = card.extended;
    record_hidden(entry, card.hidden);
    const auto before = status.card ? status.card->bytes : nullptr;
    // Else the same object, so that memory holds the text once.
    succeed(status, changed ? card.bytes : status.card->bytes, fetched_at, fresh_for, settings_);
    if (changed) {
        ++status.changes;
        log_published(entry.id(), card);
        if (history_ != nullptr) {
            history_->note({entry.record(), {before, card.bytes}, card.log.sha256, std::chrono::system_clock::now()});
        }
        status.facts = std::move(card.facts);
        status.shown_name = std::move(card.log.name);
        status.shown_version = std::move(card.log.version);
        status.words = std::move(card.words);
        status.problems = std::move(card.problems);
        status.signed_by = std::move(card.signed_by);
    }
    publish_(entry.id(), status.card);
}

void card_publisher::renew(card_entry& entry, core::duration fresh_for)
{
    succeed(entry.status, entry.status.card->bytes, now_(), fresh_for, settings_);
    publish_(entry.id(), entry.status.card);
}

void card_publisher::publish_stale(const card_entry& entry)
{
    if (entry.status.card) {
        publish_(entry.id(), usable(entry.status, now_()) ? entry.status.card : nullptr);
    }
}

void card_publisher::fail(card_entry& entry, core::error why)
{
    constexpr std::size_t longest = 1000;  // of a detail, which may quote what the agent sent
    why.detail = model::secrets_of(entry.agent->record, {entry.agent->token.reveal()}).apply(why.detail, longest);
    log_.write(
        core::log_level::warn,
        "card_fetch_failed",
        {{"agent", entry.id()}, {"code", core::name(why.code)}, {"detail", why.detail}}
    );
    auto& counts = entry.status.failures;
    const auto known = std::ranges::find(counts, why.code, &std::pair<core::errc, std::uint64_t>::first);
    if (known == counts.end()) {
        counts.emplace_back(why.code, 1);
    } else {
        ++known->second;
    }
    if (find_path_ && !entry.status.card && model::answers(why.code)) {
        find_path_(entry.id(), {});
    }
    cards::fail(entry.status, std::move(why), now_(), settings_);
}

// The address is no part of what callers are shown, and may change while that does not.
void card_publisher::record_address(card_entry& entry, const std::optional<::a2a::card_problem>& problem) const
{
    auto& noted = entry.status.address_problem;
    if (problem && problem != noted) {
        log_.write(
            core::log_level::warn,
            "card_address_ignored",
            {{"agent", entry.id()}, {"path", problem->path}, {"what", problem->what}}
        );
    }
    noted = problem;
}

void card_publisher::record_hidden(card_entry& entry, const std::optional<hidden_tools>& hidden) const
{
    auto& noted = entry.status.hidden;
    const auto before = noted ? std::move(noted->displaced) : std::string{};
    if (hidden && !hidden->displaced.empty() && hidden->displaced != before) {
        log_.write(core::log_level::warn, "mcp_tool_hidden", {{"agent", entry.id()}, {"tools", hidden->displaced}});
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
