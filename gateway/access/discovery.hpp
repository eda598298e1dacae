// Where an issuer's keys are, by OpenID Connect Discovery 1.0 section 4. Pure.
#pragma once

#include "core/error.hpp"
#include "net/client/fetch.hpp"

#include <string>
#include <string_view>

namespace gateway::access {

// URL of the issuer's discovery document.
std::string discovery_url(std::string_view issuer);

// The `jwks_uri` of the document. Fails with access_unavailable if it is not a document, is about another issuer, or names an
// address that is neither https nor on the origin of the issuer.
core::result<std::string>
discovered_key_set(const core::result<net::fetch_response>& document, const std::string& issuer);

}  // namespace gateway::access
