// Signatures of cards, and the keys that make and check them.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/tls.hpp"
#include "core/agent.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::string_view expected_origins = "a list of https origins such as https://keys.example.com";
inline constexpr std::string_view no_signing_key = "is sign without a key; expected `cards.signing_key`";

enum class file_kind : std::uint8_t { signing_key, key_set };

// "the path of …".
std::string_view expected_of(file_kind kind) noexcept;

// A path whose file has been looked at by the check for its kind; empty if it is none (reported).
std::string read_checked_file(const field& f, file_kind kind, const tls_checks& checks, problem_list& problems);

// `https://host` or `https://host:port`, as written but for a slash at the end.
std::vector<std::string> read_origins(const field& f, problem_list& problems);

bool signs(core::signature_policy policy) noexcept;

// The rules for one agent's card.
struct signature_rules {
    bool verify = false;  // of a fetched card
    bool sign = false;
    std::string trusted_keys;
    std::vector<std::string> key_set_origins;
};
signature_rules signature_rules_of(const core::agent& agent, const card_settings& settings);

// The contradiction in the agent's rules, as a predicate; nothing: there is none.
std::optional<std::string> signature_contradiction(const core::agent& agent, const card_settings& settings);

}  // namespace config
