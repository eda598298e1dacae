// The addresses at which agents notify the gateway: `/agents/<id>/push/<sealed>`. What the caller wants is in the address
// itself, sealed (jose/sealed_text.hpp) for its agent: there is nothing to store, to bound or to forget, agents see neither
// the caller's URL nor its credentials, and nobody can make such an address. Any thread.
#pragma once

#include "a2a/method.hpp"
#include "config/settings.hpp"
#include "core/secret.hpp"
#include "jose/sealed_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::model {

inline constexpr std::string_view push_path = "/push/";  // below an agent

// A caller's push notification configuration.
struct push_receiver {
    std::string url{};
    std::string token{};                                 // raw JSON string; empty: none
    std::string authentication{};                        // raw JSON object; empty: none
    ::a2a::generation version = ::a2a::generation::v03;  // that the caller speaks
    std::string proof{};  // what the agent shows besides the address, which logs may have
    std::string owner{};  // push_owner() of who wants it; empty: a caller without a credential

    friend bool operator==(const push_receiver&, const push_receiver&) = default;
};

class push_addresses {
public:
    explicit push_addresses(jose::text_sealer sealer);

    // 128 random bits in base64url: a push_receiver::proof.
    std::string new_proof() const;

    // Visible ASCII, at most 4/3 of the receiver's texts and 72 bytes.
    std::string seal(std::string_view agent, const push_receiver& receiver) const;

    // Nothing: it was not sealed for this agent with one of the keys, or it was changed since.
    std::optional<push_receiver> open(std::string_view agent, std::string_view sealed) const;

    // Whether `shown` is the proof, compared in constant time.
    static bool is_proof(const push_receiver& receiver, std::string_view shown) noexcept;

private:
    jose::text_sealer sealer_;
};

// Visible ASCII and, in the middle, spaces (RFC 9110 section 5.5).
bool is_field_value(std::string_view value) noexcept;

// Why nothing may be sent to this URL of a caller, as the rest of a sentence about it; nullopt: it may. Names are looked up when
// something is sent.
std::optional<std::string_view> objection_to_push_url(const std::string& url, const config::settings& settings);

// A notification of an agent, as a worker hands it over.
struct push_delivery {
    std::string agent;
    std::string address;  // sealed
    std::string lane;     // push_lane()
    std::string body;
};

// The owner of notifications, in 16 characters; the same in each process.
std::string push_owner(std::string_view provider, std::string_view id);

// The lane of a task's notifications to a URL: "<owner>.<hook>.<rest>". A hook is a server that notifications of one owner go to.
std::string push_lane(std::string_view agent, const push_receiver& receiver, std::string_view task);

// The owner and the agent of a lane; empty: nobody in particular, or another release has made it.
struct lane_names {
    std::string_view owner{};
    std::string_view hook{};  // with the owner
};
lane_names names_in(std::string_view lane) noexcept;

}  // namespace gateway::model
