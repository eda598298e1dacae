#include "gateway/cards/card_verifier.hpp"

#include "a2a/card/card_signature.hpp"
#include "config/file.hpp"
#include "config/url.hpp"
#include "core/json/ambiguity.hpp"
#include "core/url.hpp"
#include "gateway/cards/card_cache.hpp"

#include <algorithm>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

// The paths of key sets are the agents' to choose.
constexpr std::size_t most_key_sets_per_card = 4;
constexpr std::size_t most_kept_key_sets = 256;

core::error refused(std::string why)
{
    return core::upstream_error(errc::card_signature, std::move(why));
}

core::result<std::vector<jose::json_web_key>> trusted_keys(const std::string& path)
{
    if (path.empty()) {
        return std::vector<jose::json_web_key>{};
    }
    const auto text = config::read_regular_file(path);
    if (!text) {
        return refused(path + ": " + text.error().detail);
    }
    return jose::parse_key_set(*text);
}

good_signature named(const ::a2a::card_signature& signature)
{
    return {signature.kid, std::string{jose::name(signature.algorithm)}, signature.key_set_url};
}

// The key sets that the card's signatures name and that may be asked.
std::vector<::a2a::card_signature>
with_key_sets(std::vector<::a2a::card_signature> all, const config::signature_rules& rules)
{
    std::erase_if(all, [&](const ::a2a::card_signature& each) {
        const auto origin = core::origin_of(each.key_set_url);
        return origin.empty() || std::ranges::none_of(rules.key_set_origins, [&](const std::string& listed) {
                   return core::origin_of(listed) == origin;
               });
    });
    if (all.size() > most_key_sets_per_card) {
        all.erase(all.begin() + most_key_sets_per_card, all.end());
    }
    return all;
}

bool has_key(const std::vector<jose::json_web_key>& keys, const std::string& kid)
{
    return std::ranges::any_of(keys, [&](const jose::json_web_key& each) { return each.kid() == kid; });
}

}  // namespace

card_verifier::card_verifier(net::fetcher& fetcher, card_turns& turns, const config::card_settings& settings, clock now)
    : fetcher_{fetcher},
      turns_{turns},
      settings_{settings},
      now_{std::move(now)}
{
}

net::task<core::result<good_signature>>
card_verifier::verify(config::signature_rules rules, signed_card card, core::duration timeout)
{
    const auto by = std::chrono::steady_clock::now() + timeout;
    const auto bytes = card.text.size();
    if (const auto ambiguity = core::ambiguity(card.text)) {
        co_return refused(config::shown_url(card.url) + ": " + *ambiguity);
    }
    const auto trusted = trusted_keys(rules.trusted_keys);
    if (!trusted) {
        co_return trusted.error();
    }
    co_await turns_.next_if_long(card.agent, bytes);
    ::a2a::card_verification verification{card.document};
    verification.prepare(*trusted);
    co_await turns_.next_if_long(card.agent, bytes);
    auto verified = verification.verify(*trusted);
    if (verified) {
        co_return named(*verified);
    }
    auto why = config::shown_url(card.url) + ": " + verified.error().detail;
    for (const auto& each : with_key_sets(verification.signatures(), rules)) {
        const bool at_home = core::origin_of(each.key_set_url) == core::origin_of(card.url);
        net::fetch_request request;
        request.url = each.key_set_url;
        request.addresses = card.addresses;
        request.tls = at_home ? net::tls_client_files{.ca_file = card.tls.ca_file} : net::tls_client_files{};
        request.proxy = at_home ? card.proxy : core::secret{};
        request.timeout = std::chrono::duration_cast<core::duration>(by - std::chrono::steady_clock::now());
        request.connect_timeout = request.timeout;
        const auto keys = co_await keys_at(std::move(request), each.kid);
        if (!keys) {
            why += "; " + keys.error().detail;
            continue;
        }
        verification.prepare(**keys);
        co_await turns_.next_if_long(card.agent, bytes);
        verified = verification.verify(**keys);
        if (verified) {
            co_return named(*verified);
        }
        why += "; " + each.key_set_url + ": " + verified.error().detail;
    }
    co_return refused(std::move(why));
}

net::task<core::result<card_verifier::key_list>> card_verifier::keys_at(net::fetch_request request, std::string kid)
{
    const auto url = request.url;
    const auto now = now_();
    if (const auto found = key_sets_.find(url); found != key_sets_.end()) {
        const auto& kept = found->second;
        const bool just_fetched = now < kept.fetched + settings_.min_ttl;
        if (now < kept.fresh_until && (just_fetched || has_key(*kept.keys, kid))) {
            co_return kept.keys;
        }
    }
    if (request.timeout <= core::duration::zero() || stopped_) {
        co_return refused(url + ": no time is left to fetch it");
    }
    request.headers.emplace_back("Accept", "application/jwk-set+json, application/json");
    request.max_size = settings_.max_size;
    request.last_on_connection = true;
    const auto answer = co_await fetcher_.fetch(std::move(request));
    if (!answer) {
        co_return refused(url + ": " + std::string{core::name(answer.error().code)} + ": " + answer.error().detail);
    }
    if (answer->status != 200) {
        co_return refused(url + ": status " + std::to_string(answer->status));
    }
    auto keys = jose::parse_key_set(answer->body);
    if (!keys) {
        co_return refused(url + ": " + keys.error().detail);
    }
    auto list = std::make_shared<const std::vector<jose::json_web_key>>(std::move(*keys));
    const auto fresh_for = freshness(answer->field("cache-control"), answer->field("age"), settings_);
    keep(url, {list, now, now + fresh_for});
    co_return list;
}

void card_verifier::keep(const std::string& url, kept_key_set keys)
{
    if (key_sets_.size() >= most_kept_key_sets && !key_sets_.contains(url)) {
        key_sets_.erase(std::ranges::min_element(key_sets_, {}, [](const auto& each) { return each.second.fetched; }));
    }
    key_sets_.insert_or_assign(url, std::move(keys));
}

}  // namespace gateway::cards
