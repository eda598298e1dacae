#include "gateway/access/external_verifier.hpp"

#include "core/json/json.hpp"
#include "gateway/access/answer_object.hpp"
#include "gateway/access/principal_claims.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::access {
namespace {

using core::errc;
using core::json;

constexpr double latest_time = 7'258'118'400;  // seconds: the year 2200; wall_time overflows in 2262

core::error refused_by_verifier(const char* why)
{
    return core::caller_error(errc::unauthenticated, std::string{"verifier: "} + why);
}

core::error unreadable_answer(const char* member)
{
    return core::gateway_error(errc::access_unavailable, std::string{"verifier: cannot read `"} + member + '`');
}

bool is_list_of_texts(const json& value)
{
    return value.is_array() && std::ranges::all_of(value, [](const json& each) { return each.is_string(); });
}

// The name of the first member that has another form than it should have; null: there is none.
const char* misshapen(const json& object)
{
    const auto* scopes = core::member(object, "scopes");
    if (scopes != nullptr && !scopes->is_string() && !is_list_of_texts(*scopes)) {
        return "scopes";
    }
    const auto* groups = core::member(object, "groups");
    if (groups != nullptr && !is_list_of_texts(*groups)) {
        return "groups";
    }
    const auto* tenant = core::member(object, "tenant");
    if (tenant != nullptr && (!tenant->is_string() || tenant->get_ref<const std::string&>().size() > max_claim_text)) {
        return "tenant";
    }
    const auto* claims = core::member(object, "claims");
    if (claims != nullptr && !claims->is_object()) {
        return "claims";
    }
    const auto* expires = core::member(object, "expires");
    const bool is_time = expires == nullptr || (expires->is_number() && expires->get<double>() >= 0);
    return is_time ? nullptr : "expires";
}

core::principal principal_in(const json& object, const std::string& id, const std::string& provider)
{
    core::principal owner;
    owner.id = id;
    owner.provider = provider;
    owner.tenant = core::text_member(object, "tenant");
    if (const auto* scopes = core::member(object, "scopes")) {
        owner.scopes = words_in(*scopes);
    }
    if (const auto* groups = core::member(object, "groups")) {
        owner.groups = texts_in(*groups);
    }
    if (const auto* claims = core::member(object, "claims")) {
        owner.claims = claims_in(*claims, {});
    }
    return owner;
}

// RFC 6750 section 2.1 has fewer characters; others would not arrive there as they are.
bool is_visible(char c) noexcept
{
    return c > ' ' && c <= '~';
}

}  // namespace

net::fetch_request verifier_question(const core::http_verifier_provider& settings, std::string_view token)
{
    net::fetch_request request;
    request.url = settings.url;
    request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
    request.body = core::to_text(json{{"token", token}});
    request.max_size = max_verifier_answer;
    request.timeout = settings.timeout;
    request.connect_timeout = settings.timeout;
    return request;
}

core::result<model::accepted_credential> read_verifier_answer(
    const core::result<net::fetch_response>& answer,
    const std::string& provider,
    core::duration cache,
    core::wall_time now
)
{
    if (answer && (answer->status == 401 || answer->status == 403 || answer->status == 404)) {
        return refused_by_verifier("its status is a refusal");
    }
    const auto object = answer_object(answer, "verifier");
    if (!object) {
        return object.error();
    }
    const auto* active = core::member(*object, "active");
    if (active == nullptr || !active->is_boolean()) {
        return unreadable_answer("active");
    }
    if (!active->get<bool>()) {
        return refused_by_verifier("the token is not active");
    }
    const auto* id = core::string_member(*object, "principal");
    if (id == nullptr || !is_principal_id(*id)) {
        return unreadable_answer("principal");
    }
    if (const auto* member = misshapen(*object)) {
        return unreadable_answer(member);
    }
    auto ends = core::wall_time::max();
    if (const auto* expires = core::member(*object, "expires")) {
        const auto seconds = std::min(expires->get<double>(), latest_time);
        ends = core::wall_time{std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)}};
        if (ends <= now) {
            return refused_by_verifier("the token has expired");
        }
    }
    return model::accepted_credential{
        .owner = std::make_shared<const core::principal>(principal_in(*object, *id, provider)),
        .until = std::min<core::wall_time>(now + cache, ends),
        .ends = ends
    };
}

external_verifier::external_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall)
    : fetcher_{fetcher},
      wall_{std::move(wall)},
      provider_{"verifier"}
{
}

net::task<core::result<model::accepted_credential>> external_verifier::verify(std::string token)
{
    if (!std::ranges::all_of(token, is_visible)) {
        co_return core::caller_error(core::errc::unauthenticated, "verifier: no bearer token has such characters");
    }
    asked::question question = [this](asked::provider_pointer by, std::string text) {
        return ask(std::move(by), std::move(text));
    };
    auto answer = co_await provider_.ask(std::move(token), std::move(question));
    co_return answer;
}

net::task<core::result<model::accepted_credential>>
external_verifier::ask(asked::provider_pointer by, std::string token)
{
    if (provider_.stopped()) {
        co_return provider_.unavailable("the gateway stops");
    }
    auto request = verifier_question(by->settings, token);
    const auto answer = co_await fetcher_.fetch(std::move(request));
    co_return read_verifier_answer(answer, by->name, by->settings.cache, wall_());
}

}  // namespace gateway::access
