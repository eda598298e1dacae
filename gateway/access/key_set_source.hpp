// The JWK Set of one provider, from its URL, the URL that its issuer publishes, or a file: kept while it is fresh, read by one task at a time however many ask,
// and still used when it cannot be read again. Control loop; a file and the text of a set are read on a thread of their own.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/threads/side_thread.hpp"
#include "jose/json_web_key.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

using key_list = std::shared_ptr<const std::vector<jose::json_web_key>>;

// One of the three; the others are empty.
struct key_set_place {
    std::string url;
    std::string file;
    std::string issuer = {};  // whose document names the URL: at a public address, or on the issuer's own origin

    friend bool operator==(const key_set_place&, const key_set_place&) = default;
};

// Outlives the sources.
struct key_set_services {
    net::fetcher& fetcher;
    threads::side_thread& blocking;
    const core::logger& log;
    std::function<core::steady_time()> now;
};

struct key_set_facts {
    std::optional<core::duration> age;  // of the set in use; nothing: there is none
    std::uint64_t fetches = 0;          // of the URL or the file, also those that failed
    std::uint64_t failures = 0;         // what came was not a set with a usable key, or nothing came
};

// A set is fresh for as long as its answer's max-age says, within the bounds, or else for usual_freshness.
inline constexpr std::chrono::minutes least_freshness{1};
inline constexpr std::chrono::hours usual_freshness{1};
inline constexpr std::chrono::hours most_freshness{24};
inline constexpr std::chrono::seconds pause_between_newer{30};
inline constexpr std::chrono::seconds pause_after_failure{5};
inline constexpr std::size_t max_key_set_size = 1024 * 1024;  // bytes
inline constexpr std::chrono::seconds key_set_timeout{5};

// Held by shared_ptr: a reading goes on when whoever began it has left.
class key_set_source : public std::enable_shared_from_this<key_set_source> {
public:
    key_set_source(key_set_place place, key_set_services services);
    key_set_source(const key_set_source&) = delete;
    key_set_source& operator=(const key_set_source&) = delete;

    const key_set_place& place() const noexcept { return place_; }

    // The keys; not null, not empty. A set that is not fresh is read again before. `newer`: a fresh one too, because a key is
    // missing in it, unless the last reading began less than pause_between_newer ago. When a reading fails the last good set
    // stays in use, and nobody waits for the next reading. Fails with access_unavailable while there has been no good set.
    net::task<core::result<key_list>> keys(bool newer);

    key_set_facts facts() const;

    // No reading begins any more; one that is under way ends.
    void stop() noexcept { stopped_ = true; }

private:
    struct reading_result {
        key_list keys;
        core::duration fresh_for{};
    };

    bool is_fresh() const;
    bool may_begin(bool newer) const;
    void begin(net::executor where);
    static net::task<> read(std::shared_ptr<key_set_source> source);
    net::task<core::result<reading_result>> load();
    net::task<core::result<std::string>> discover();
    net::task<core::result<reading_result>> load_set(net::fetch_request request);
    void end(core::result<reading_result> outcome);
    void log_outcome(const core::result<reading_result>& outcome) const;

    key_set_place place_;
    key_set_services services_;
    key_list kept_;                  // the last good set; null: none yet
    core::steady_time kept_since_;   // when its reading began
    core::steady_time fresh_until_;  // of kept_
    core::steady_time newer_from_;   // when a reading for a missing key may begin
    core::steady_time retry_from_;   // when a reading after a failure may begin
    key_set_facts counts_;           // without the age
    bool reading_ = false;
    bool stopped_ = false;
    bool failed_ = false;  // the last reading
    net::waiting_tasks waiting_;
};

// URL of the issuer's discovery document (OpenID Connect Discovery 1.0 section 4). Pure.
std::string discovery_url(std::string_view issuer);

// The `jwks_uri` of the document. Fails with access_unavailable if it is not a document, is about another issuer, or names an
// address that is neither https nor on the origin of the issuer.
core::result<std::string>
discovered_key_set(const core::result<net::fetch_response>& document, const std::string& issuer);

}  // namespace gateway::access
