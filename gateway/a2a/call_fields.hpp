// The header fields of A2A in a call: the version that it names (specification 1.0.1 section 3.6), and the extensions, which are translated
// on their way to an agent and back. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/extension_header.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/published_card.hpp"
#include "net/http1/head.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::a2a {

enum class said_version : std::uint8_t {
    none,     // nothing was said, which counts as 0.3
    v03,      // 0.2 or 0.3
    v1,       // 1.0
    other,    // a version that is not supported
    garbage,  // no version, or two
};

// The value of `A2A-Version`, in the head or else in the query (`?A2A-Version=1.0&…`): major and minor count.
said_version version_said(const net::http1::field_list& fields, std::string_view query) noexcept;

// Nothing: none, or no supported one.
std::optional<::a2a::generation> generation_said(said_version version) noexcept;

// A call of A2A, as far as extensions go.
struct extension_terms {
    ::a2a::generation caller = ::a2a::generation::v03;        // what the caller speaks
    ::a2a::generation agent = ::a2a::generation::v03;         // what the call is in when the agent gets it
    std::shared_ptr<const model::extension_uris> required{};  // of this caller, by the agent's card; null: none
    ::a2a::operation what = ::a2a::operation::none;           // what is called
    std::optional<core::steady_time> card_fetched{};          // nothing: no card of the agent is known
    bool translated = false;                                  // no field of either side passes under its own name
};

struct read_extensions {
    std::optional<std::string> to_agent{};  // as relay::outgoing_request::extensions
    std::string_view to_caller{};           // as relay::relay_call::extensions_as
    bool facts = false;                     // the caller wants a2a::gateway_facts_extension
    std::vector<std::string_view> missing;  // what the agent requires, and the caller does not name; of `required`
};

// `head` is the caller's. Its fields pass as they are if one of them has the name that the agent reads, and none of the URIs is the
// gateway's own, unless the call is translated. Fails with header_too_large over a limit of a2a::extension_list.
core::result<read_extensions> read_extension_fields(const net::http1::field_list& head, const extension_terms& terms);

}  // namespace gateway::a2a
