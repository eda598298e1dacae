#include "a2a/card/card_schema.hpp"

#include "a2a/card/card_lint.hpp"

#include <algorithm>
#include <array>

namespace a2a {
namespace {

using enum value_kind;

constexpr bool required = true;

template <class... Members>
constexpr auto members(Members... all)
{
    return std::array<member_rule, sizeof...(all)>{all...};
}

// Common to both generations.
constexpr auto provider_members =
    members(member_rule{"organization", text, required}, member_rule{"url", url, required});
constexpr auto extension_members = members(
    member_rule{"uri", text, required},
    member_rule{"description", text},
    member_rule{"required", flag},
    member_rule{"params", open}
);
constexpr auto signature_members = members(
    member_rule{"protected", text, required},
    member_rule{"signature", text, required},
    member_rule{"header", open}
);
constexpr auto client_credentials_members = members(
    member_rule{"tokenUrl", url, required},
    member_rule{"refreshUrl", url},
    member_rule{"scopes", text_map, required}
);
constexpr auto implicit_members = members(
    member_rule{"authorizationUrl", url, required},
    member_rule{"refreshUrl", url},
    member_rule{"scopes", text_map, required}
);

// Before 1.0; the sections have the same numbers in all of these versions.

constexpr auto code_members_0 = members(
    member_rule{"authorizationUrl", url, required},
    member_rule{"tokenUrl", url, required},
    member_rule{"refreshUrl", url},
    member_rule{"scopes", text_map, required}
);
constexpr std::string_view schemes_0 = "5.5.3";
constexpr object_rule code_0{"AuthorizationCodeOAuthFlow", schemes_0, code_members_0};
constexpr object_rule client_credentials_0{"ClientCredentialsOAuthFlow", schemes_0, client_credentials_members};
constexpr object_rule implicit_0{"ImplicitOAuthFlow", schemes_0, implicit_members};
constexpr object_rule password_0{"PasswordOAuthFlow", schemes_0, client_credentials_members};
constexpr auto flows_members_0 = members(
    member_rule{"authorizationCode", one, false, &code_0},
    member_rule{"clientCredentials", one, false, &client_credentials_0},
    member_rule{"implicit", one, false, &implicit_0},
    member_rule{"password", one, false, &password_0}
);
constexpr object_rule flows_0{"OAuthFlows", schemes_0, flows_members_0};

constexpr member_rule type_member{"type", text, required};
constexpr member_rule description_member{"description", text};
constexpr auto api_key_members_0 =
    members(type_member, description_member, member_rule{"in", text, required}, member_rule{"name", text, required});
constexpr auto http_members_0 =
    members(type_member, description_member, member_rule{"scheme", text, required}, member_rule{"bearerFormat", text});
constexpr auto oauth2_members_0 = members(
    type_member,
    description_member,
    member_rule{"flows", one, required, &flows_0},
    member_rule{"oauth2MetadataUrl", url}
);
constexpr auto open_id_members_0 =
    members(type_member, description_member, member_rule{"openIdConnectUrl", url, required});
constexpr auto mutual_tls_members_0 = members(type_member, description_member);

struct typed_rule {
    std::string_view type;
    object_rule rule;
};

constexpr std::array<typed_rule, 5> typed_schemes{{
    {"apiKey", {"APIKeySecurityScheme", schemes_0, api_key_members_0}},
    {"http", {"HTTPAuthSecurityScheme", schemes_0, http_members_0}},
    {"oauth2", {"OAuth2SecurityScheme", schemes_0, oauth2_members_0}},
    {"openIdConnect", {"OpenIdConnectSecurityScheme", schemes_0, open_id_members_0}},
    {"mutualTLS", {"MutualTLSSecurityScheme", schemes_0, mutual_tls_members_0}},
}};

constexpr object_rule scheme_0{"SecurityScheme", schemes_0, {}};
constexpr auto authentication_members =
    members(member_rule{"schemes", texts, required}, member_rule{"credentials", text});
constexpr object_rule authentication_0{"AgentAuthentication", schemes_0, authentication_members};
constexpr object_rule provider_0{"AgentProvider", "5.5.1", provider_members};
constexpr object_rule extension_0{"AgentExtension", "5.5.2.1", extension_members};
constexpr auto capabilities_members_0 = members(
    member_rule{"streaming", flag},
    member_rule{"pushNotifications", flag},
    member_rule{"stateTransitionHistory", flag},
    member_rule{"extensions", list, false, &extension_0}
);
constexpr object_rule capabilities_0{"AgentCapabilities", "5.5.2", capabilities_members_0};
constexpr auto skill_members_0 = members(
    member_rule{"id", text, required},
    member_rule{"name", text, required},
    member_rule{"description", text, required},
    member_rule{"tags", texts, required},
    member_rule{"examples", texts},
    member_rule{"inputModes", texts},
    member_rule{"outputModes", texts},
    member_rule{"security", demands}
);
constexpr object_rule skill_0{"AgentSkill", "5.5.4", skill_members_0};
constexpr auto interface_members_0 =
    members(member_rule{"url", url, required}, member_rule{"transport", text, required});
constexpr object_rule interface_0{"AgentInterface", "5.5.5", interface_members_0};
constexpr object_rule signature_0{"AgentCardSignature", "5.5.6", signature_members};
constexpr auto card_members_0 = members(
    member_rule{"protocolVersion", text, required},
    member_rule{"name", text, required},
    member_rule{"description", text, required},
    member_rule{"url", url, required},
    member_rule{"preferredTransport", text},
    member_rule{"additionalInterfaces", list, false, &interface_0},
    member_rule{"iconUrl", url},
    member_rule{"provider", one, false, &provider_0},
    member_rule{"version", text, required},
    member_rule{"documentationUrl", url},
    member_rule{"capabilities", one, required, &capabilities_0},
    member_rule{"authentication", one, false, &authentication_0},
    member_rule{"securitySchemes", schemes, false, &scheme_0},
    member_rule{"security", demands},
    member_rule{"defaultInputModes", texts, required},
    member_rule{"defaultOutputModes", texts, required},
    member_rule{"skills", list, required, &skill_0},
    member_rule{"supportsAuthenticatedExtendedCard", flag},
    member_rule{"signatures", list, false, &signature_0}
);
constexpr object_rule card_0{"AgentCard", "5.5", card_members_0};

// Since 1.0.

constexpr auto code_members_1 = members(
    member_rule{"authorizationUrl", url, required},
    member_rule{"tokenUrl", url, required},
    member_rule{"refreshUrl", url},
    member_rule{"scopes", text_map, required},
    member_rule{"pkceRequired", flag}
);
constexpr auto device_code_members = members(
    member_rule{"deviceAuthorizationUrl", url, required},
    member_rule{"tokenUrl", url, required},
    member_rule{"refreshUrl", url},
    member_rule{"scopes", text_map, required}
);
constexpr object_rule code_1{"AuthorizationCodeOAuthFlow", "4.5.8", code_members_1};
constexpr object_rule client_credentials_1{"ClientCredentialsOAuthFlow", "4.5.9", client_credentials_members};
constexpr object_rule implicit_1{"ImplicitOAuthFlow", "4.5.7", implicit_members};
constexpr object_rule password_1{"PasswordOAuthFlow", "4.5.7", client_credentials_members};
constexpr object_rule device_code_1{"DeviceCodeOAuthFlow", "4.5.10", device_code_members};
constexpr auto flows_members_1 = members(
    member_rule{"authorizationCode", one, false, &code_1},
    member_rule{"clientCredentials", one, false, &client_credentials_1},
    member_rule{"implicit", one, false, &implicit_1},
    member_rule{"password", one, false, &password_1},
    member_rule{"deviceCode", one, false, &device_code_1}
);
constexpr object_rule flows_1{"OAuthFlows", "4.5.7", flows_members_1, true};

constexpr auto api_key_members_1 =
    members(description_member, member_rule{"location", text, required}, member_rule{"name", text, required});
constexpr auto http_members_1 =
    members(description_member, member_rule{"scheme", text, required}, member_rule{"bearerFormat", text});
constexpr auto oauth2_members_1 =
    members(description_member, member_rule{"flows", one, required, &flows_1}, member_rule{"oauth2MetadataUrl", url});
constexpr auto open_id_members_1 = members(description_member, member_rule{"openIdConnectUrl", url, required});
constexpr auto mutual_tls_members_1 = members(description_member);
constexpr object_rule api_key_1{"APIKeySecurityScheme", "4.5.2", api_key_members_1};
constexpr object_rule http_1{"HTTPAuthSecurityScheme", "4.5.3", http_members_1};
constexpr object_rule oauth2_1{"OAuth2SecurityScheme", "4.5.4", oauth2_members_1};
constexpr object_rule open_id_1{"OpenIdConnectSecurityScheme", "4.5.5", open_id_members_1};
constexpr object_rule mutual_tls_1{"MutualTlsSecurityScheme", "4.5.6", mutual_tls_members_1};
constexpr auto scheme_members_1 = members(
    member_rule{"apiKeySecurityScheme", one, false, &api_key_1},
    member_rule{"httpAuthSecurityScheme", one, false, &http_1},
    member_rule{"oauth2SecurityScheme", one, false, &oauth2_1},
    member_rule{"openIdConnectSecurityScheme", one, false, &open_id_1},
    member_rule{"mtlsSecurityScheme", one, false, &mutual_tls_1}
);
constexpr object_rule scheme_1{"SecurityScheme", "4.5.1", scheme_members_1, true};
constexpr auto string_list_members = members(member_rule{"list", texts});
constexpr object_rule string_list_1{"StringList", "4.5", string_list_members};
constexpr auto requirement_members = members(member_rule{"schemes", map, false, &string_list_1});
constexpr object_rule requirement_1{"SecurityRequirement", "4.5", requirement_members};

constexpr object_rule provider_1{"AgentProvider", "4.4.2", provider_members};
constexpr object_rule extension_1{"AgentExtension", "4.4.4", extension_members};
constexpr auto capabilities_members_1 = members(
    member_rule{"streaming", flag},
    member_rule{"pushNotifications", flag},
    member_rule{"extensions", list, false, &extension_1},
    member_rule{"extendedAgentCard", flag}
);
constexpr object_rule capabilities_1{"AgentCapabilities", "4.4.3", capabilities_members_1};
constexpr auto skill_members_1 = members(
    member_rule{"id", text, required},
    member_rule{"name", text, required},
    member_rule{"description", text, required},
    member_rule{"tags", texts, required},
    member_rule{"examples", texts},
    member_rule{"inputModes", texts},
    member_rule{"outputModes", texts},
    member_rule{"securityRequirements", list, false, &requirement_1}
);
constexpr object_rule skill_1{"AgentSkill", "4.4.5", skill_members_1};
constexpr auto interface_members_1 = members(
    member_rule{"url", url, required},
    member_rule{"protocolBinding", text, required},
    member_rule{"tenant", text},
    member_rule{"protocolVersion", text, required}
);
constexpr object_rule interface_1{"AgentInterface", "4.4.6", interface_members_1};
constexpr object_rule signature_1{"AgentCardSignature", "4.4.7", signature_members};
constexpr auto card_members_1 = members(
    member_rule{"name", text, required},
    member_rule{"description", text, required},
    member_rule{"supportedInterfaces", list, required, &interface_1},
    member_rule{"provider", one, false, &provider_1},
    member_rule{"version", text, required},
    member_rule{"documentationUrl", url},
    member_rule{"capabilities", one, required, &capabilities_1},
    member_rule{"securitySchemes", map, false, &scheme_1},
    member_rule{"securityRequirements", list, false, &requirement_1},
    member_rule{"defaultInputModes", texts, required},
    member_rule{"defaultOutputModes", texts, required},
    member_rule{"skills", list, required, &skill_1},
    member_rule{"signatures", list, false, &signature_1},
    member_rule{"iconUrl", url}
);
constexpr object_rule card_1{"AgentCard", "4.4.1", card_members_1};

std::string_view version_of(card_generation generation, bool since_1) noexcept
{
    if (since_1) {
        return "1.0.1";
    }
    switch (generation) {
        case card_generation::v01:
            return "0.1.0";
        case card_generation::v02:
            return "0.2.6";
        case card_generation::v03:
        case card_generation::v1:
        case card_generation::hybrid:
            break;
    }
    return "0.3.0";
}

// The first member name of `path`, which is shortened by it and by what stands between: "skills[0].id" to "id".
std::string_view take_member(std::string_view& path) noexcept
{
    const auto member = path.substr(0, path.find_first_of(".["));
    path.remove_prefix(member.size());
    const auto dot = path.find('.');
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
    return member;
}

// The innermost object on the way to `path`; null: `root` has no such member.
const object_rule* owner(std::string_view path, const object_rule& root) noexcept
{
    const auto* inside = &root;
    const auto* member = find_member(*inside, take_member(path));
    if (member == nullptr) {
        return nullptr;
    }
    while (!path.empty() && member != nullptr && member->of != nullptr) {
        inside = member->of;
        if (member->kind == map || member->kind == schemes) {
            take_member(path);  // a name that the card has chosen
        }
        member = find_member(*inside, take_member(path));
    }
    return inside;
}

}  // namespace

const object_rule& card_before_1() noexcept
{
    return card_0;
}

const object_rule& card_since_1() noexcept
{
    return card_1;
}

const object_rule* typed_scheme(std::string_view type) noexcept
{
    const auto* found = std::ranges::find(typed_schemes, type, &typed_rule::type);
    return found == typed_schemes.end() ? nullptr : &found->rule;
}

const member_rule* find_member(const object_rule& rule, std::string_view name) noexcept
{
    const auto found = std::ranges::find(rule.members, name, &member_rule::name);
    return found == rule.members.end() ? nullptr : &*found;
}

std::string specification_section(std::string_view path, card_generation generation)
{
    bool since_1 = generation == card_generation::v1 || generation == card_generation::hybrid;
    const auto* found = owner(path, since_1 ? card_1 : card_0);
    if (found == nullptr && generation == card_generation::hybrid) {
        found = owner(path, card_0);
        since_1 = found == nullptr;
    }
    if (found == nullptr) {
        found = since_1 ? &card_1 : &card_0;
    }
    std::string text = "A2A ";
    text.append(version_of(generation, since_1)).append(", section ").append(found->section);
    return text.append(" (").append(found->name).append(")");
}

}  // namespace a2a
