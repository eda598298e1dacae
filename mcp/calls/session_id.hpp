// The session ids that clients get, and the `requestState` of calls that wait for input; and what a server hands out to one client and
// takes back from it (handed_out.hpp). All are sealed (jose/sealed_text.hpp):
// agent, address and principal are part of what the seal covers and not of the text, so an id that is used for another of them
// opens as little as a forged one. Any thread; no clock.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "net/http1/cookie_jar.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mcp {

inline constexpr std::size_t longest_upstream_id = 200;
inline constexpr std::chrono::hours session_life{24};
inline constexpr std::chrono::minutes input_life{5};

// The handle of an object in the memory of one process: a program's session, one whose upstream id does not go into an id, a parked call.
// Handles without a replica are sealed as those of releases that knew none.
struct local_handle {
    std::uint16_t worker = 0;  // at most 0x7fff
    std::array<unsigned char, 16> random{};
    std::uint64_t replica = 0;  // whose process it is (store::replica_id); 0: of the process that opens it, if of any

    friend auto operator<=>(const local_handle&, const local_handle&) = default;
};

// For whom and what an id is good. Views; only for the call that they are passed to.
struct session_binding {
    std::string_view agent;      // its id
    std::string_view address;    // of its server; whatever changes when the server is another one
    std::string_view provider;   // of the principal; empty with `principal`: nobody in particular
    std::string_view principal;  // its id
};

// A session as a server over HTTP knows it. Never logged.
struct upstream_session {
    std::string id;  // empty: it uses none
    net::http1::cookie_jar cookies{};

    friend bool operator==(const upstream_session&, const upstream_session&) = default;
};

struct sealed_session {
    std::variant<std::string, local_handle> place;  // the server's own id, or where to look
    std::string_view version;                       // one of versions(era::legacy); static
    client_capabilities declared;
    core::wall_time began;  // in whole seconds
    std::string further{};  // further_capabilities()
    std::optional<std::string> cookies{
    };  // of the server, as cookie_jar::to_text(); empty: they did not fit, and are kept elsewhere

    friend bool operator==(const sealed_session&, const sealed_session&) = default;
};

// The call that a `requestState` is good for.
struct input_binding {
    std::string_view agent;
    std::string_view provider;
    std::string_view principal;
    std::string_view call;  // digest_of_call()
};

// A value that a server hands out: the id of a task, or its `requestState`.
enum class handed_out : std::uint8_t { task, state };

// SHA-256 of method, name and arguments (raw JSON, whose white space does not count; empty: none).
std::string digest_of_call(std::string_view method, std::string_view name, std::string_view arguments);

// The first half of the SHA-256 of a session id: what stands for it wherever it is not kept.
using session_digest = std::array<unsigned char, 16>;

session_digest digest_of_session(std::string_view id);

// The form of a session id in logs: 8 hexadecimal digits of its SHA-256.
std::string tag_of(const session_digest& id);

class session_ids {
public:
    // `alone`: no other process opens what this one seals. `replica`: this process among those that share the store, which handles name;
    // 0: it has the store for itself.
    explicit session_ids(jose::text_sealer sealer, bool alone = false, std::uint64_t replica = 0);

    // An idle session is in use nowhere else.
    bool alone() const noexcept { return alone_; }

    std::uint64_t replica() const noexcept { return replica_; }

    // Whether another process has what the handle stands for.
    bool is_elsewhere(const local_handle& handle) const noexcept
    {
        return handle.replica != 0 && handle.replica != replica_;
    }

    local_handle new_handle(std::uint16_t worker) const;

    // At most 512 visible ASCII characters, into which `further` goes if there is room for it beside the rest. Nothing: the server's id is empty, longer than longest_upstream_id or not visible
    // ASCII (0x21 to 0x7E), so that it has to stay in memory behind a new_handle(); its cookies do not fit; or the version is not of the legacy era.
    std::optional<std::string> seal(const sealed_session& session, const session_binding& binding) const;

    // Fails with session_not_found, whatever is wrong: forged, changed, of an unknown key, of another agent, address or
    // principal, session_life old or older.
    core::result<sealed_session> open(std::string_view id, const session_binding& binding, core::wall_time now) const;

    // `now` in milliseconds.
    std::string seal_input(const local_handle& call, const input_binding& binding, core::wall_time now) const;

    // Fails with input_expired, whatever is wrong; from input_life on, too. That it is good for one use only is the caller's.
    core::result<local_handle> open_input(std::string_view state, const input_binding& binding, core::wall_time now)
        const;

    // Visible ASCII, the same for the same text as long as the first key stays: clients compare ids.
    std::string seal_handed_out(handed_out what, std::string_view text, const session_binding& binding) const;

    // Nothing, whatever is wrong, as open(). It does not grow old: the server knows how long it is good.
    std::optional<std::string> open_handed_out(handed_out what, std::string_view sealed, const session_binding& binding)
        const;

private:
    jose::text_sealer sealer_;
    bool alone_;
    std::uint64_t replica_;
};

}  // namespace mcp
