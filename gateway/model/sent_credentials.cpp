#include "gateway/model/sent_credentials.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
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
            // A key takes the place of a parameter of its name in the URL.
            sent.query = secret{
                core::with_parameters('?' + sent.query.reveal(), encoded(key.name) + '=' + encoded(key.value.reveal()))
                    .substr(1)
            };
            break;
    }
}

}  // namespace

sent_credentials credentials_of(const core::agent& record, std::string_view token)
{
    sent_credentials sent{.headers = {}, .query = core::query_of(record)};
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

bool exchanges_tokens(const core::agent& record) noexcept
{
    const auto* const client = oauth_client_of(record);
    return client != nullptr && client->grant == core::oauth_grant::token_exchange;
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

std::string with_query(std::string target, const core::secret& query)
{
    return core::with_parameters(std::move(target), query.reveal());
}

}  // namespace gateway::model
