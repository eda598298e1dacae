// Checks API keys of which the configuration has the scrypt hash: keys that may be guessed. Each check takes a while and some
// memory, so that they run one after the other on a thread of their own. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/scrypt_hash.hpp"
#include "gateway/access/question_line.hpp"
#include "gateway/access/waiting_place.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "gateway/model/presented_credential.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/types.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

inline constexpr std::size_t max_waiting_keys = 16;
inline constexpr std::size_t max_waiting_of_sender = max_waiting_keys / 4;  // of one address

// Whether it is the key with this hash, compared in constant time. False also if there is no memory for it.
bool matches(const core::scrypt_hash& hash, std::string_view key);

class weak_key_verifier {
public:
    explicit weak_key_verifier(std::function<core::wall_time()> wall);

    // Keys that still wait are not checked any more.
    ~weak_key_verifier() { *ended_ = true; }
    weak_key_verifier(const weak_key_verifier&) = delete;
    weak_key_verifier& operator=(const weak_key_verifier&) = delete;

    // Those that have such keys; others are passed over.
    void set_providers(const std::vector<core::access_provider>& providers);

    // Whether a key at this place may be one of them.
    bool reads(core::credential_place place, std::string_view field) const;

    // The owner of the key. Fails with unauthenticated, also for a key that is disabled or has expired, and with access_unavailable if
    // max_waiting_keys wait already, or max_waiting_of_sender of its sender.
    net::task<core::result<model::accepted_credential>> verify(model::presented_credential presented);

private:
    struct known_key {
        core::credential_place place;
        std::string field;
        core::scrypt_hash hash;
        core::api_key key;
    };
    using key_list = std::shared_ptr<const std::vector<known_key>>;

    net::task<core::result<model::accepted_credential>> ask(key_list keys, model::presented_credential presented);
    static std::optional<std::size_t> find(
        const std::vector<known_key>& keys,
        const model::presented_credential& presented,
        const std::atomic<bool>& ended
    );

    std::function<core::wall_time()> wall_;
    key_list keys_ = std::make_shared<const std::vector<known_key>>();
    std::shared_ptr<question_line> questions_ = std::make_shared<question_line>();
    std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<taken_places> waiting_ = std::make_shared<taken_places>();
    threads::side_thread checks_;
};

}  // namespace gateway::access
