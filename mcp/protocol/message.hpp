// One JSON-RPC 2.0 message as an MCP server sends it, and what the gateway sends to servers. Sources: MCP schema of
// 2024-11-05 to 2026-07-28; https://www.jsonrpc.org/specification. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/version.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

enum class message_kind : std::uint8_t { request, notification, result, failure };

enum class id_type : std::uint8_t { absent, null, number, string };

// The number that a raw id is: `7`, and `7.0` and `"7"`, which servers make of it. Nothing: it is none.
std::optional<std::uint64_t> number_of_id(std::string_view raw) noexcept;

// Whether an answer with this raw id says whose it is: absent, `null` and `""` do not.
constexpr bool names_request(std::string_view raw) noexcept
{
    return !raw.empty() && raw != "null" && raw != "\"\"";
}

inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t internal_error = -32603;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t unsupported_version = -32022;  // the modern era's

// The error of an answer; `text` is the server's own, for operators only.
struct rpc_failure {
    std::int64_t code = 0;
    std::string text;
    std::string_view data;  // raw; empty: none
};

// Views are into the text that was read.
struct message {
    message_kind kind = message_kind::notification;
    std::string method;  // of a request or notification; unescaped
    id_type id_is = id_type::absent;
    std::string_view id;      // raw: `1` is not `"1"`; empty: none
    std::string_view params;  // raw object or array; empty: none
    std::string_view result;  // raw value of any type
    rpc_failure failure;

    // The id of a request of ours that this answers, as number_of_id(). Nothing: none of ours.
    std::optional<std::uint64_t> answered() const noexcept;
};

struct message_limits {
    std::size_t bytes = 8 * 1024 * 1024;
    unsigned depth = 64;  // at most 64
};

// Members that are not known are ignored; `params`, `error` or `result` that is null beside what matters is absent.
// Fails with upstream_protocol: over the limits, not JSON, a batch, a member of the envelope twice, no kind of message or
// two, an id that is no string or number (a failure may lack one or have null: then it answers nothing in particular).
core::result<message> read_message(std::string_view text, message_limits limits = {});

inline constexpr std::size_t most_in_batch = 100;

// The messages of a batch, where `version` has those; else, and if it is none or holds none or more than most_in_batch, the
// text itself, for read_message() to judge.
std::vector<std::string_view> messages_in(std::string_view text, std::string_view version);

// The other way round: an array of them, of which there is one at least.
std::string batch_of(std::span<const std::string> messages);

// The answer with this raw id instead of `of.id`, a view into it, or beside its members if it has none.
std::string answer_with_id(std::string_view text, const message& of, std::string_view id);

// Who the gateway says it is (`clientInfo`).
struct client_info {
    std::string name = "cardea";
    std::string version = "0";
};

// The dialect of a session once it is settled.
struct dialect {
    std::string version{latest(era::legacy)};
    client_info client;

    bool modern() const noexcept { return era_of(version) == era::modern; }
};

enum class list_kind : std::uint8_t { tools, resources, templates, prompts };

inline constexpr std::size_t list_kinds = 4;

// A set of lists, by index_of().
using list_set = std::bitset<list_kinds>;

constexpr std::size_t index_of(list_kind list) noexcept
{
    return static_cast<std::size_t>(list);
}

std::string_view method(list_kind list) noexcept;  // "tools/list"

// Every text below is one line without its end. Capabilities are declared as `{}`. Of the modern era each request carries
// version, capabilities and client in `_meta`.
std::string initialize_request(std::uint64_t id, const dialect& speaks);
std::string initialized_notification();
std::string discover_request(std::uint64_t id, const dialect& speaks);

// `ping`; in the modern era, which has none, `server/discover`.
std::string ping_request(std::uint64_t id, const dialect& speaks);

// `cursor` as raw text of a JSON string; empty: the first page.
std::string list_request(std::uint64_t id, list_kind list, std::string_view cursor, const dialect& speaks);

// For changes of these lists. Of the modern era only.
std::string listen_request(std::uint64_t id, list_set changes_of, const dialect& speaks);

std::string cancelled_notification(std::uint64_t id, std::string_view reason);

// The answer to a server's request: to `ping` with an empty result, every other with -32601, because nothing was
// declared that a server may ask for.
std::string answer_to(const message& request);

}  // namespace mcp
