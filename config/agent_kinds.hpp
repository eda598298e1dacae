// The kinds of values that only agents have, for their table of keys. Pure.
#pragma once

#include "config/access.hpp"
#include "config/agent_parts.hpp"
#include "config/value_kind.hpp"
#include "core/agent.hpp"

#include <string>
#include <utility>
#include <vector>

namespace config {

using secret_map = std::vector<std::pair<std::string, core::secret>>;

// These have readers of their own: agents.cpp.
value_kind<std::string> agent_url();
value_kind<std::vector<std::string>> urls();
value_kind<core::agent_credentials> credentials();
value_kind<std::string> card();  // JSON text in the record
value_kind<std::string> metadata();

value_kind<std::string> grpc_url();
value_kind<std::vector<std::string>> relay_services();
value_kind<core::http_version> http_version();
value_kind<std::string> health_path();
value_kind<std::vector<std::string>> relay_paths();
value_kind<std::vector<std::string>> host_names();
value_kind<std::vector<core::a2a_dialect>> dialects();
value_kind<secret_map> headers(header_use use);
value_kind<core::caller_credentials> caller_credentials();
value_kind<core::access_policy> policy(decision about);
value_kind<std::vector<core::skill_rule>> skill_rules();
value_kind<std::vector<core::card_overlay>> overlays();
value_kind<core::boxed<core::card_patch>> card_patch();
value_kind<core::mcp_filter> mcp_filter();
value_kind<std::vector<std::string>> forwarded_headers();
value_kind<std::vector<core::principal_name>> acts_as();
value_kind<core::pin_settings> pin();

core::json transport_schema();

}  // namespace config
