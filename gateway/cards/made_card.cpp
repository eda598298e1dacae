#include "gateway/cards/made_card.hpp"

#include "config/signatures.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/cut_text.hpp"
#include "gateway/model/shown_words.hpp"
#include "gateway/model/snapshot.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <utility>

namespace gateway::cards {
namespace {

std::string joined(const std::vector<std::string>& names)
{
    std::string all;
    for (const auto& each : names) {
        all.append(all.empty() ? "" : ",").append(each);
    }
    return all;
}

void cut(std::string& text)
{
    constexpr std::size_t longest = 4096;  // operators and the directory show less
    if (text.size() > longest) {
        text = model::cut_text(text, longest);
    }
}

std::vector<told_loss> told(const std::vector<card_loss>& losses, const core::redaction& secrets)
{
    constexpr std::size_t named = 20;  // a card may have thousands of members that no version knows
    std::vector<told_loss> out;
    for (const auto& [shape, paths] : losses) {
        std::string text;
        for (std::size_t i = 0; i < std::min(named, paths.size()); ++i) {
            text += (i == 0 ? "" : ", ") + model::shown_words(secrets, paths[i]);
        }
        out.push_back({shape, paths.size(), std::move(text)});
    }
    return out;
}

std::vector<told_refusal> told(const std::vector<card_refusal>& refusals, const core::redaction& secrets)
{
    std::vector<told_refusal> out;
    out.reserve(refusals.size());
    for (const auto& [shape, why] : refusals) {
        out.push_back({shape, why.code, model::shown_words(secrets, why.detail)});
    }
    return out;
}

// All but what comes of its variants.
made_card described(const a2a::card& card, const core::redaction& secrets, core::card_shape shape)
{
    made_card made;
    made.shape = shape;
    made.facts = a2a::facts(card);
    made.words = model::words_of(card.document);
    made.problems = card.problems;
    const auto& facts = made.facts;
    made.log.name = model::shown_words(secrets, facts.name);
    made.log.version = model::shown_words(secrets, facts.version);
    made.log.protocol_version = model::shown_words(secrets, facts.protocol_version);
    made.log.capabilities = joined(facts.capabilities);
    made.log.security_schemes = model::shown_words(secrets, joined(facts.security_schemes));
    made.facts.security_schemes.clear();
    cut(made.facts.name);
    cut(made.facts.description);
    cut(made.facts.version);
    cut(made.facts.protocol_version);
    return made;
}

void add_variants(made_card& made, card_variants variants, const core::redaction& secrets)
{
    made.bytes = std::move(variants.bytes);
    made.signed_by = std::move(variants.signed_by);
    made.log.sha256 = jose::sha256_hex(made.bytes->body);
    made.losses = told(variants.losses, secrets);
    made.refusals = told(variants.refusals, secrets);
}

template <class Work>
core::result<made_card> all_of(Work work)
{
    for (bool more = true; more;) {
        const auto stepped = work.step();
        if (!stepped) {
            return stepped.error();
        }
        more = *stepped;
    }
    return std::move(work).take();
}

signing signing_of(const core::agent& record, const card_making& how)
{
    const bool signs = config::signature_rules_of(record, how.settings).sign;
    return {signs ? how.signer : nullptr, how.public_base};
}

}  // namespace

core::result<a2a::card> read_card(std::string_view document, const config::card_settings& settings)
{
    return a2a::parse_card(document, {.bytes = settings.max_size, .depth = 64});
}

core::result<> card_work::begin(a2a::card card, const card_making& how)
{
    const auto shape = record_.shape.value_or(how.settings.shape);
    const a2a::public_address at{
        model::public_address(how.public_base, record_.id),
        core::passes_extended_card(record_)
    };
    made_ = described(card, model::secrets_of(record_), shape);
    auto rewritten = a2a::rewrite_card(std::move(card), at, {.url = record_.url, .card_url = record_.card_url});
    if (!rewritten) {
        return std::move(rewritten).error();
    }
    variants_.emplace(std::move(*rewritten), shape, at, signing_of(record_, how));
    return {};
}

core::result<bool> card_work::step()
{
    return variants_->step();  // NOLINT(bugprone-unchecked-optional-access): after begin()
}

made_card card_work::take() &&
{
    auto& variants = *variants_;  // NOLINT(bugprone-unchecked-optional-access): after begin()
    add_variants(made_, std::move(variants).take(), model::secrets_of(record_));
    return std::move(made_);
}

session_card_work::session_card_work(const mcp::server_lists& from, const core::agent& record, const card_making& how)
    : record_{record},
      shape_{record.shape.value_or(how.settings.shape)},
      maker_{from, record, shape_, signing_of(record, how), how.settings.max_size}
{
}

made_card session_card_work::take() &&
{
    auto card = std::move(maker_).take();
    const auto secrets = model::secrets_of(record_);
    auto made = described(card.card, secrets, shape_);
    // Their paths name members as the server calls them.
    for (auto& each : made.problems) {
        each.path = model::shown_words(secrets, each.path);
    }
    add_variants(made, std::move(card.variants), secrets);
    return made;
}

core::result<made_card> make_card(a2a::card card, const core::agent& record, const card_making& how)
{
    card_work work{record};
    if (auto begun = work.begin(std::move(card), how); !begun) {
        return std::move(begun).error();
    }
    return all_of(std::move(work));
}

core::result<made_card> make_card(const mcp::server_lists& from, const core::agent& record, const card_making& how)
{
    return all_of(session_card_work{from, record, how});
}

}  // namespace gateway::cards
