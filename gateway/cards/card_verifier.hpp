// Whether a fetched card has a signature that counts: A2A 1.0 section 8.4, with the keys that the operator trusts. On the
// card thread.
#pragma once

#include "config/settings.hpp"
#include "config/signatures.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/cards/card_turns.hpp"
#include "jose/json_web_key.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gateway::cards {

// The signature by which a card was accepted.
struct good_signature {
    std::string kid;
    std::string algorithm;    // as JWS names it
    std::string key_set_url;  // its `jku`; may be empty
};

struct signed_card {
    std::string agent;                                         // whose it is
    std::string text;                                          // as the agent sent it
    core::json document;                                       // the same, read
    std::string url;                                           // where it was found
    net::tls_client_files tls;                                 // for what lies at the same origin
    std::shared_ptr<const core::address_rule> addresses = {};  // where key sets may be; null: at any address
    core::secret proxy = {};                                   // to what lies at the same origin
};

class card_verifier {
public:
    using clock = std::function<core::steady_time()>;

    // All outlive the verifier, the fetcher only until stop(). What takes long is done in pieces, by `turns`.
    card_verifier(
        net::fetcher& fetcher,
        card_turns& turns,
        const config::card_settings& settings,
        clock now = std::chrono::steady_clock::now
    );

    // Fails with card_signature, whatever the reason: the detail says it. Key sets that signatures name are fetched from
    // `rules.key_set_origins` only, without credentials and redirects, and kept for as long as their answers allow; one
    // without the signature's key is fetched again, at most once in cards.min_ttl. All of it takes at most `timeout`.
    net::task<core::result<good_signature>>
    verify(config::signature_rules rules, signed_card card, core::duration timeout);

    // From now on the fetcher is not touched.
    void stop() noexcept { stopped_ = true; }

private:
    using key_list = std::shared_ptr<const std::vector<jose::json_web_key>>;

    struct kept_key_set {
        key_list keys;
        core::steady_time fetched{};
        core::steady_time fresh_until{};
    };

    // `request`: for the set, without its headers; `kid`: who is looked for in it.
    net::task<core::result<key_list>> keys_at(net::fetch_request request, std::string kid);

    void keep(const std::string& url, kept_key_set keys);

    net::fetcher& fetcher_;
    card_turns& turns_;
    const config::card_settings& settings_;
    clock now_;
    std::map<std::string, kept_key_set> key_sets_;
    bool stopped_ = false;
};

}  // namespace gateway::cards
