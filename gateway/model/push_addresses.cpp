#include "gateway/model/push_addresses.hpp"

#include "jose/base64url.hpp"
#include "jose/digest.hpp"

#include <openssl/crypto.h>

#include <array>
#include <cstddef>
#include <utility>

namespace gateway::model {
namespace {

constexpr std::string_view purpose = "A2A push 1";

// Ends each text but the last one; none of them can have it: URLs are checked, and JSON has no controls in strings.
constexpr char separator = '\0';

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
    return jose::base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string push_addresses::seal(std::string_view agent, const push_receiver& receiver) const
{
    std::string plain = receiver.version == a2a::generation::v1 ? "1" : "0";
    for (const auto* text : {&receiver.proof, &receiver.url, &receiver.token, &receiver.authentication}) {
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
    found.version = plain->front() == '1' ? a2a::generation::v1 : a2a::generation::v03;
    auto rest = std::string_view{*plain}.substr(1);
    for (auto* text : {&found.proof, &found.url, &found.token, &found.authentication}) {
        const auto end = rest.find(separator);
        if (end == std::string_view::npos) {
            return std::nullopt;  // another release of the gateway has sealed it
        }
        *text = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    return found;
}

bool push_addresses::is_proof(const push_receiver& receiver, std::string_view shown) noexcept
{
    const auto& proof = receiver.proof;
    return !proof.empty() && shown.size() == proof.size() &&
           CRYPTO_memcmp(shown.data(), proof.data(), proof.size()) == 0;
}

std::string push_lane(std::string_view agent, std::string_view url, std::string_view task)
{
    std::string all{agent};
    all.append(1, separator).append(url).append(1, separator).append(task);
    return jose::base64url(jose::sha256(all));
}

}  // namespace gateway::model
