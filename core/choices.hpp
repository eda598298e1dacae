// The names of the values among which a configuration chooses: one array for each enum. core::name() and everything that
// reads or describes a configuration use them.
#pragma once

#include "core/access.hpp"
#include "core/agent.hpp"
#include "core/log.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace core {

template <class Enum>
struct choice {
    Enum value;
    std::string_view name;
};

// All values of an enum, with their names, in the order in which messages list them.
template <class Enum>
inline constexpr std::array<choice<Enum>, 0> choices{};

template <>
inline constexpr auto choices<protocol> =
    std::to_array<choice<protocol>>({{protocol::a2a, "a2a"}, {protocol::mcp, "mcp"}});

template <>
inline constexpr auto choices<a2a_dialect> = std::to_array<choice<a2a_dialect>>(
    {{a2a_dialect::v03_jsonrpc, "0.3/jsonrpc"},
     {a2a_dialect::v03_rest, "0.3/rest"},
     {a2a_dialect::v03_grpc, "0.3/grpc"},
     {a2a_dialect::v1_jsonrpc, "1.0/jsonrpc"},
     {a2a_dialect::v1_rest, "1.0/rest"},
     {a2a_dialect::v1_grpc, "1.0/grpc"}}
);

template <>
inline constexpr auto choices<http_version> = std::to_array<choice<http_version>>(
    {{http_version::automatic, "auto"}, {http_version::v1_1, "1.1"}, {http_version::v2, "2"}}
);

template <>
inline constexpr auto choices<balancing> = std::to_array<choice<balancing>>(
    {{balancing::failover, "failover"}, {balancing::spread, "spread"}, {balancing::caller, "caller"}}
);

template <>
inline constexpr auto choices<health_check> = std::to_array<choice<health_check>>(
    {{health_check::automatic, "auto"},
     {health_check::none, "none"},
     {health_check::tcp, "tcp"},
     {health_check::card, "card"},
     {health_check::http, "http"}}
);

template <>
inline constexpr auto choices<error_edition> =
    std::to_array<choice<error_edition>>({{error_edition::v1_0_0, "1.0.0"}, {error_edition::v1_0_1, "1.0.1"}});

template <>
inline constexpr auto choices<card_shape> = std::to_array<choice<card_shape>>(
    {{card_shape::automatic, "auto"}, {card_shape::v1, "v1"}, {card_shape::v03, "v0.3"}, {card_shape::hybrid, "hybrid"}}
);

template <>
inline constexpr auto choices<signature_policy> = std::to_array<choice<signature_policy>>(
    {{signature_policy::strip, "strip"},
     {signature_policy::verify, "verify"},
     {signature_policy::sign, "sign"},
     {signature_policy::verify_and_sign, "verify_and_sign"}}
);

template <>
inline constexpr auto choices<card_trust> =
    std::to_array<choice<card_trust>>({{card_trust::never, "never"}, {card_trust::same_origin, "same-origin"}});

template <>
inline constexpr auto choices<extended_card_access> = std::to_array<choice<extended_card_access>>(
    {{extended_card_access::automatic, "auto"},
     {extended_card_access::off, "off"},
     {extended_card_access::proxy, "proxy"},
     {extended_card_access::managed, "managed"}}
);

template <>
inline constexpr auto choices<tool_form> = std::to_array<choice<tool_form>>(
    {{tool_form::agent, "agent"}, {tool_form::skills, "skills"}, {tool_form::off, "off"}}
);

template <>
inline constexpr auto choices<public_documents> = std::to_array<choice<public_documents>>(
    {{public_documents::automatic, "auto"}, {public_documents::anyone, "anyone"}, {public_documents::listed, "listed"}}
);

template <>
inline constexpr auto choices<pin_mode> =
    std::to_array<choice<pin_mode>>({{pin_mode::off, "off"}, {pin_mode::warn, "warn"}, {pin_mode::enforce, "enforce"}});

template <>
inline constexpr auto choices<push_mode> =
    std::to_array<choice<push_mode>>({{push_mode::passthrough, "passthrough"}, {push_mode::mediate, "mediate"}});

template <>
inline constexpr auto choices<skill_visibility> = std::to_array<choice<skill_visibility>>(
    {{skill_visibility::everyone, "public"}, {skill_visibility::extended, "extended"}}
);

template <>
inline constexpr auto choices<client_authentication> = std::to_array<choice<client_authentication>>(
    {{client_authentication::basic, "basic"}, {client_authentication::post, "post"}}
);

template <>
inline constexpr auto choices<oauth_grant> = std::to_array<choice<oauth_grant>>(
    {{oauth_grant::client_credentials, "client_credentials"}, {oauth_grant::token_exchange, "token_exchange"}}
);

template <>
inline constexpr auto choices<mcp_sessions> =
    std::to_array<choice<mcp_sessions>>({{mcp_sessions::own, "own"}, {mcp_sessions::shared, "shared"}});

template <>
inline constexpr auto choices<mcp_sessionless> = std::to_array<choice<mcp_sessionless>>(
    {{mcp_sessionless::fall_back, "fall_back"},
     {mcp_sessionless::fresh, "fresh"},
     {mcp_sessionless::shared, "shared"},
     {mcp_sessionless::refuse, "refuse"}}
);

template <>
inline constexpr auto choices<mcp_loss> =
    std::to_array<choice<mcp_loss>>({{mcp_loss::recover, "recover"}, {mcp_loss::tell, "tell"}});

template <>
inline constexpr auto choices<mcp_era> = std::to_array<choice<mcp_era>>(
    {{mcp_era::automatic, "auto"}, {mcp_era::legacy, "legacy"}, {mcp_era::modern, "modern"}}
);

template <>
inline constexpr auto choices<mcp_start> =
    std::to_array<choice<mcp_start>>({{mcp_start::eager, "eager"}, {mcp_start::lazy, "lazy"}});

template <>
inline constexpr auto choices<certificate_name> = std::to_array<choice<certificate_name>>(
    {{certificate_name::san, "san"}, {certificate_name::subject, "subject"}, {certificate_name::spiffe, "spiffe"}}
);

template <>
inline constexpr auto choices<admin_access> = std::to_array<choice<admin_access>>(
    {{admin_access::loopback, "loopback"}, {admin_access::open, "open"}, {admin_access::scopes, "scopes"}}
);

template <>
inline constexpr auto choices<log_format> = std::to_array<choice<log_format>>(
    {{log_format::automatic, "auto"}, {log_format::json, "json"}, {log_format::text, "text"}}
);

template <>
inline constexpr auto choices<log_level> = std::to_array<choice<log_level>>(
    {{log_level::debug, "debug"},
     {log_level::info, "info"},
     {log_level::warn, "warn"},
     {log_level::error, "error"},
     {log_level::off, "off"}}
);

template <class Enum>
constexpr std::string_view chosen_name(Enum value) noexcept
{
    const auto& all = choices<Enum>;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.value == value; });
    return found == all.end() ? std::string_view{} : found->name;
}

}  // namespace core
