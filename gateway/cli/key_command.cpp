#include "gateway/cli/key_command.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "jose/base64url.hpp"
#include "jose/digest.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gateway::cli {
namespace {

constexpr std::string_view prefix = "cardea_";  // so that a key that leaks into a repository is found
constexpr std::size_t longest_name = 256;

bool is_printable(std::string_view text)
{
    return !text.empty() && text.size() <= longest_name && std::ranges::none_of(text, core::is_control);
}

bool is_date(std::string_view text)
{
    constexpr std::string_view form = "0000-00-00";
    return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), [](char c, char of_form) {
               return of_form == '0' ? core::is_digit(c) : c == of_form;
           });
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
    if (!std::ranges::all_of(asked.scopes, is_printable)) {
        return objection("--scope: expected a scope of at most 256 bytes without control characters");
    }
    if (!asked.expires.empty() && !is_date(asked.expires)) {
        return objection("--expires: expected a date such as 2027-01-31, got '" + asked.expires + "'");
    }
    std::array<unsigned char, 32> secret{};
    if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
        return core::gateway_error(core::errc::internal, "the system has no randomness");
    }
    const std::string bytes{secret.begin(), secret.end()};
    const auto key = std::string{prefix} + jose::base64url(bytes);
    core::json entry{{"name", asked.name}, {"sha256", jose::sha256_hex(key)}, {"scopes", asked.scopes}};
    if (!asked.expires.empty()) {
        entry["expires"] = asked.expires;
    }
    if (asked.form == key_form::json) {
        return core::to_text(core::json{{"key", key}, {"entry", std::move(entry)}}) + "\n";
    }
    return "The key, which is not shown again:\n\n    " + key +
           "\n\nIts entry among the `keys` of an api_key provider of `access.providers`:\n\n    - " +
           core::to_text(entry) + "\n";
}

}  // namespace gateway::cli
