// Providers that ask somebody else, or look at the connection. Pure.
#pragma once

#include "config/access_members.hpp"
#include "config/tls.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

namespace config {

core::http_verifier_provider read_http_verifier(const access_members& given);
core::aws_sigv4_provider read_aws_sigv4(const access_members& given);
core::mtls_provider read_mtls(const access_members& given, const tls_checks& tls);

// Each adds the members of such a provider to `shown`.
void show_check(const core::http_verifier_provider& provider, core::json& shown);
void show_check(const core::aws_sigv4_provider& provider, core::json& shown);
void show_check(const core::mtls_provider& provider, core::json& shown);

}  // namespace config
