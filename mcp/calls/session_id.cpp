#include "mcp/calls/session_id.hpp"

#include "core/ascii.hpp"
#include "jose/digest.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

namespace mcp {
namespace {

// The seal covers these words first, so that no kind opens as another.
constexpr std::string_view session_purpose = "MCP session 1";
constexpr std::string_view input_purpose = "MCP input 1";
constexpr std::string_view task_purpose = "MCP task 1";
constexpr std::string_view state_purpose = "MCP state 1";

enum class place_kind : unsigned char { upstream = 1, local = 2 };

// Beside the kind: in front of the place stand the cookies, and what else the client has declared, each with its length.
constexpr std::uint8_t declares_further = 0x80;
constexpr std::uint8_t has_cookies = 0x40;
constexpr std::size_t length_of_further = 2;  // bytes, also of the cookies

// In the worker of a handle: the replica follows.
constexpr std::uint16_t names_replica = 0x8000;

template <class Number>
void append_number(std::string& out, Number value)
{
    const auto bits = static_cast<std::make_unsigned_t<Number>>(value);
    for (std::size_t i = sizeof bits; i-- > 0;) {
        out += static_cast<char>((bits >> (8 * i)) & 0xFFU);
    }
}

// The fields of what this file has sealed; none of it is a stranger's, but another release of the gateway may have written it.
class field_reader {
public:
    explicit field_reader(std::string_view text) noexcept
        : text_{text}
    {
    }

    bool failed() const noexcept { return failed_; }
    std::string_view rest() const noexcept { return text_; }

    template <class Number>
    Number number() noexcept
    {
        std::make_unsigned_t<Number> bits = 0;
        for (const char c : bytes(sizeof(Number))) {
            bits = static_cast<decltype(bits)>((std::uint64_t{bits} << 8U) | static_cast<unsigned char>(c));
        }
        return static_cast<Number>(bits);
    }

    local_handle handle() noexcept
    {
        local_handle read;
        const auto first = number<std::uint16_t>();
        read.worker = first & static_cast<std::uint16_t>(~names_replica);
        std::ranges::copy(bytes(read.random.size()), read.random.begin());
        if ((first & names_replica) != 0) {
            read.replica = number<std::uint64_t>();
        }
        return read;
    }

    std::string_view text(std::size_t size) noexcept { return bytes(size); }

private:
    std::string_view bytes(std::size_t size) noexcept
    {
        if (text_.size() < size) {
            failed_ = true;
            text_ = {};
            return {};
        }
        const auto taken = text_.substr(0, size);
        text_.remove_prefix(size);
        return taken;
    }

    std::string_view text_;
    bool failed_ = false;
};

void append_handle(std::string& out, const local_handle& handle)
{
    const bool named = handle.replica != 0;
    append_number(out, static_cast<std::uint16_t>(handle.worker | (named ? names_replica : 0U)));
    out.append(handle.random.begin(), handle.random.end());
    if (named) {
        append_number(out, handle.replica);
    }
}

// 20251125 of "2025-11-25"; 0: not of the legacy era.
std::uint32_t number_of_version(std::string_view version) noexcept
{
    if (era_of(version) != era::legacy) {
        return 0;
    }
    std::uint32_t number = 0;
    for (const char c : version) {
        number = c == '-' ? number : number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    return number;
}

std::string_view version_of_number(std::uint32_t number) noexcept
{
    const auto* const found = std::ranges::find(legacy_versions, number, number_of_version);
    return found == legacy_versions.end() ? std::string_view{} : *found;
}

template <class Unit>
std::int64_t count_of(core::wall_time time) noexcept
{
    return std::chrono::floor<Unit>(time.time_since_epoch()).count();
}

template <class Unit>
core::wall_time time_of(std::int64_t count) noexcept
{
    return core::wall_time{std::chrono::duration_cast<core::wall_time::duration>(Unit{count})};
}

bool is_visible(std::string_view text) noexcept
{
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; });
}

std::array<std::string_view, 5> purpose_of(const session_binding& binding) noexcept
{
    return {session_purpose, binding.agent, binding.address, binding.provider, binding.principal};
}

std::array<std::string_view, 5> purpose_of(const input_binding& binding) noexcept
{
    return {input_purpose, binding.agent, binding.provider, binding.principal, binding.call};
}

std::array<std::string_view, 5> purpose_of(handed_out what, const session_binding& binding) noexcept
{
    const auto first = what == handed_out::task ? task_purpose : state_purpose;
    return {first, binding.agent, binding.address, binding.provider, binding.principal};
}

core::error unknown_session()
{
    return core::caller_error(core::errc::session_not_found, "no session id of this agent, address and principal");
}

core::error unknown_input()
{
    return core::caller_error(core::errc::input_expired, "no state of this call, agent and principal");
}

void append_counted(std::string& out, std::string_view text)
{
    append_number(out, std::uint64_t{text.size()});
    out += text;
}

}  // namespace

std::string digest_of_call(std::string_view method, std::string_view name, std::string_view arguments)
{
    std::string all;
    append_counted(all, method);
    append_counted(all, name);
    append_counted(all, compact(arguments));
    return jose::sha256(all);
}

session_digest digest_of_session(std::string_view id)
{
    session_digest digest{};
    const auto whole = jose::sha256(id);
    std::ranges::copy(std::string_view{whole}.substr(0, digest.size()), digest.begin());
    return digest;
}

std::string tag_of(const session_digest& id)
{
    std::string tag;
    for (std::size_t i = 0; i < 4; ++i) {
        tag += core::hex_digits[id[i] >> 4U];
        tag += core::hex_digits[id[i] & 0x0FU];
    }
    return tag;
}

session_ids::session_ids(jose::text_sealer sealer, bool alone, std::uint64_t replica)
    : sealer_{std::move(sealer)},
      alone_{alone},
      replica_{replica}
{
}

local_handle session_ids::new_handle(std::uint16_t worker) const
{
    local_handle handle{.worker = worker, .replica = replica_};
    sealer_.fill_randomly(handle.random);
    return handle;
}

std::optional<std::string> session_ids::seal(const sealed_session& session, const session_binding& binding) const
{
    const auto version = number_of_version(session.version);
    const auto* const upstream = std::get_if<std::string>(&session.place);
    if (session.cookies && session.cookies->size() > jose::longest_unsealed) {
        return std::nullopt;
    }
    if (version == 0 || (upstream != nullptr &&
                         (upstream->empty() || upstream->size() > longest_upstream_id || !is_visible(*upstream)))) {
        return std::nullopt;
    }
    std::string place;
    if (upstream != nullptr) {
        place = *upstream;
    } else {
        append_handle(place, std::get<local_handle>(session.place));
    }
    std::string plain;
    append_number(plain, static_cast<std::uint8_t>(upstream != nullptr ? place_kind::upstream : place_kind::local));
    append_number(plain, version);
    append_number(plain, session.declared.bits());
    append_number(plain, count_of<std::chrono::seconds>(session.began));
    if (session.cookies) {
        plain.front() = static_cast<char>(static_cast<std::uint8_t>(plain.front()) | has_cookies);
        append_number(plain, static_cast<std::uint16_t>(session.cookies->size()));
        plain += *session.cookies;
    }
    const auto whole = plain.size() + length_of_further + session.further.size() + place.size();
    if (!session.further.empty() && whole <= jose::longest_unsealed) {
        plain.front() = static_cast<char>(static_cast<std::uint8_t>(plain.front()) | declares_further);
        append_number(plain, static_cast<std::uint16_t>(session.further.size()));
        plain += session.further;
    }
    return sealer_.seal(plain + place, purpose_of(binding));
}

core::result<sealed_session> session_ids::open(std::string_view id, const session_binding& binding, core::wall_time now)
    const
{
    const auto opened = sealer_.open(id, purpose_of(binding));
    if (!opened) {
        return unknown_session();
    }
    field_reader fields{opened->view()};
    const auto first = fields.number<std::uint8_t>();
    const auto kind = static_cast<place_kind>(first & ~(declares_further | has_cookies));
    sealed_session session;
    session.version = version_of_number(fields.number<std::uint32_t>());
    session.declared = client_capabilities{fields.number<std::uint16_t>()};
    session.began = time_of<std::chrono::seconds>(fields.number<std::int64_t>());
    if ((first & has_cookies) != 0) {
        session.cookies = fields.text(fields.number<std::uint16_t>());
    }
    if ((first & declares_further) != 0) {
        session.further = fields.text(fields.number<std::uint16_t>());
    }
    if (kind == place_kind::local) {
        session.place = fields.handle();
    } else {
        session.place = std::string{fields.rest()};
    }
    const bool known = kind == place_kind::local || kind == place_kind::upstream;
    if (fields.failed() || !known || session.version.empty() || now - session.began >= session_life) {
        return unknown_session();
    }
    return session;
}

std::string session_ids::seal_input(const local_handle& call, const input_binding& binding, core::wall_time now) const
{
    std::string plain;
    append_handle(plain, call);
    append_number(plain, count_of<std::chrono::milliseconds>(now));
    return sealer_.seal(plain, purpose_of(binding)).value_or("");
}

core::result<local_handle>
session_ids::open_input(std::string_view state, const input_binding& binding, core::wall_time now) const
{
    const auto opened = sealer_.open(state, purpose_of(binding));
    if (!opened) {
        return unknown_input();
    }
    field_reader fields{opened->view()};
    const auto call = fields.handle();
    const auto sealed_at = time_of<std::chrono::milliseconds>(fields.number<std::int64_t>());
    if (fields.failed() || now - sealed_at >= input_life) {
        return unknown_input();
    }
    return call;
}

std::string session_ids::seal_handed_out(handed_out what, std::string_view text, const session_binding& binding) const
{
    return sealer_.seal_equally(text, purpose_of(what, binding));
}

std::optional<std::string>
session_ids::open_handed_out(handed_out what, std::string_view sealed, const session_binding& binding) const
{
    return sealer_.open_long(sealed, purpose_of(what, binding));
}

}  // namespace mcp
