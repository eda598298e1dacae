#include "gateway/cli/key_command.hpp"

#include "config/access_values.hpp"
#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "core/utf8.hpp"
#include "jose/digest.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace gateway::cli {
namespace {

constexpr std::string_view prefix = "cardea_";  // so that a key that leaks into a repository is found
constexpr std::size_t longest_name = 256;

bool is_printable(std::string_view text)
{
    const bool bounded = !text.empty() && text.size() <= longest_name;
    if (!bounded || std::ranges::any_of(text, core::is_control)) {
        return false;
    }
    while (!text.empty()) {
        const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
        const auto length = ascii ? 1 : core::utf8_length(text.data(), text.data() + text.size());
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

bool is_scope(std::string_view text)
{
    return is_printable(text) && text.find(' ') == std::string_view::npos;
}

// Text as a configuration reads it back: `${` begins a variable there.
std::string written(std::string text)
{
    for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 3)) {
        text.insert(at, 1, '$');
    }
    return text;
}

core::error objection(std::string why)
{
    return core::gateway_error(core::errc::config_invalid, std::move(why));
}

}  // namespace

core::result<std::string> new_key(const key_command& asked)
{
    if (!is_printable(asked.name)) {
        return objection("--name: expected a name of at most 256 bytes without control characters");
    }
    if (!std::ranges::all_of(asked.scopes, is_scope)) {
        return objection("--scope: expected a scope of at most 256 bytes without blanks and control characters");
    }
    if (!asked.expires.empty()) {
        const auto end = config::parse_time(asked.expires);
        if (!end || *end <= std::chrono::system_clock::now()) {
            return objection("--expires: expected a day to come such as 2127-01-31, got '" + asked.expires + "'");
        }
    }
    std::array<unsigned char, 32> secret{};
    if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
        return core::gateway_error(core::errc::internal, "the system has no randomness");
    }
    const std::string bytes{secret.begin(), secret.end()};
    const auto key = std::string{prefix} + core::base64url(bytes);
    core::json entry{{"name", written(asked.name)}, {"sha256", jose::sha256_hex(key)}};
    entry["scopes"] = core::json::array();
    for (const auto& scope : asked.scopes) {
        entry["scopes"].push_back(written(scope));
    }
    if (!asked.expires.empty()) {
        entry["expires"] = asked.expires;
    }
    if (asked.form == key_form::json) {
        return core::to_text(core::json{{"key", key}, {"entry", std::move(entry)}}) + "\n";
    }
    const auto line = "- " + core::to_text(entry) + "\n";
    return "The key, which is not shown again:\n\n    " + key +
           "\n\nAdd its entry to the `keys` of the api_key provider in your configuration:\n\n    " + line +
           "\nIf there is no provider yet, add all of this. Then whoever has a key may call every agent, and nobody "
           "else:\n\n"
           "    access:\n"
           "      providers:\n"
           "        - type: api_key\n"
           "          name: keys\n"
           "          keys:\n"
           "            " +
           line +
           "      rules:\n"
           "        - {discover: authenticated, call: authenticated}\n";
}

}  // namespace gateway::cli
