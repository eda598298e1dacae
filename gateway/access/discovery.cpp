#include "gateway/access/discovery.hpp"

#include "config/url.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"
#include "gateway/access/answer_object.hpp"

namespace gateway::access {
namespace {

constexpr std::string_view path = "/.well-known/openid-configuration";

core::error unavailable(const char* why)
{
    return core::gateway_error(core::errc::access_unavailable, std::string{"discovery: "} + why);
}

}  // namespace

std::string discovery_url(std::string_view issuer)
{
    if (issuer.ends_with('/')) {
        issuer.remove_suffix(1);
    }
    return std::string{issuer}.append(path);
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
        return unavailable("the document is about another issuer");
    }
    const auto* keys = core::string_member(*object, "jwks_uri");
    auto url = keys == nullptr ? core::result<std::string>{unavailable("the document has no jwks_uri")}
                               : config::parse_http_url(*keys, config::query::allowed);
    if (!url) {
        return unavailable("jwks_uri is not a URL");
    }
    const auto parts = core::http_url::parse(*url);
    if (!parts || (!parts->secure && parts->origin() != core::origin_of(issuer))) {
        return unavailable("jwks_uri is not https");
    }
    return url;
}

}  // namespace gateway::access
