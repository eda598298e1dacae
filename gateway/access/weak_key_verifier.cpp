#include "gateway/access/weak_key_verifier.hpp"

#include "core/ascii.hpp"
#include "jose/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::access {
namespace {

using core::errc;

core::error refused(const char* why)
{
    return core::caller_error(errc::unauthenticated, why);
}

bool is_at(const auto& key, core::credential_place place, std::string_view field)
{
    const bool same =
        place == core::credential_place::header ? core::equal_ignoring_case(key.field, field) : key.field == field;
    return key.place == place && same;
}

}  // namespace

bool matches(const core::scrypt_hash& hash, std::string_view key)
{
    // OpenSSL counts a little more than the table itself.
    constexpr std::uint64_t most_memory = core::most_scrypt_memory + 1024 * 1024;
    std::string computed(hash.hash.size(), '\0');
    const bool done = EVP_PBE_scrypt(
                          key.data(),
                          key.size(),
                          reinterpret_cast<const unsigned char*>(hash.salt.data()),
                          hash.salt.size(),
                          std::uint64_t{1} << hash.log_cost,
                          hash.block_size,
                          hash.parallelism,
                          most_memory,
                          reinterpret_cast<unsigned char*>(computed.data()),
                          computed.size()
                      ) == 1;
    ERR_clear_error();
    return done && CRYPTO_memcmp(computed.data(), hash.hash.data(), computed.size()) == 0;
}

weak_key_verifier::weak_key_verifier(std::function<core::wall_time()> wall)
    : wall_{std::move(wall)}
{
}

void weak_key_verifier::set_providers(const std::vector<core::access_provider>& providers)
{
    std::vector<known_key> keys;
    for (const auto& provider : providers) {
        const auto* of = std::get_if<core::api_key_provider>(&provider.type);
        for (const auto& key : of == nullptr ? std::vector<core::api_key>{} : of->keys) {
            if (auto hash = core::parse_scrypt_hash(key.scrypt)) {
                keys.push_back({of->place, of->field, std::move(*hash), key});
            }
        }
    }
    keys_ = std::make_shared<const std::vector<known_key>>(std::move(keys));
    questions_ = std::make_shared<question_line>();
}

bool weak_key_verifier::reads(core::credential_place place, std::string_view field) const
{
    return std::ranges::any_of(*keys_, [&](const auto& each) { return is_at(each, place, field); });
}

net::task<core::result<model::accepted_credential>> weak_key_verifier::verify(model::presented_credential presented)
{
    const auto keys = keys_;
    const auto place = std::to_string(static_cast<unsigned>(presented.place)) + core::in_lower_case(presented.field);
    auto name = jose::sha256(place + '\n' + presented.text);
    std::function<net::task<question_line::answer>()> question = [this, keys, asked = std::move(presented)] {
        return ask(keys, asked);
    };
    auto answer = co_await questions_->ask(std::move(name), std::move(question));
    if (keys != keys_) {
        co_return core::gateway_error(errc::access_unavailable, "API key: the keys have changed meanwhile");
    }
    co_return answer;
}

net::task<core::result<model::accepted_credential>>
weak_key_verifier::ask(key_list keys, model::presented_credential presented)
{
    const auto of_sender = static_cast<std::size_t>(std::ranges::count(*waiting_, presented.sender));
    if (waiting_->size() >= max_waiting_keys || of_sender >= max_waiting_of_sender) {
        co_return core::gateway_error(errc::access_unavailable, "API key: too many wait to be checked");
    }
    const waiting_place place{waiting_, presented.sender};
    std::function<std::optional<std::size_t>()> question = [keys, presented, ended = ended_] {
        return find(*keys, presented, *ended);
    };
    const auto found = co_await checks_.ask<std::optional<std::size_t>>(std::move(question));
    if (!found) {
        co_return refused("no provider knows the API key");
    }
    const auto& key = (*keys)[*found].key;
    if (key.disabled) {
        co_return refused("the API key is disabled");
    }
    if (key.expires && wall_() >= *key.expires) {
        co_return refused("the API key has expired");
    }
    const auto ends = key.expires.value_or(core::wall_time::max());
    co_return model::accepted_credential{
        .owner = std::make_shared<const core::principal>(key.owner),
        .until = ends,
        .ends = ends,
        .is_key = true
    };
}

// On the thread of its own. Nothing: it is none of them, or nobody waits any more.
std::optional<std::size_t> weak_key_verifier::find(
    const std::vector<known_key>& keys,
    const model::presented_credential& presented,
    const std::atomic<bool>& ended
)
{
    for (std::size_t i = 0; i < keys.size() && !ended; ++i) {
        if (is_at(keys[i], presented.place, presented.field) && matches(keys[i].hash, presented.text)) {
            return i;
        }
    }
    return std::nullopt;
}

}  // namespace gateway::access
