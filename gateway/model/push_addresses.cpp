#include "gateway/model/push_addresses.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/ip.hpp"
#include "core/url.hpp"
#include "jose/digest.hpp"
#include "net/upstream/own_listeners.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace gateway::model {
namespace {

constexpr std::string_view purpose = "A2A push 1";

// Ends each text but the last one; none of them can have it: URLs are checked, and JSON has no controls in strings.
constexpr char separator = '\0';

// In 16 characters.
std::string digest_of(std::string_view text)
{
    constexpr std::size_t kept_bytes = 12;
    return core::base64url(std::string_view{jose::sha256(text)}.substr(0, kept_bytes));
}

std::array<std::string_view, 2> purpose_of(std::string_view agent) noexcept
{
    return {purpose, agent};
}

}  // namespace

push_addresses::push_addresses(jose::text_sealer sealer)
    : sealer_{std::move(sealer)}
{
}

std::string push_addresses::new_proof() const
{
    std::array<unsigned char, 16> bytes{};
    sealer_.fill_randomly(bytes);
    return core::base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string push_addresses::seal(std::string_view agent, const push_receiver& receiver) const
{
    std::string plain = receiver.version == ::a2a::generation::v1 ? "1" : "0";
    for (const auto* text :
         {&receiver.proof, &receiver.url, &receiver.token, &receiver.authentication, &receiver.owner}) {
        plain += *text;
        plain += separator;
    }
    return sealer_.seal_long(plain, purpose_of(agent));
}

std::optional<push_receiver> push_addresses::open(std::string_view agent, std::string_view sealed) const
{
    const auto plain = sealer_.open_long(sealed, purpose_of(agent));
    if (!plain || plain->empty()) {
        return std::nullopt;
    }
    push_receiver found;
    found.version = plain->front() == '1' ? ::a2a::generation::v1 : ::a2a::generation::v03;
    auto rest = std::string_view{*plain}.substr(1);
    for (auto* text : {&found.proof, &found.url, &found.token, &found.authentication}) {
        const auto end = rest.find(separator);
        if (end == std::string_view::npos) {
            return std::nullopt;  // another release of the gateway has sealed it
        }
        *text = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    found.owner = rest.substr(0, rest.find(separator));  // none in an address that an earlier release has made
    return found;
}

bool push_addresses::is_proof(const push_receiver& receiver, std::string_view shown) noexcept
{
    const auto& proof = receiver.proof;
    return !proof.empty() && shown.size() == proof.size() &&
           CRYPTO_memcmp(shown.data(), proof.data(), proof.size()) == 0;
}

std::string push_owner(std::string_view provider, std::string_view id)
{
    std::string both{provider};
    both.append(1, separator).append(id);
    return digest_of(both);
}

std::string push_lane(std::string_view agent, const push_receiver& receiver, std::string_view task)
{
    std::string all{agent};
    all.append(1, separator).append(receiver.url).append(1, separator).append(task);
    return receiver.owner + '.' + digest_of(core::origin_of(receiver.url)) + '.' + core::base64url(jose::sha256(all));
}

lane_names names_in(std::string_view lane) noexcept
{
    const auto owner = lane.find('.');
    const auto hook = owner == std::string_view::npos ? owner : lane.find('.', owner + 1);
    return hook == std::string_view::npos ? lane_names{} : lane_names{lane.substr(0, owner), lane.substr(0, hook)};
}

bool is_field_value(std::string_view value) noexcept
{
    return core::trim(value) == value && std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

namespace {

// Whether everybody sees that the URL is at an address that is not allowed. Names are looked up when something is sent.
bool is_forbidden(const core::http_url& url, const core::address_rule& allowed)
{
    auto name = core::in_lower_case(url.host);
    name.erase(name.find_last_not_of('.') + 1);
    const bool loopback = name == "localhost" || name.ends_with(".localhost");
    const auto address = core::parse_ip(loopback ? std::string_view{"127.0.0.1"} : std::string_view{name});
    // Resolvers take it for an address (WHATWG URL, "ends in a number checker").
    const auto last = name.substr(name.find_last_of('.') + 1);
    if (!address && (last.starts_with("0x") || last.find_first_not_of("0123456789") == std::string::npos)) {
        return true;
    }
    return address && (!allowed.allows(*address) || net::is_own_listener(*address, url.port));
}

bool has_user(std::string_view url)
{
    const auto begin = url.find("//");
    return begin != std::string_view::npos &&
           url.substr(begin + 2, url.find_first_of("/?#", begin + 2) - begin - 2).find('@') != std::string_view::npos;
}

}  // namespace

std::optional<std::string_view> objection_to_push_url(const std::string& url, const config::settings& settings)
{
    const auto parsed = core::http_url::parse(url);
    if (!parsed || has_user(url) || !is_field_value(url)) {
        return "must be an http or https URL without a user";
    }
    if (is_forbidden(*parsed, core::address_rule{settings.push_allow})) {
        return "is at an address that is not public, or at this gateway";
    }
    return std::nullopt;
}

}  // namespace gateway::model
