#include "gateway/access/sts_verifier.hpp"

#include "config/access_values.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "gateway/access/answer_object.hpp"
#include "gateway/access/principal_claims.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gateway::access {
namespace {

using core::errc;
using core::json;

core::error refused_by_sts(const char* why)
{
    return core::caller_error(errc::unauthenticated, std::string{"STS token: "} + why);
}

core::error unnamed_signer()
{
    return core::gateway_error(errc::access_unavailable, "STS: the answer does not say who signed");
}

// Such as `us-gov-west-1`. Whatever else stands there in a name of Amazon's may belong to a customer.
bool is_region(std::string_view label)
{
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    std::size_t words = 0;
    for (;;) {
        const auto dash = std::min(label.find('-'), label.size());
        const auto word = label.substr(0, dash);
        if (dash == label.size()) {
            return words >= 2 && !word.empty() && std::ranges::all_of(word, core::is_digit);
        }
        if (word.empty() || !std::ranges::all_of(word, is_letter)) {
            return false;
        }
        ++words;
        label.remove_prefix(dash + 1);
    }
}

// `sts.amazonaws.com`, or the same of a region.
bool is_public_host(std::string_view host)
{
    constexpr std::string_view first = "sts.";
    constexpr std::string_view last = "amazonaws.com";
    if (!host.starts_with(first) || !host.ends_with(last)) {
        return false;
    }
    host.remove_prefix(first.size());
    host.remove_suffix(std::min(last.size(), host.size()));
    return host.empty() || (host.ends_with('.') && is_region(host.substr(0, host.size() - 1)));
}

bool is_allowed(std::string_view host, const std::vector<std::string>& hosts)
{
    return hosts.empty() ? is_public_host(host) : std::ranges::find(hosts, host) != hosts.end();
}

struct parameter {
    std::string_view name;
    std::string_view value;
};

// Nothing: a name comes twice, or a byte is not one of a query that nobody reads in another way.
std::optional<std::vector<parameter>> parameters_in(std::string_view query)
{
    constexpr std::string_view others = "%._~=&+-";
    const auto is_plain = [&](char c) {
        return core::is_letter(c) || core::is_digit(c) || others.find(c) != std::string_view::npos;
    };
    if (!std::ranges::all_of(query, is_plain)) {
        return std::nullopt;
    }
    std::vector<parameter> all;
    std::unordered_set<std::string_view> names;
    while (!query.empty()) {
        const auto whole = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(whole.size() + 1, query.size()));
        const auto equals = whole.find('=');
        if (equals == std::string_view::npos || whole.find('%') < equals ||
            !names.insert(whole.substr(0, equals)).second) {
            return std::nullopt;
        }
        all.push_back({whole.substr(0, equals), whole.substr(equals + 1)});
    }
    return all;
}

std::string_view value_of(const std::vector<parameter>& all, std::string_view name)
{
    const auto found = std::ranges::find(all, name, &parameter::name);
    return found == all.end() ? std::string_view{} : found->value;
}

// `20261123T004337Z`; nothing: another form.
std::optional<core::wall_time> time_in(std::string_view text)
{
    if (text.size() != 16) {
        return std::nullopt;
    }
    const auto part = [&](std::size_t begin, std::size_t size) { return std::string{text.substr(begin, size)}; };
    const auto as_rfc = part(0, 4) + '-' + part(4, 2) + '-' + part(6, 2) + part(8, 1) + part(9, 2) + ':' + part(11, 2) +
                        ':' + part(13, 2) + part(15, 1);
    const auto parsed = config::parse_time(as_rfc);
    return parsed ? std::optional{*parsed} : std::nullopt;
}

std::optional<std::chrono::seconds> lifetime_in(std::string_view text)
{
    constexpr std::int64_t week = 604'800;  // the longest that AWS allows
    std::int64_t seconds = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool whole = !text.empty() && problem == std::errc{} && end == text.data() + text.size();
    return whole && seconds > 0 && seconds <= week ? std::optional{std::chrono::seconds{seconds}} : std::nullopt;
}

// `KEY%2F20270115%2Fus-east-1%2Fsts%2Faws4_request`, of this day.
bool is_scope_of(std::string_view credential, std::string_view day)
{
    std::array<std::string_view, 5> parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        constexpr std::string_view slash = "%2F";
        const auto end = std::min(credential.find('%'), credential.size());
        parts[i] = credential.substr(0, end);
        credential.remove_prefix(end);
        const bool is_last = i + 1 == parts.size();
        if (is_last ? !credential.empty() : !core::equal_ignoring_case(credential.substr(0, slash.size()), slash)) {
            return false;
        }
        credential.remove_prefix(is_last ? 0 : slash.size());
    }
    return !parts[0].empty() && parts[1] == day && !parts[2].empty() && parts[3] == "sts" && parts[4] == "aws4_request";
}

// HMAC-SHA256 in hexadecimal digits.
bool is_signature(std::string_view text)
{
    return text.size() == 64 &&
           std::ranges::all_of(text, [](char c) { return core::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

// AWS answers 400 to what is not built like a signed request, and Cardea takes that for trouble at AWS: whoever has no credential must not
// be able to bring it about.
const char* objection(const std::vector<parameter>& all)
{
    for (const auto& each : all) {
        if (each.name != "Action" && each.name != "Version" && !each.name.starts_with("X-Amz-")) {
            return "its request has a parameter of another kind";
        }
    }
    if (value_of(all, "Action") != "GetCallerIdentity" || value_of(all, "Version") != "2011-06-15") {
        return "its request is not GetCallerIdentity";
    }
    const auto day = value_of(all, "X-Amz-Date").substr(0, 8);
    if (value_of(all, "X-Amz-Algorithm") != "AWS4-HMAC-SHA256" || !is_signature(value_of(all, "X-Amz-Signature")) ||
        !is_scope_of(value_of(all, "X-Amz-Credential"), day)) {
        return "its request is not signed with AWS4-HMAC-SHA256";
    }
    return value_of(all, "X-Amz-SignedHeaders") == "host" ? nullptr : "its request signs other headers than Host";
}

net::fetch_request sts_request(std::string url)
{
    net::fetch_request request;
    request.url = std::move(url);
    request.headers = {{"Accept", "application/json"}};
    request.max_size = max_sts_answer;
    request.timeout = sts_timeout;
    request.connect_timeout = sts_timeout;
    return request;
}

}  // namespace

core::result<sts_question>
read_sts_token(std::string_view token, const core::aws_sigv4_provider& settings, core::wall_time now)
{
    const bool has_prefix = token.starts_with(sts_token_prefix);
    const auto encoded = has_prefix ? token.substr(sts_token_prefix.size()) : std::string_view{};
    auto decoded = core::from_base64url(encoded).value_or("");
    const std::string_view url = decoded;
    const auto scheme = url.substr(0, url.find("://") + 1);
    const auto rest = scheme.empty() ? std::string_view{} : url.substr(scheme.size() + 2);
    const auto host = rest.substr(0, rest.find('/'));
    const auto path = rest.substr(host.size());
    if (host.empty() || !path.starts_with("/?")) {
        return refused_by_sts("it holds no URL with the path / and a query");
    }
    if (!is_allowed(host, settings.hosts)) {
        return refused_by_sts("its host is not allowed");
    }
    const bool is_loopback = config::is_loopback({std::string{host.substr(0, host.find(':'))}, 0});
    if (scheme != "https:" && !(scheme == "http:" && is_loopback)) {
        return refused_by_sts("its URL is not https");
    }
    const auto parameters = parameters_in(path.substr(2));
    if (!parameters) {
        return refused_by_sts("its request cannot be read");
    }
    if (const auto* why = objection(*parameters)) {
        return refused_by_sts(why);
    }
    const auto begin = time_in(value_of(*parameters, "X-Amz-Date"));
    const auto lifetime = lifetime_in(value_of(*parameters, "X-Amz-Expires"));
    if (!begin || !lifetime || now >= *begin + *lifetime || *begin > now + sts_clock_difference) {
        return refused_by_sts("its request is not for this time");
    }
    return sts_question{.request = sts_request(std::move(decoded)), .expires = *begin + *lifetime};
}

core::result<core::principal>
read_sts_answer(const core::result<net::fetch_response>& answer, const std::string& provider)
{
    if (answer && (answer->status == 401 || answer->status == 403)) {
        return refused_by_sts("AWS does not accept the signature");
    }
    const auto object = answer_object(answer, "STS");
    if (!object) {
        return object.error();
    }
    const auto* response = core::member(*object, "GetCallerIdentityResponse");
    const auto* result = response == nullptr ? nullptr : core::member(*response, "GetCallerIdentityResult");
    if (result == nullptr) {
        return unnamed_signer();
    }
    const auto arn = core::text_member(*result, "Arn");
    const auto account = core::text_member(*result, "Account");
    const auto user = core::text_member(*result, "UserId");
    const bool is_account = account.size() == 12 && std::ranges::all_of(account, core::is_digit);
    if (!arn.starts_with("arn:") || !is_principal_id(arn) || !is_account || user.size() > max_claim_text) {
        return unnamed_signer();
    }
    core::principal owner;
    owner.id = arn;
    owner.provider = provider;
    owner.tenant = account;
    if (!user.empty()) {
        owner.claims.emplace_back("user_id", user);
    }
    return owner;
}

sts_verifier::sts_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall)
    : fetcher_{fetcher},
      wall_{std::move(wall)},
      provider_{"STS"}
{
}

bool sts_verifier::recognises(const std::string& token) const
{
    return provider_.is_configured() && token.starts_with(sts_token_prefix);
}

net::task<core::result<model::accepted_credential>> sts_verifier::verify(std::string token)
{
    asked::question question = [this](asked::provider_pointer by, std::string text) {
        return ask(std::move(by), std::move(text));
    };
    auto answer = co_await provider_.ask(std::move(token), std::move(question));
    co_return answer;
}

net::task<core::result<model::accepted_credential>> sts_verifier::ask(asked::provider_pointer by, std::string token)
{
    auto question = read_sts_token(token, by->settings, wall_());
    if (!question) {
        co_return question.error();
    }
    if (provider_.stopped()) {
        co_return provider_.unavailable("the gateway stops");
    }
    const auto answer = co_await fetcher_.fetch(std::move(question->request));
    auto owner = read_sts_answer(answer, by->name);
    if (!owner) {
        co_return owner.error();
    }
    co_return model::accepted_credential{
        .owner = std::make_shared<const core::principal>(std::move(*owner)),
        .until = std::min<core::wall_time>(question->expires, wall_() + model::longest_acceptance),
        .ends = question->expires
    };
}

}  // namespace gateway::access
