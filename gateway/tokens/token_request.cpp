#include "gateway/tokens/token_request.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/json/json.hpp"
#include "gateway/model/agent_record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::tokens {
namespace {

using namespace std::chrono_literals;
using core::json;

// RFC 8693 section 3.
constexpr std::string_view access_token_type = "urn:ietf:params:oauth:token-type:access_token";
constexpr std::string_view jwt_type = "urn:ietf:params:oauth:token-type:jwt";

core::error refused(std::string why)
{
    return core::upstream_error(core::errc::upstream_credentials, "token endpoint: " + std::move(why));
}

void add_parameter(std::string& form, std::string_view name, std::string_view value)
{
    form += form.empty() ? "" : "&";
    form.append(name).append("=").append(model::encoded(value));
}

std::string joined(const std::vector<std::string>& scopes)
{
    std::string text;
    for (const auto& each : scopes) {
        text += (text.empty() ? "" : " ") + each;
    }
    return text;
}

const std::string* text_member(const json& of, std::string_view name)
{
    const auto* value = core::member(of, name);
    return value == nullptr ? nullptr : value->get_ptr<const std::string*>();
}

struct known_error {
    std::string_view code;
    bool of_subject;  // of an exchange: it is the token that was shown, or what was asked for it, and not the client
};

// The server's reason for its refusal, if it is a known word: any other text could be an echo of what it was sent. Null: it is not.
const known_error* find_error(const std::string& body)
{
    static constexpr auto known = std::to_array<known_error>(
        {{"invalid_request", true},  // RFC 8693 section 2.2.2: the token is invalid or not acceptable
         {"invalid_client", false},
         {"invalid_grant", true},
         {"unauthorized_client", false},
         {"unsupported_grant_type", false},
         {"invalid_scope", true},
         {"invalid_target", true},
         {"invalid_token", true
         },  // the last two: of servers that take the words from RFC 6750 and RFC 6749 section 4.1.2.1
         {"access_denied", true}}
    );
    const auto document = core::parse_json(body);
    const auto* said = document ? text_member(*document, "error") : nullptr;
    const auto found = said == nullptr ? known.end() : std::ranges::find(known, *said, &known_error::code);
    return found == known.end() ? nullptr : &*found;
}

// Some servers give the number as text.
std::optional<core::duration> life_of(const json* value)
{
    if (value == nullptr || value->is_null()) {
        return usual_life;
    }
    constexpr std::uint64_t most = std::chrono::seconds{longest_life}.count();
    std::uint64_t seconds = 0;
    if (const auto* text = value->get_ptr<const std::string*>()) {
        const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), seconds);
        if (failed == std::errc::result_out_of_range) {
            return longest_life;
        }
        seconds = failed == std::errc{} && end == text->data() + text->size() ? seconds : 0;
    } else if (value->is_number_unsigned()) {
        seconds = value->get<std::uint64_t>();
    }
    if (seconds == 0) {
        return std::nullopt;
    }
    return std::chrono::seconds{std::min(seconds, most)};
}

bool is_token_text(std::string_view text)
{
    return !text.empty() && text.size() <= max_token &&
           std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

// A form that begins with these parameters, then those of the client.
net::fetch_request form_request(const core::oauth_client& client, std::string form)
{
    net::fetch_request request;
    request.url = client.token_url;
    request.headers.emplace_back("Accept", "application/json");
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.max_size = max_token_answer;
    request.timeout = token_timeout;
    request.connect_timeout = token_timeout;
    if (!client.scopes.empty()) {
        add_parameter(form, "scope", joined(client.scopes));
    }
    if (!client.audience.empty()) {
        add_parameter(form, "audience", client.audience);
    }
    if (!client.resource.empty()) {
        add_parameter(form, "resource", client.resource);
    }
    const auto& secret = client.client_secret.reveal();
    if (client.authentication == core::client_authentication::post) {
        add_parameter(form, "client_id", client.client_id);
        add_parameter(form, "client_secret", secret);
    } else {
        const auto pair = model::encoded(client.client_id) + ':' + model::encoded(secret);
        request.headers.emplace_back("Authorization", "Basic " + core::base64(pair));
    }
    request.body = std::move(form);
    return request;
}

core::result<granted_token> read_grant(const net::fetch_response& answer, core::oauth_grant grant)
{
    const bool exchanges = grant == core::oauth_grant::token_exchange;
    if (answer.status != 200) {
        const auto* const said = find_error(answer.body);
        auto why = refused(
            "status " + std::to_string(answer.status) + (said == nullptr ? "" : ", " + std::string{said->code})
        );
        const bool forbids = exchanges && said != nullptr && said->of_subject && answer.status < 500;
        return forbids ? core::caller_error(core::errc::forbidden, std::move(why.detail)) : why;
    }
    const auto document = core::parse_json(answer.body);
    if (!document || !document->is_object()) {
        return refused("the answer is not a JSON object");
    }
    const auto* issued = text_member(*document, "issued_token_type");
    if (exchanges && (issued == nullptr || (*issued != access_token_type && *issued != jwt_type))) {
        return refused("the token is not issued as an access token");
    }
    const auto* type = text_member(*document, "token_type");
    if (type == nullptr || !core::equal_ignoring_case(*type, "bearer")) {
        return refused("the token is not a bearer token");
    }
    const auto* text = text_member(*document, "access_token");
    if (text == nullptr || !is_token_text(*text)) {
        return refused("the token is missing, too long, or has a character that no token has");
    }
    const auto life = life_of(core::member(*document, "expires_in"));
    if (!life) {
        return refused("expires_in is not a number of seconds");
    }
    return granted_token{core::secret{*text}, *life};
}

}  // namespace

net::fetch_request token_request(const core::oauth_client& client)
{
    std::string form;
    add_parameter(form, "grant_type", "client_credentials");
    auto request = form_request(client, std::move(form));
    request.last_on_connection = true;  // the next one comes when this token ends
    return request;
}

net::fetch_request exchange_request(const core::oauth_client& client, const model::exchange_request& asked)
{
    std::string form;
    add_parameter(form, "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
    add_parameter(form, "subject_token", asked.subject.reveal());
    add_parameter(form, "subject_token_type", asked.subject_type);
    add_parameter(form, "requested_token_type", access_token_type);
    return form_request(client, std::move(form));
}

core::result<granted_token> read_token(const net::fetch_response& answer)
{
    return read_grant(answer, core::oauth_grant::client_credentials);
}

core::result<granted_token> read_exchanged_token(const net::fetch_response& answer)
{
    return read_grant(answer, core::oauth_grant::token_exchange);
}

core::duration renewal_after(core::duration life) noexcept
{
    return std::max(std::min<core::duration>(life * 4 / 5, life - 30s), life / 2);
}

}  // namespace gateway::tokens
