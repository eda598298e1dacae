#include "gateway/cards/card_source.hpp"

#include "config/signatures.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/cards/card_cache.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/tls_files.hpp"
#include "gateway/model/well_known.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

constexpr int most_redirects = 3;

// Several Cache-Control lines are one list (RFC 9110 section 5.3).
std::string joined_header(const net::fetch_response& response, std::string_view name)
{
    std::string all;
    for (const auto& [key, value] : response.headers) {
        if (key == name) {
            all += all.empty() ? value : ", " + value;
        }
    }
    return all;
}

bool is_at_home(const core::agent& agent, const std::string& url)
{
    return core::origin_of(url) == core::origin_of(core::http_form(agent.url));
}

net::fetch_request
make_request(const core::agent& agent, const std::string& url, const card_validators& last, const core::secret& token)
{
    net::fetch_request request;
    request.url = url;
    request.tls = model::tls_files(agent);
    request.proxy = agent.proxy;
    request.headers.emplace_back("Accept", "application/json");
    if (last.url == url && !last.etag.empty()) {
        request.headers.emplace_back("If-None-Match", last.etag);
    } else if (last.url == url && !last.last_modified.empty()) {
        request.headers.emplace_back("If-Modified-Since", last.last_modified);
    }
    const bool at_home = is_at_home(agent, url);
    request.http2 = at_home && (core::only_grpc(agent) || agent.http == core::http_version::v2);
    if (!at_home) {
        request.tls.cert_file.clear();
        request.tls.key_file.clear();
    }
    for (const auto& [name, value] : agent.card_headers) {
        request.headers.emplace_back(name, value.reveal());
    }
    const auto sent = at_home ? model::credentials_of(agent, token.reveal()) : model::sent_credentials{};
    for (const auto& [name, value] : sent.headers) {
        const auto is_same = [&](const auto& each) { return core::equal_ignoring_case(each.first, name); };
        if (std::ranges::none_of(request.headers, is_same)) {
            request.headers.emplace_back(name, value.reveal());
        }
    }
    request.query = sent.query.reveal();
    // The next one comes in minutes: nothing is to stand meanwhile, perhaps to an address that the agent leaves.
    request.last_on_connection = true;
    return request;
}

// Where a redirect within the same origin leads (RFC 9110 section 15.4); empty for every other answer. What leads elsewhere
// is not followed: the agent's credentials and its trust store are for its own origin.
std::string redirected(const std::string& url, const net::fetch_response& answer)
{
    constexpr std::array<unsigned, 5> redirects{301, 302, 303, 307, 308};
    if (std::find(redirects.begin(), redirects.end(), answer.status) == redirects.end()) {
        return {};
    }
    const auto location = answer.field("location");
    auto next = location.empty() ? std::string{} : core::resolved(url, location);
    return core::origin_of(next) == core::origin_of(url) ? next : std::string{};
}

// Whether the card may still be at another of the locations: the agent answered, but not with a card.
bool worth_another_try(const core::error& why)
{
    return why.code == errc::upstream_status || why.code == errc::card_not_json || why.code == errc::card_invalid;
}

// Whether an endpoint has nothing to say, so that another one may.
bool silent(core::errc why) noexcept
{
    using core::errc;
    return why == errc::upstream_unresolved || why == errc::upstream_refused || why == errc::upstream_tls ||
           why == errc::upstream_proxy || why == errc::upstream_reset || why == errc::upstream_timeout;
}

}  // namespace

std::vector<std::string> card_locations(const core::agent& agent)
{
    if (!agent.card_url.empty()) {
        return {agent.card_url};
    }
    auto base = core::http_form(agent.url.substr(0, agent.url.find('?')));
    base.erase(base.find_last_not_of('/') + 1);
    const auto origin = core::origin_of(base);
    std::vector<std::string> all;
    for (const auto& at : {base, origin}) {
        for (const auto path : {model::card_path, model::legacy_card_path}) {
            auto url = at + std::string(path);
            if (std::find(all.begin(), all.end(), url) == all.end()) {
                all.push_back(std::move(url));
            }
        }
    }
    // `http://agent:80` and `http://agent` are one place: do not ask it twice.
    if (core::origin_of(base) == origin && base.find('/', base.find("//") + 2) == std::string::npos) {
        all.resize(2);
    }
    return all;
}

card_source::card_source(net::fetcher& fetcher, card_maker& maker, const config::settings& settings)
    : fetcher_{fetcher},
      maker_{maker},
      settings_{settings}
{
}

net::task<core::result<fetched_card>>
card_source::fetch(core::agent agent, card_validators last, core::duration longest)
{
    auto locations = card_locations(agent);
    if (const auto known = std::find(locations.begin(), locations.end(), last.url); known != locations.end()) {
        std::rotate(locations.begin(), known, known + 1);
    }
    const auto by = std::chrono::steady_clock::now() + std::min(settings_.cards.timeout, longest);
    std::optional<core::error> first;
    for (const auto& url : locations) {
        if (auto why = obstacle(agent.id)) {
            co_return std::move(*why);
        }
        const auto left = std::chrono::duration_cast<core::duration>(by - std::chrono::steady_clock::now());
        if (left <= core::duration::zero()) {
            co_return core::upstream_error(errc::upstream_timeout, "card: all locations together took too long");
        }
        auto outcome = co_await fetch_one(agent, url, last, left);
        if (outcome || !worth_another_try(outcome.error())) {
            co_return outcome;
        }
        if (!first) {
            first = std::move(outcome).error();
        }
    }
    co_return std::move(*first);  // NOLINT(*-optional-access): there is at least one location, which failed
}

std::optional<core::error> card_source::obstacle(const std::string& agent_id) const
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    if (contained_ && contained_(agent_id)) {
        return core::caller_error(errc::agent_contained);
    }
    return std::nullopt;
}

net::task<core::result<card_source::followed>>
card_source::fetch_followed(net::fetch_request request, std::string agent_id)
{
    const auto by = std::chrono::steady_clock::now() + request.timeout;
    for (int redirects = 0;; ++redirects) {
        auto answer = co_await fetcher_.fetch(request);
        const auto next = answer && redirects < most_redirects ? redirected(request.url, *answer) : std::string{};
        if (!answer) {
            co_return std::move(answer).error();
        }
        if (next.empty()) {
            co_return followed{std::move(*answer), std::move(request.url)};
        }
        // An agent may repeat the key that it was sent in the query: what is kept of the URL has none.
        request.url = core::without_parameters(next, request.query);
        request.timeout = std::chrono::duration_cast<core::duration>(by - std::chrono::steady_clock::now());
        if (auto why = obstacle(agent_id)) {
            co_return std::move(*why);
        }
        if (request.timeout <= core::duration::zero()) {
            co_return core::upstream_error(errc::upstream_timeout, "card: redirects took too long");
        }
    }
}

net::task<core::result<core::secret>>
card_source::token_for(const core::agent& agent, const std::string& url, core::secret refused)
{
    if (model::oauth_client_of(agent) == nullptr || !is_at_home(agent, url)) {
        co_return core::secret{};
    }
    if (!tokens_) {
        co_return core::gateway_error(errc::upstream_credentials);
    }
    auto asked = tokens_(agent.id, std::move(refused));
    auto token = co_await std::move(asked);
    co_return token;
}

net::task<core::result<card_source::followed>>
card_source::fetch_with_credentials(core::agent agent, std::string url, card_validators last, core::duration timeout)
{
    const auto by = std::chrono::steady_clock::now() + timeout;
    core::secret refused;
    for (;;) {
        const auto token = co_await token_for(agent, url, refused);
        if (!token) {
            co_return token.error();
        }
        if (auto why = obstacle(agent.id)) {
            co_return std::move(*why);
        }
        auto request = make_request(agent, url, last, *token);
        request.addresses = model::addresses_of(agent, settings_.registration.allow);
        request.max_size = settings_.cards.max_size;
        request.timeout = std::chrono::duration_cast<core::duration>(by - std::chrono::steady_clock::now());
        request.connect_timeout = std::min(timeout, settings_.timeouts.connect);
        if (request.timeout <= core::duration::zero()) {
            co_return core::upstream_error(errc::upstream_timeout, "card: a token came too late");
        }
        auto fetched = co_await fetch_followed(std::move(request), agent.id);
        const bool refuses = fetched && fetched->answer.status == 401 && !token->empty() && refused.empty();
        if (!refuses || stopped_) {
            if (fetched) {
                fetched->token = *token;
            }
            co_return fetched;
        }
        refused = *token;
    }
}

net::task<core::result<fetched_card>>
card_source::fetch_one(core::agent agent, std::string url, card_validators last, core::duration timeout)
{
    const auto rules = config::signature_rules_of(agent, settings_.cards);
    if (rules.verify) {
        last.etag.clear();
        last.last_modified.clear();
    }
    const auto by = std::chrono::steady_clock::now() + timeout;
    const auto addresses = model::addresses_of(agent, settings_.registration.allow);
    const bool conditional = last.url == url && (!last.etag.empty() || !last.last_modified.empty());
    auto fetched = co_await fetch_with_credentials(agent, url, last, timeout);
    if (!fetched) {
        co_return std::move(fetched).error();
    }
    auto& answer = fetched->answer;
    fetched_card found;
    found.fresh_for = freshness(joined_header(answer, "cache-control"), answer.field("age"), settings_.cards);
    if (answer.status == 304 && conditional) {
        found.not_modified = true;
        found.validators = std::move(last);
        co_return found;
    }
    if (answer.status != 200) {
        co_return core::upstream_error(
            errc::upstream_status,
            config::shown_url(url) + ": status " + std::to_string(answer.status)
        );
    }
    const auto left = std::chrono::duration_cast<core::duration>(by - std::chrono::steady_clock::now());
    const auto secrets = model::secrets_of(agent, {fetched->token.reveal()});
    card_document document{
        .text = answer.body,
        .url = fetched->url,
        .token = fetched->token,
        .verified = true,
        .timeout = left,
        .addresses = addresses
    };
    auto card = co_await maker_.make(std::make_shared<const core::agent>(std::move(agent)), std::move(document));
    if (!card) {
        auto why = std::move(card).error();
        if (why.code == errc::card_not_json || why.code == errc::card_invalid || why.code == errc::card_too_large) {
            why.detail = config::shown_url(url) + ": " + why.detail;
        }
        why.detail = secrets.apply(why.detail);
        co_return why;
    }
    found.card = std::move(*card);
    found.validators = {
        .url = fetched->url,
        .etag = std::string(answer.field("etag")),
        .last_modified = std::string(answer.field("last-modified"))
    };
    found.document = std::move(answer.body);
    co_return found;
}

std::vector<std::string> card_order(const model::agent_entry& agent, core::steady_time now)
{
    const auto& all = core::rules_of(agent.record).upstreams;
    if (all.empty() || agent.reach == nullptr) {
        return {agent.record.url};
    }
    std::vector<std::string> order;
    balancing::choice_terms terms{.now = now};
    while (const auto next = agent.reach->group->choose(terms)) {
        order.push_back(all[*next]);
        terms.tried |= balancing::endpoint_mask{1} << *next;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((terms.tried >> i & 1U) == 0) {
            order.push_back(all[i]);
        }
    }
    return order;
}

bool is_paused(const model::agent_entry& agent, core::steady_time now) noexcept
{
    if (!agent.record.card_url.empty() || agent.breaker == nullptr) {
        return false;
    }
    if (agent.siblings == nullptr) {
        return !agent.breaker->admits(now);
    }
    return std::ranges::none_of(agent.siblings->all, [now](const model::agent_entry& each) {
        return each.breaker->admits(now);
    });
}

core::agent record_at(const core::agent& record, const std::string& found_at)
{
    auto out = record;
    const auto& all = core::rules_of(record).upstreams;
    const auto at = std::ranges::find_if(all, [&](const std::string& url) {
        return core::origin_of(core::http_form(url)) == core::origin_of(found_at);
    });
    if (at != all.end()) {
        out.url = *at;
    }
    return out;
}

net::task<core::result<fetched_card>> fetch_card(
    card_source& source,
    std::shared_ptr<const model::agent_entry> agent,
    card_validators last,
    core::duration patience
)
{
    const auto begun = std::chrono::steady_clock::now();
    auto order = card_order(*agent, begun);
    if (!agent->record.card_url.empty()) {
        order.resize(1);
    }
    core::result<fetched_card> fetched = core::gateway_error(core::errc::internal, "card: no address");
    for (auto& url : order) {
        auto record = agent->record;
        record.url = std::move(url);
        fetched = co_await source.fetch(std::move(record), last);
        const bool late = std::chrono::steady_clock::now() - begun >= patience;
        if (fetched || !silent(fetched.error().code) || late) {
            break;
        }
    }
    co_return fetched;
}

}  // namespace gateway::cards
