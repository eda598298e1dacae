// Checks JSON Web Tokens by the providers of the configuration. Control loop; signatures are checked on a thread of its own.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/key_set_source.hpp"
#include "gateway/access/principal_claims.hpp"
#include "gateway/model/credential_checks.hpp"
#include "gateway/threads/side_thread.hpp"
#include "jose/json_web_token.hpp"
#include "net/loop/types.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::access {

// One issuer whose tokens a provider accepts: the settings that providers of signed tokens have in common.
struct token_settings {
    std::string issuer;
    std::vector<std::string> audiences;
    std::vector<std::string> algorithms;  // names of RFC 7518
    core::duration leeway{};
    key_set_place keys;
    std::string header = {};  // in which the tokens are; empty: bearer tokens
    claim_style style = claim_style::usual;
    std::vector<std::string> clients = {};  // as jose::token_policy has them

    friend bool operator==(const token_settings&, const token_settings&) = default;
};

// One for each issuer of the provider; empty: it accepts no such tokens.
std::vector<token_settings> token_settings_of(const core::access_provider& provider);

// The address (number_of()) of each place that is taken; 0 where it does not matter.
using taken_places = std::vector<std::uint64_t>;

// One of a bounded number of places to wait, taken by an address for as long as this exists. One thread.
class waiting_place {
public:
    explicit waiting_place(std::shared_ptr<taken_places> taken, std::uint64_t sender = 0)
        : taken_{std::move(taken)},
          sender_{sender}
    {
        taken_->push_back(sender_);
    }
    ~waiting_place() { taken_->erase(std::ranges::find(*taken_, sender_)); }
    waiting_place(const waiting_place&) = delete;
    waiting_place& operator=(const waiting_place&) = delete;

private:
    std::shared_ptr<taken_places> taken_;
    std::uint64_t sender_;
};

inline constexpr std::size_t max_waiting_tokens = 256;

struct provider_key_set {
    std::string provider;
    key_set_facts facts;
};

class token_verifier {
public:
    // Everything that the services refer to outlives the verifier and the loop.
    token_verifier(key_set_services services, std::function<core::wall_time()> wall);

    // Those that check tokens; others are passed over. A source of keys that was there before keeps its set.
    void set_providers(const std::vector<core::access_provider>& providers);

    // Whether it says that it is a JSON Web Token of an issuer whose bearer tokens a provider accepts, or says it so that
    // readers may disagree. Nothing of it has been checked, and verify() may refuse what it is.
    bool recognises(const std::string& text) const;

    // The owner of the token. The first provider with the token's issuer and audience decides, else the first with its issuer.
    // Fails with unauthenticated; with access_unavailable while the provider has no keys, or if max_waiting_tokens wait
    // already, as many for newer keys apart.
    // `header` is where the token was; empty: a bearer token. A token counts only where its provider has it.
    net::task<core::result<model::accepted_credential>> verify(std::string text, std::string header = {});

    // Before the fetcher ends: no key set is fetched any more. Tokens are checked with those that are there.
    void stop();

    // One of each provider, in their order.
    std::vector<provider_key_set> key_sets() const;

private:
    struct provider {
        std::string name;
        token_settings settings;
        jose::token_policy policy;
        std::shared_ptr<key_set_source> source;
    };
    using provider_pointer = std::shared_ptr<const provider>;
    using token_pointer = std::shared_ptr<const jose::json_web_token>;

    enum class finding : std::uint8_t { signed_by_key, not_signed, key_missing };
    struct search_result {
        finding found = finding::key_missing;
        key_list keys;  // those that were looked at
    };

    provider_pointer
    make_provider(const std::string& name, token_settings settings, const std::vector<provider_pointer>& others) const;
    provider_pointer provider_of(const jose::json_web_token& token, std::string_view header) const;
    bool has(const provider_pointer& by) const;
    net::task<core::result<>> check_signature(provider_pointer by, token_pointer token);
    net::task<core::result<search_result>> search(provider_pointer by, token_pointer token, key_list searched);

    key_set_services services_;
    std::function<core::wall_time()> wall_;
    std::vector<provider_pointer> providers_;
    bool stopped_ = false;
    std::shared_ptr<taken_places> waiting_ = std::make_shared<taken_places>();
    std::shared_ptr<taken_places> waiting_for_newer_ = std::make_shared<taken_places>();
    threads::side_thread signatures_;
};

}  // namespace gateway::access
