// What services and callers of AWS send: the first byte says whether the rest is the answer of a verifier, of AWS or of an
// issuer's discovery, or the URL in a caller's token. Reading ends; who is accepted has an id that can be shown, a question
// goes to an allowed host only, and keys come over https or from the issuer's own origin.
#include "core/base64.hpp"
#include "gateway/access/external_verifier.hpp"
#include "gateway/access/key_set_source.hpp"
#include "gateway/access/principal_claims.hpp"
#include "gateway/access/sts_verifier.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace gateway::access;
using tests::require;

constexpr core::wall_time now{std::chrono::seconds{1'800'000'000}};
const std::string issuer = "http://127.0.0.1:9/realm";

core::result<net::fetch_response> answer(std::string_view body)
{
    return net::fetch_response{200, {{"content-type", "application/json"}}, std::string{body}};
}

void check_failure(const core::error& failure, std::string_view text)
{
    const bool closed = failure.code == core::errc::unauthenticated || failure.code == core::errc::access_unavailable;
    require(closed, "what is not accepted is refused or unavailable", text);
}

void check_owner(const core::principal& owner, std::string_view text)
{
    require(is_principal_id(owner.id), "an id can be shown", text);
    require(owner.provider == "p", "a principal is its provider's", text);
    require(owner.claims.size() <= max_claims, "claims are few", text);
}

void check_verifier(std::string_view text)
{
    const auto read = read_verifier_answer(answer(text), "p", std::chrono::seconds{5}, now);
    if (!read) {
        check_failure(read.error(), text);
        return;
    }
    check_owner(*read->owner, text);
    require(read->until > now && read->until <= now + std::chrono::seconds{5}, "an answer ends", text);
    require(text.find("active") != text.npos || text.find('\\') != text.npos, "who is accepted is active", text);
}

void check_sts_answer(std::string_view text)
{
    const auto owner = read_sts_answer(answer(text), "p");
    if (!owner) {
        check_failure(owner.error(), text);
        return;
    }
    check_owner(*owner, text);
    require(owner->tenant.size() == 12, "a tenant is an account", text);
}

void check_discovery(std::string_view text)
{
    const auto url = discovered_key_set(answer(text), issuer);
    if (!url) {
        check_failure(url.error(), text);
        return;
    }
    require(url->starts_with("https://") || url->starts_with("http://127.0.0.1:9"), "keys come safely", text);
}

void check_sts_token(std::string_view text)
{
    const auto token = std::string{sts_token_prefix} + core::base64url(text);
    const auto question = read_sts_token(token, {}, now);
    if (!question) {
        check_failure(question.error(), text);
        return;
    }
    const auto& url = question->request.url;
    require(url == text, "a question is what the token holds", text);
    const auto host = text.substr(8, text.find('/', 8) - 8);
    require(text.starts_with("https://sts.") && host.ends_with(".amazonaws.com"), "only AWS is asked", text);
    require(host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == host.npos, "a host is plain", text);
    require(text.find("Action=GetCallerIdentity") != text.npos, "nothing else is asked", text);
    require(question->expires > now, "a question has not expired", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    switch (data[0] % 4) {
        case 0:
            check_sts_token(text);
            break;
        case 1:
            check_verifier(text);
            break;
        case 2:
            check_sts_answer(text);
            break;
        default:
            check_discovery(text);
            break;
    }
    return 0;
}
