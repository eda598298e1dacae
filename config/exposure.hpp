// Whether callers of other machines reach the gateway as its operator wants: the address of `listen` beside `access` and
// `tls`, and that of `admin`. Each function returns a predicate of `listen` unless it says otherwise, such as "is open to …".
// Pure.
#pragma once

#include "config/settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

// The reason why the settings are unusable. Nothing: they are right.
std::optional<std::string_view> open_without_credentials(const endpoint& listen, const core::access_settings& access);

// The `ca_file` of the provider of type mtls; empty: there is none.
std::string client_authorities(const core::access_settings& access);

// The reason why a listener with these certificates, or without any, cannot ask callers for theirs. Nothing: it can, or need not.
std::optional<std::string_view>
unseen_certificates(const std::vector<certificate_files>& tls, const core::access_settings& access);

// Why the admin listener can send no call to an agent (/try), as a sentence for an operator. Empty: it can.
std::string_view untriable(const process_settings& settings);

// The path of a policy that nobody is asked about, because no caller is identified; an operator who wrote it takes the agents
// for guarded. Empty: there is none.
std::string idle_policy(const settings& settings);

// The path of credentials that exchange callers' tokens, when no provider accepts any that can be exchanged. Empty: there is
// none.
std::string idle_exchange(const settings& settings);

// The path of `caller_credentials` of an MCP server that nobody may call: its callers need a credential for the gateway beside their
// login, and no provider reads one in another field than Authorization. Empty: there is none.
std::string unreachable_logins(const settings& settings);

// Whether an agent is an MCP server with logins that not everybody may discover: its metadata is then that of an agent which does not
// exist, which names the gateway's own issuers.
bool hides_logins(const core::agent& agent, const core::access_settings& access);

// open_without_credentials() for `admin`: a predicate of it.
std::optional<std::string_view> open_admin(const process_settings& settings);

// The contradiction in `admin_access`, a predicate of it. Nothing: there is none.
std::optional<std::string_view> unusable_admin_access(const process_settings& settings);

// Warnings. Nothing: there is none.
std::optional<std::string_view> exposed_admin(const process_settings& settings);
std::optional<std::string_view> credentials_in_clear(const process_settings& settings);
std::optional<std::string_view> admin_credentials_in_clear(const process_settings& settings);

}  // namespace config
