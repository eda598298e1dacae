// The kinds of values of which `access`, policies and credentials consist, for their table of keys. Pure.
#pragma once

#include "config/access_values.hpp"
#include "config/value_kind.hpp"
#include "core/access.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::string_view expected_key_hash = "64 hexadecimal digits, the SHA-256 of the key";

// `noun` is what is missing if the key is required.
value_kind<std::string> short_text(std::string_view noun);
value_kind<std::string> user_name();
value_kind<std::vector<std::string>> texts(emptiness empty);
value_kind<std::vector<std::string>> scopes(emptiness empty);
value_kind<std::vector<core::claim>> claims(emptiness empty);
value_kind<std::vector<std::string>> audiences();
value_kind<std::vector<std::string>> algorithms();
value_kind<std::vector<std::string>> id_patterns();  // of agents
value_kind<std::vector<std::string>> sts_hosts();
value_kind<std::string> scope_prefix();
value_kind<std::string> directory_id();
value_kind<std::string> issuer_url();
value_kind<std::string> secure_url();
value_kind<std::string> hash();
value_kind<std::string> client_authorities_file();
value_kind<core::wall_time> time();

}  // namespace config
