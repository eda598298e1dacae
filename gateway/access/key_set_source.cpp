#include "gateway/access/key_set_source.hpp"

#include "config/file.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"
#include "gateway/access/answer_object.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace gateway::access {
namespace {

using core::errc;

core::error unavailable(std::string why)
{
    return core::gateway_error(errc::access_unavailable, "key set: " + std::move(why));
}

// The seconds of a directive `max-age=...`; nothing: it is another one, or no number stands there.
std::optional<core::duration> max_age(std::string_view directive)
{
    constexpr std::string_view name = "max-age=";
    if (!core::equal_ignoring_case(directive.substr(0, name.size()), name)) {
        return std::nullopt;
    }
    const auto digits = core::trim(directive.substr(name.size()), "\"");
    std::int64_t seconds = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    if (problem == std::errc::result_out_of_range) {
        return most_freshness;
    }
    constexpr std::int64_t most = std::chrono::seconds{most_freshness}.count();
    const bool whole = problem == std::errc{} && end == digits.data() + digits.size();
    return whole ? std::optional<core::duration>{std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, most)}}
                 : std::nullopt;
}

core::duration freshness(const net::fetch_response& answer)
{
    for (const auto& [name, value] : answer.headers) {
        std::string_view rest = name == "cache-control" ? value : std::string_view{};
        while (!rest.empty()) {
            const auto directive = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(directive.size() + 1, rest.size()));
            if (const auto age = max_age(core::trim(directive))) {
                return std::max<core::duration>(*age, least_freshness);
            }
        }
    }
    return usual_freshness;
}

core::result<key_list> parsed(const std::string& text)
{
    auto keys = jose::parse_key_set(text);
    if (!keys) {
        return unavailable(keys.error().detail);
    }
    if (keys->empty()) {
        return unavailable("has no key that can be used");
    }
    return std::make_shared<const std::vector<jose::json_web_key>>(std::move(*keys));
}

core::result<key_list> read_file(const std::string& path)
{
    const auto text = config::read_regular_file(path, max_key_set_size);
    if (!text) {
        return unavailable(text.error().detail);
    }
    return parsed(*text);
}

constexpr const char* key_set_types = "application/jwk-set+json, application/json";

net::fetch_request request_of(std::string url, const char* accepted)
{
    net::fetch_request request;
    request.url = std::move(url);
    request.headers.emplace_back("Accept", accepted);
    request.max_size = max_key_set_size;
    request.timeout = key_set_timeout;
    request.connect_timeout = key_set_timeout;
    request.last_on_connection = true;  // the next one comes when these keys are old
    return request;
}

constexpr std::string_view discovery_path = "/.well-known/openid-configuration";

core::error bad_document(const char* why)
{
    return core::gateway_error(core::errc::access_unavailable, std::string{"discovery: "} + why);
}

}  // namespace

key_set_source::key_set_source(key_set_place place, key_set_services services)
    : place_{std::move(place)},
      services_{std::move(services)}
{
}

net::task<core::result<key_list>> key_set_source::keys(bool newer)
{
    const auto self = shared_from_this();
    const auto where = co_await net::asio::this_coro::executor;
    if (!reading_ && may_begin(newer)) {
        begin(where);
    }
    const bool can_use_kept = kept_ && !newer && (is_fresh() || failed_);
    if (reading_ && !can_use_kept) {
        co_await waiting_.wait();
    }
    if (!kept_) {
        co_return unavailable("none could be read so far");
    }
    co_return kept_;
}

key_set_facts key_set_source::facts() const
{
    auto facts = counts_;
    if (kept_) {
        facts.age = std::chrono::duration_cast<core::duration>(services_.now() - kept_since_);
    }
    return facts;
}

bool key_set_source::is_fresh() const
{
    return kept_ && services_.now() < fresh_until_;
}

bool key_set_source::may_begin(bool newer) const
{
    const auto now = services_.now();
    return !stopped_ && ((newer && now >= newer_from_) || (!is_fresh() && now >= retry_from_));
}

void key_set_source::begin(net::executor where)
{
    reading_ = true;
    ++counts_.fetches;
    newer_from_ = services_.now() + pause_between_newer;
    net::asio::co_spawn(where, read(shared_from_this()), net::asio::detached);
}

net::task<> key_set_source::read(std::shared_ptr<key_set_source> source)
{
    const auto begun = source->services_.now();
    core::result<reading_result> outcome = unavailable("could not be read");
    try {
        outcome = co_await source->load();
    } catch (const std::exception& thrown) {
        outcome = unavailable(thrown.what());
    }
    if (outcome) {
        source->kept_since_ = begun;
    }
    source->end(std::move(outcome));
}

net::task<core::result<key_set_source::reading_result>> key_set_source::load()
{
    if (!place_.url.empty()) {
        auto request = request_of(place_.url, key_set_types);
        co_return co_await load_set(std::move(request));
    }
    if (!place_.issuer.empty()) {
        auto url = co_await discover();
        if (!url) {
            co_return unavailable(url.error().detail);
        }
        auto request = request_of(*url, key_set_types);
        if (core::origin_of(*url) != core::origin_of(place_.issuer)) {
            // The issuer's word, and no operator's: not for what only this machine or its network reaches.
            request.addresses = std::make_shared<const core::address_rule>(std::span<const std::string>{});
        }
        co_return co_await load_set(std::move(request));
    }
    std::function<core::result<key_list>()> question = [path = place_.file] { return read_file(path); };
    auto keys = co_await services_.blocking.ask<core::result<key_list>>(std::move(question));
    if (!keys) {
        co_return keys.error();
    }
    co_return reading_result{.keys = std::move(*keys), .fresh_for = usual_freshness};
}

net::task<core::result<std::string>> key_set_source::discover()
{
    auto request = request_of(discovery_url(place_.issuer), "application/json");
    const auto document = co_await services_.fetcher.fetch(std::move(request));
    if (stopped_) {
        co_return unavailable("the gateway stops");  // the fetcher may end before the next request
    }
    co_return discovered_key_set(document, place_.issuer);
}

net::task<core::result<key_set_source::reading_result>> key_set_source::load_set(net::fetch_request request)
{
    auto answer = co_await services_.fetcher.fetch(std::move(request));
    if (!answer) {
        const auto& why = answer.error();
        co_return unavailable(std::string{core::name(why.code)} + ": " + why.detail);
    }
    if (answer->status != 200) {
        co_return unavailable("status " + std::to_string(answer->status));
    }
    const auto fresh_for = freshness(*answer);
    std::function<core::result<key_list>()> question = [text = std::move(answer->body)] { return parsed(text); };
    auto keys = co_await services_.blocking.ask<core::result<key_list>>(std::move(question));
    if (!keys) {
        co_return keys.error();
    }
    co_return reading_result{.keys = std::move(*keys), .fresh_for = fresh_for};
}

void key_set_source::end(core::result<reading_result> outcome)
{
    const auto now = services_.now();
    log_outcome(outcome);
    failed_ = !outcome;
    if (outcome) {
        kept_ = std::move(outcome->keys);
        fresh_until_ = now + outcome->fresh_for;
    } else {
        ++counts_.failures;
        retry_from_ = now + pause_after_failure;
    }
    reading_ = false;
    waiting_.wake();
}

// Only what changes: a source that is down is not a line for every attempt.
void key_set_source::log_outcome(const core::result<reading_result>& outcome) const
{
    const auto place = config::shown_url(place_.url) + place_.file + place_.issuer;
    if (!outcome && !failed_) {
        const auto& why = outcome.error().detail;
        services_.log.write(core::log_level::warn, "key_set_failed", {{"source", place}, {"reason", why}});
    } else if (outcome && failed_) {
        services_.log.write(core::log_level::info, "key_set_recovered", {{"source", place}});
    }
}

std::string discovery_url(std::string_view issuer)
{
    if (issuer.ends_with('/')) {
        issuer.remove_suffix(1);
    }
    return std::string{issuer}.append(discovery_path);
}

core::result<std::string>
discovered_key_set(const core::result<net::fetch_response>& document, const std::string& issuer)
{
    const auto object = answer_object(document, "discovery");
    if (!object) {
        return object.error();
    }
    const auto* named = core::string_member(*object, "issuer");
    if (named == nullptr || *named != issuer) {
        return bad_document("the document is about another issuer");
    }
    const auto* keys = core::string_member(*object, "jwks_uri");
    auto url = keys == nullptr ? core::result<std::string>{bad_document("the document has no jwks_uri")}
                               : config::parse_http_url(*keys, config::query::allowed);
    if (!url) {
        return bad_document("jwks_uri is not a URL");
    }
    const auto parts = core::http_url::parse(*url);
    if (!parts || (!parts->secure && parts->origin() != core::origin_of(issuer))) {
        return bad_document("jwks_uri is not https");
    }
    return url;
}

}  // namespace gateway::access
