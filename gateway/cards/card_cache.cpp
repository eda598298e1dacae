#include "gateway/cards/card_cache.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gateway::cards {
namespace {

// A card may be served this long past its freshness while it is fetched again; past that, somebody waits for the fetch.
// Bounded by the card's own freshness, so that a card with a short life never gets much older than it promised.
constexpr core::duration longest_grace{60000};

// Sets how long the card is served as stale: nobody waits for an agent that was just found failing.
void set_stale_time(const card_state& state, model::published_card& card)
{
    const auto grace = std::min<core::steady_time::duration>(card.fresh_until - card.fetched_at, longest_grace);
    card.stale_until = card.fresh_until;
    if (state.refetched) {
        card.stale_until = card.failure ? card.usable_until : card.fresh_until + grace;
    }
}

constexpr std::int64_t most_seconds = 315360000;  // ten years; RFC 9111 section 1.2.2 lets a cache cap what it reads

std::optional<std::int64_t> seconds(std::string_view digits)
{
    if (digits.size() >= 2 && digits.front() == '"' && digits.back() == '"') {
        digits = digits.substr(1, digits.size() - 2);
    }
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return problem == std::errc{} ? std::min(value, most_seconds) : most_seconds;
}

struct directives {
    std::optional<std::int64_t> max_age;
    std::optional<std::int64_t> shared_max_age;  // wins here: this is a shared cache (RFC 9111 section 5.2.2.10)
    bool uncacheable = false;
};

directives read_directives(std::string_view field)
{
    directives found;
    while (!field.empty()) {
        const auto comma = std::min(field.find(','), field.size());
        const auto item = core::trim(field.substr(0, comma));
        field.remove_prefix(std::min(comma + 1, field.size()));
        const auto equals = std::min(item.find('='), item.size());
        const auto key = core::trim(item.substr(0, equals));
        const auto value = equals < item.size() ? core::trim(item.substr(equals + 1)) : std::string_view{};
        if (core::equal_ignoring_case(key, "s-maxage") && !found.shared_max_age) {
            found.shared_max_age = seconds(value);
        } else if (core::equal_ignoring_case(key, "max-age") && !found.max_age) {
            found.max_age = seconds(value);
        } else if (core::equal_ignoring_case(key, "no-store") || core::equal_ignoring_case(key, "no-cache")) {
            found.uncacheable = true;
        }
    }
    return found;
}

}  // namespace

card_decision decide(const card_state& state, core::steady_time now, const config::card_settings& settings)
{
    switch (state.card ? model::standing_of(*state.card, now) : model::card_standing::expired) {
        case model::card_standing::fresh:
            return card_decision::serve;
        case model::card_standing::stale:
            return card_decision::serve_stale;
        case model::card_standing::refreshing:
            return card_decision::serve_and_refresh;
        case model::card_standing::expired:
            break;
    }
    const bool failed_just_now = state.failure && now < state.failed_at + settings.negative_ttl;
    return failed_just_now ? card_decision::refuse : card_decision::fetch;
}

bool usable(const card_state& state, core::steady_time now)
{
    return state.card && now < state.card->usable_until;
}

core::duration freshness(std::string_view cache_control, std::string_view age, const config::card_settings& settings)
{
    const auto said = read_directives(cache_control);
    if (said.uncacheable) {
        return settings.min_ttl;
    }
    const auto life = said.shared_max_age ? said.shared_max_age : said.max_age;
    if (!life) {
        return settings.ttl;
    }
    const auto left = *life - seconds(core::trim(age)).value_or(0);
    const auto wanted =
        std::chrono::duration_cast<core::duration>(std::chrono::seconds{std::max<std::int64_t>(left, 0)});
    return std::clamp(wanted, settings.min_ttl, settings.max_ttl);
}

void succeed(
    card_state& state,
    std::shared_ptr<const model::card_bytes> bytes,
    core::steady_time now,
    core::duration fresh_for,
    const config::card_settings& settings
)
{
    auto card = std::make_shared<model::published_card>();
    card->bytes = std::move(bytes);
    card->whole = state.whole;
    card->tools = state.tools;
    card->as_tools = state.as_tools;
    card->era = state.era;
    card->mcp_version = state.mcp_version;
    card->name = state.name;
    card->required = state.required;
    card->extended = state.extended;
    card->caching = state.caching;
    card->modified = state.modified;
    card->fetched_at = now;
    card->fresh_until = now + fresh_for;
    card->usable_until = card->fresh_until + settings.stale_if_error;
    set_stale_time(state, *card);
    state.card = std::move(card);
    state.failure.reset();
}

void change(card_state& state, std::string_view now)
{
    // A date cannot tell two cards of one second apart.
    state.modified = state.changed_at == now ? std::string_view{} : now;
    state.changed_at = now;
}

void outdate(card_state& state, core::steady_time now, core::duration usable_for)
{
    if (state.card) {
        auto card = std::make_shared<model::published_card>(*state.card);
        card->fetched_at = now;
        card->fresh_until = now;
        card->usable_until = now + usable_for;
        set_stale_time(state, *card);
        state.card = std::move(card);
    }
}

void fail(card_state& state, core::error why, core::steady_time now, const config::card_settings& settings)
{
    if (state.card) {
        auto card = std::make_shared<model::published_card>(*state.card);
        card->failure = why.code;
        card->refresh_at = now + settings.negative_ttl;
        set_stale_time(state, *card);
        state.card = std::move(card);
    }
    state.failure = std::move(why);
    state.failed_at = now;
}

}  // namespace gateway::cards
