#include "gateway/model/sent_credentials.hpp"

#include "core/ascii.hpp"
#include "jose/base64url.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::model {
namespace {

constexpr std::string_view upper_hex = "0123456789ABCDEF";

using core::credential_place;
using core::secret;

void add_authorization(sent_credentials& sent, std::string_view scheme, std::string_view value)
{
    sent.headers.emplace_back("Authorization", secret{std::string{scheme}.append(" ").append(value)});
}

void add_key(sent_credentials& sent, const core::key_credential& key)
{
    switch (key.place) {
        case credential_place::header:
            sent.headers.emplace_back(key.name, key.value);
            break;
        case credential_place::cookie:
            sent.headers.emplace_back("Cookie", secret{key.name + '=' + key.value.reveal()});
            break;
        case credential_place::query:
            sent.query = secret{encoded(key.name) + '=' + encoded(key.value.reveal())};
            break;
    }
}

std::string_view name_of(std::string_view parameter)
{
    return parameter.substr(0, parameter.find('='));
}

}  // namespace

sent_credentials credentials_of(const core::agent& record, std::string_view token)
{
    sent_credentials sent;
    const auto* const bearer = std::get_if<secret>(&record.credentials);
    const auto* const basic = std::get_if<core::basic_credentials>(&record.credentials);
    const auto* const key = std::get_if<core::key_credential>(&record.credentials);
    const bool authorized = std::ranges::any_of(record.headers, [](const auto& each) {
        return core::equal_ignoring_case(each.first, "authorization");
    });
    // An MCP server's own headers may say who is calling, instead of its bearer.
    if (!authorized && !record.bearer.empty()) {
        add_authorization(sent, "Bearer", record.bearer.reveal());
    } else if (bearer != nullptr && !bearer->empty()) {
        add_authorization(sent, "Bearer", bearer->reveal());
    } else if (basic != nullptr) {
        add_authorization(sent, "Basic", jose::base64(basic->username + ':' + basic->password.reveal()));
    } else if (oauth_client_of(record) != nullptr && !token.empty()) {
        add_authorization(sent, "Bearer", token);
    }
    if (key != nullptr) {
        add_key(sent, *key);
    }
    sent.headers.insert(sent.headers.end(), record.headers.begin(), record.headers.end());
    return sent;
}

const core::oauth_client* oauth_client_of(const core::agent& record) noexcept
{
    const auto* client = std::get_if<core::boxed<core::oauth_client>>(&record.credentials);
    return client == nullptr ? nullptr : &**client;
}

std::string encoded(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (core::is_letter(c) || core::is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += upper_hex[byte / 16];
            out += upper_hex[byte % 16];
        }
    }
    return out;
}

std::string decoded(std::string_view component)
{
    std::string out;
    for (std::size_t i = 0; i < component.size(); ++i) {
        const bool escape = component[i] == '%' && i + 2 < component.size();
        const int high = escape ? core::hex_value(component[i + 1]) : -1;
        const int low = escape ? core::hex_value(component[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += component[i];
        }
    }
    return out;
}

std::string with_query(std::string target, const core::secret& query)
{
    if (query.empty()) {
        return target;
    }
    const std::string_view own = query.reveal();
    const auto begin = std::min(target.find('?'), target.size());
    const auto name = decoded(name_of(own));
    std::string out = target.substr(0, begin);
    char before = '?';
    auto rest = std::string_view{target}.substr(std::min(begin + 1, target.size()));
    while (!rest.empty()) {
        const auto end = std::min(rest.find('&'), rest.size());
        if (const auto pair = rest.substr(0, end); decoded(name_of(pair)) != name) {
            (out += std::exchange(before, '&')) += pair;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    (out += before) += own;
    return out;
}

}  // namespace gateway::model
