// The requests of servers that a client declares to answer (MCP 2024-11-05 to 2026-07-28, ClientCapabilities), as bits: what the
// gateway has to know again without keeping the client's words. `experimental` and `extensions` have no bit, and are kept as they are
// written. Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// The order is that of bits in session ids: it stays, and new ones come last.
enum class client_capability : std::uint8_t {
    roots,
    roots_list_changed,
    sampling,
    sampling_context,
    sampling_tools,
    elicitation,
    elicitation_form,
    elicitation_url,
    tasks,
    tasks_list,
    tasks_cancel,
    tasks_sampling,
    tasks_elicitation,
};

inline constexpr std::size_t client_capability_count = 13;

class client_capabilities {
public:
    client_capabilities() = default;
    explicit client_capabilities(std::uint16_t bits) noexcept
        : bits_{bits}
    {
    }

    // Reads the raw text of a JSON object; what is unknown, or not of the type that the schema has, is not declared.
    static client_capabilities read(std::string_view raw);

    bool has(client_capability c) const noexcept { return bits_[static_cast<std::size_t>(c)]; }
    void add(client_capability c) noexcept { bits_.set(static_cast<std::size_t>(c)); }
    bool none() const noexcept { return bits_.none(); }
    std::uint16_t bits() const noexcept { return static_cast<std::uint16_t>(bits_.to_ulong()); }

    // Those of these that `declared` lacks.
    client_capabilities missing_from(client_capabilities declared) const noexcept;

    // The JSON object that read() reads as these: `{"roots":{"listChanged":true},"sampling":{}}`. Also the value of
    // `requiredCapabilities` of error -32021.
    std::string to_text() const;

    friend bool operator==(client_capabilities, client_capabilities) = default;

private:
    std::bitset<client_capability_count> bits_;
};

// The members of a client's raw `capabilities` that have no bit: members of an object, `"extensions":{…}`, without white space between them; empty:
// none.
std::string further_capabilities(std::string_view capabilities);

// `declared.to_text()` with those too.
std::string capabilities_text(const client_capabilities& declared, std::string_view further);

// The names of the members of a client's `capabilities` that are objects, raw.
std::vector<std::string> capability_names(std::string_view capabilities);

}  // namespace mcp
