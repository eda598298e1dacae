// Written by tables.py. Do not edit.
// clang-format off
#include "a2a/protobuf/tables.hpp"

#include "a2a/protobuf/message_type.hpp"

#include <array>

namespace a2a::protobuf::v03 {
namespace {

constexpr std::array<std::string_view, 3> role_names{
    "ROLE_UNSPECIFIED",
    "ROLE_USER",
    "ROLE_AGENT",
};

constexpr std::array<std::string_view, 9> task_state_names{
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELLED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
};

}  // namespace

constexpr enum_type role{role_names};

constexpr enum_type task_state{task_state_names};

namespace {

constexpr std::array<field_row, 3> api_key_security_scheme_rows{
    field_row{R"(,"description":)", "description", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"location":)", "location", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"name":)", "name", 3, field_kind::text, field_label::filled, 0x4},
};

constexpr std::array<field_row, 3> agent_capabilities_rows{
    field_row{R"(,"streaming":)", "streaming", 1, field_kind::boolean, field_label::filled, 0x1},
    field_row{R"(,"pushNotifications":)", "push_notifications", 2, field_kind::boolean, field_label::filled, 0x2},
    field_row{R"(,"extensions":)", "extensions", 3, field_kind::message, field_label::repeated, 0x0, &v03::agent_extension},
};

constexpr std::array<field_row, 18> agent_card_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"description":)", "description", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"url":)", "url", 3, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"provider":)", "provider", 4, field_kind::message, field_label::present, 0x8, &v03::agent_provider},
    field_row{R"(,"version":)", "version", 5, field_kind::text, field_label::filled, 0x10},
    field_row{R"(,"documentationUrl":)", "documentation_url", 6, field_kind::text, field_label::filled, 0x20},
    field_row{R"(,"capabilities":)", "capabilities", 7, field_kind::message, field_label::present, 0x40, &v03::agent_capabilities},
    field_row{R"(,"securitySchemes":)", "security_schemes", 8, field_kind::message, field_label::map, 0x0, &v03::agent_card_security_schemes_entry},
    field_row{R"(,"security":)", "security", 9, field_kind::message, field_label::repeated, 0x0, &v03::security},
    field_row{R"(,"defaultInputModes":)", "default_input_modes", 10, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"defaultOutputModes":)", "default_output_modes", 11, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"skills":)", "skills", 12, field_kind::message, field_label::repeated, 0x0, &v03::agent_skill},
    field_row{R"(,"supportsAuthenticatedExtendedCard":)", "supports_authenticated_extended_card", 13, field_kind::boolean, field_label::filled, 0x1000},
    field_row{R"(,"preferredTransport":)", "preferred_transport", 14, field_kind::text, field_label::filled, 0x2000},
    field_row{R"(,"additionalInterfaces":)", "additional_interfaces", 15, field_kind::message, field_label::repeated, 0x0, &v03::agent_interface},
    field_row{R"(,"protocolVersion":)", "protocol_version", 16, field_kind::text, field_label::filled, 0x8000},
    field_row{R"(,"signatures":)", "signatures", 17, field_kind::message, field_label::repeated, 0x0, &v03::agent_card_signature},
    field_row{R"(,"iconUrl":)", "icon_url", 18, field_kind::text, field_label::filled, 0x20000},
};

constexpr std::array<field_row, 2> agent_card_security_schemes_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::message, field_label::present, 0x2, &v03::security_scheme},
};

constexpr std::array<field_row, 3> agent_card_signature_rows{
    field_row{R"(,"protected":)", "protected", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"signature":)", "signature", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"header":)", "header", 3, field_kind::message, field_label::present, 0x4, &google::structure},
};

constexpr std::array<field_row, 4> agent_extension_rows{
    field_row{R"(,"uri":)", "uri", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"description":)", "description", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"required":)", "required", 3, field_kind::boolean, field_label::filled, 0x4},
    field_row{R"(,"params":)", "params", 4, field_kind::message, field_label::present, 0x8, &google::structure},
};

constexpr std::array<field_row, 2> agent_interface_rows{
    field_row{R"(,"url":)", "url", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"transport":)", "transport", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 2> agent_provider_rows{
    field_row{R"(,"url":)", "url", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"organization":)", "organization", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 8> agent_skill_rows{
    field_row{R"(,"id":)", "id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"name":)", "name", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"description":)", "description", 3, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"tags":)", "tags", 4, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"examples":)", "examples", 5, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"inputModes":)", "input_modes", 6, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"outputModes":)", "output_modes", 7, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"security":)", "security", 8, field_kind::message, field_label::repeated, 0x0, &v03::security},
};

constexpr std::array<field_row, 6> artifact_rows{
    field_row{R"(,"artifactId":)", "artifact_id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"name":)", "name", 3, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"description":)", "description", 4, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"parts":)", "parts", 5, field_kind::message, field_label::repeated, 0x0, &v03::part},
    field_row{R"(,"metadata":)", "metadata", 6, field_kind::message, field_label::present, 0x10, &google::structure},
    field_row{R"(,"extensions":)", "extensions", 7, field_kind::text, field_label::repeated, 0x0},
};

constexpr std::array<field_row, 2> authentication_info_rows{
    field_row{R"(,"schemes":)", "schemes", 1, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"credentials":)", "credentials", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 4> authorization_code_oauth_flow_rows{
    field_row{R"(,"authorizationUrl":)", "authorization_url", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"tokenUrl":)", "token_url", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"refreshUrl":)", "refresh_url", 3, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"scopes":)", "scopes", 4, field_kind::message, field_label::map, 0x0, &v03::authorization_code_oauth_flow_scopes_entry},
};

constexpr std::array<field_row, 2> authorization_code_oauth_flow_scopes_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 1> cancel_task_request_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
};

constexpr std::array<field_row, 3> client_credentials_oauth_flow_rows{
    field_row{R"(,"tokenUrl":)", "token_url", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"refreshUrl":)", "refresh_url", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"scopes":)", "scopes", 3, field_kind::message, field_label::map, 0x0, &v03::client_credentials_oauth_flow_scopes_entry},
};

constexpr std::array<field_row, 2> client_credentials_oauth_flow_scopes_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 3> create_task_push_notification_config_request_rows{
    field_row{R"(,"parent":)", "parent", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"configId":)", "config_id", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"config":)", "config", 3, field_kind::message, field_label::present, 0x4, &v03::task_push_notification_config},
};

constexpr std::array<field_row, 1> data_part_rows{
    field_row{R"(,"data":)", "data", 1, field_kind::message, field_label::present, 0x1, &google::structure},
};

constexpr std::array<field_row, 1> delete_task_push_notification_config_request_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
};

constexpr std::array<field_row, 4> file_part_rows{
    field_row{R"(,"fileWithUri":)", "file_with_uri", 1, field_kind::text, field_label::present, 0x3},
    field_row{R"(,"fileWithBytes":)", "file_with_bytes", 2, field_kind::bytes, field_label::present, 0x3},
    field_row{R"(,"mimeType":)", "mime_type", 3, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"name":)", "name", 4, field_kind::text, field_label::filled, 0x8},
};

constexpr std::array<field_row, 1> get_task_push_notification_config_request_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
};

constexpr std::array<field_row, 2> get_task_request_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"historyLength":)", "history_length", 2, field_kind::int32, field_label::filled, 0x2},
};

constexpr std::array<field_row, 3> http_auth_security_scheme_rows{
    field_row{R"(,"description":)", "description", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"scheme":)", "scheme", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"bearerFormat":)", "bearer_format", 3, field_kind::text, field_label::filled, 0x4},
};

constexpr std::array<field_row, 3> implicit_oauth_flow_rows{
    field_row{R"(,"authorizationUrl":)", "authorization_url", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"refreshUrl":)", "refresh_url", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"scopes":)", "scopes", 3, field_kind::message, field_label::map, 0x0, &v03::implicit_oauth_flow_scopes_entry},
};

constexpr std::array<field_row, 2> implicit_oauth_flow_scopes_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 3> list_task_push_notification_config_request_rows{
    field_row{R"(,"parent":)", "parent", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"pageSize":)", "page_size", 2, field_kind::int32, field_label::filled, 0x2},
    field_row{R"(,"pageToken":)", "page_token", 3, field_kind::text, field_label::filled, 0x4},
};

constexpr std::array<field_row, 2> list_task_push_notification_config_response_rows{
    field_row{R"(,"configs":)", "configs", 1, field_kind::message, field_label::repeated, 0x0, &v03::task_push_notification_config},
    field_row{R"(,"nextPageToken":)", "next_page_token", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 7> message_rows{
    field_row{R"(,"messageId":)", "message_id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"contextId":)", "context_id", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"taskId":)", "task_id", 3, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"role":)", "role", 4, field_kind::enumeration, field_label::filled, 0x8, nullptr, &v03::role},
    field_row{R"(,"content":)", "content", 5, field_kind::message, field_label::repeated, 0x0, &v03::part},
    field_row{R"(,"metadata":)", "metadata", 6, field_kind::message, field_label::present, 0x20, &google::structure},
    field_row{R"(,"extensions":)", "extensions", 7, field_kind::text, field_label::repeated, 0x0},
};

constexpr std::array<field_row, 1> mutual_tls_security_scheme_rows{
    field_row{R"(,"description":)", "description", 1, field_kind::text, field_label::filled, 0x1},
};

constexpr std::array<field_row, 3> oauth2_security_scheme_rows{
    field_row{R"(,"description":)", "description", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"flows":)", "flows", 2, field_kind::message, field_label::present, 0x2, &v03::oauth_flows},
    field_row{R"(,"oauth2MetadataUrl":)", "oauth2_metadata_url", 3, field_kind::text, field_label::filled, 0x4},
};

constexpr std::array<field_row, 4> oauth_flows_rows{
    field_row{R"(,"authorizationCode":)", "authorization_code", 1, field_kind::message, field_label::present, 0xf, &v03::authorization_code_oauth_flow},
    field_row{R"(,"clientCredentials":)", "client_credentials", 2, field_kind::message, field_label::present, 0xf, &v03::client_credentials_oauth_flow},
    field_row{R"(,"implicit":)", "implicit", 3, field_kind::message, field_label::present, 0xf, &v03::implicit_oauth_flow},
    field_row{R"(,"password":)", "password", 4, field_kind::message, field_label::present, 0xf, &v03::password_oauth_flow},
};

constexpr std::array<field_row, 2> open_id_connect_security_scheme_rows{
    field_row{R"(,"description":)", "description", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"openIdConnectUrl":)", "open_id_connect_url", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 4> part_rows{
    field_row{R"(,"text":)", "text", 1, field_kind::text, field_label::present, 0x7},
    field_row{R"(,"file":)", "file", 2, field_kind::message, field_label::present, 0x7, &v03::file_part},
    field_row{R"(,"data":)", "data", 3, field_kind::message, field_label::present, 0x7, &v03::data_part},
    field_row{R"(,"metadata":)", "metadata", 4, field_kind::message, field_label::present, 0x8, &google::structure},
};

constexpr std::array<field_row, 3> password_oauth_flow_rows{
    field_row{R"(,"tokenUrl":)", "token_url", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"refreshUrl":)", "refresh_url", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"scopes":)", "scopes", 3, field_kind::message, field_label::map, 0x0, &v03::password_oauth_flow_scopes_entry},
};

constexpr std::array<field_row, 2> password_oauth_flow_scopes_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::text, field_label::filled, 0x2},
};

constexpr std::array<field_row, 4> push_notification_config_rows{
    field_row{R"(,"id":)", "id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"url":)", "url", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"token":)", "token", 3, field_kind::text, field_label::filled, 0x4},
    field_row{R"(,"authentication":)", "authentication", 4, field_kind::message, field_label::present, 0x8, &v03::authentication_info},
};

constexpr std::array<field_row, 1> security_rows{
    field_row{R"(,"schemes":)", "schemes", 1, field_kind::message, field_label::map, 0x0, &v03::security_schemes_entry},
};

constexpr std::array<field_row, 2> security_schemes_entry_rows{
    field_row{R"(,"key":)", "key", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"value":)", "value", 2, field_kind::message, field_label::present, 0x2, &v03::string_list},
};

constexpr std::array<field_row, 5> security_scheme_rows{
    field_row{R"(,"apiKeySecurityScheme":)", "api_key_security_scheme", 1, field_kind::message, field_label::present, 0x1f, &v03::api_key_security_scheme},
    field_row{R"(,"httpAuthSecurityScheme":)", "http_auth_security_scheme", 2, field_kind::message, field_label::present, 0x1f, &v03::http_auth_security_scheme},
    field_row{R"(,"oauth2SecurityScheme":)", "oauth2_security_scheme", 3, field_kind::message, field_label::present, 0x1f, &v03::oauth2_security_scheme},
    field_row{R"(,"openIdConnectSecurityScheme":)", "open_id_connect_security_scheme", 4, field_kind::message, field_label::present, 0x1f, &v03::open_id_connect_security_scheme},
    field_row{R"(,"mtlsSecurityScheme":)", "mtls_security_scheme", 5, field_kind::message, field_label::present, 0x1f, &v03::mutual_tls_security_scheme},
};

constexpr std::array<field_row, 4> send_message_configuration_rows{
    field_row{R"(,"acceptedOutputModes":)", "accepted_output_modes", 1, field_kind::text, field_label::repeated, 0x0},
    field_row{R"(,"pushNotification":)", "push_notification", 2, field_kind::message, field_label::present, 0x2, &v03::push_notification_config},
    field_row{R"(,"historyLength":)", "history_length", 3, field_kind::int32, field_label::filled, 0x4},
    field_row{R"(,"blocking":)", "blocking", 4, field_kind::boolean, field_label::filled, 0x8},
};

constexpr std::array<field_row, 3> send_message_request_rows{
    field_row{R"(,"message":)", "request", 1, field_kind::message, field_label::present, 0x1, &v03::message},
    field_row{R"(,"configuration":)", "configuration", 2, field_kind::message, field_label::present, 0x2, &v03::send_message_configuration},
    field_row{R"(,"metadata":)", "metadata", 3, field_kind::message, field_label::present, 0x4, &google::structure},
};

constexpr std::array<field_row, 2> send_message_response_rows{
    field_row{R"(,"task":)", "task", 1, field_kind::message, field_label::present, 0x3, &v03::task},
    field_row{R"(,"message":)", "msg", 2, field_kind::message, field_label::present, 0x3, &v03::message},
};

constexpr std::array<field_row, 4> stream_response_rows{
    field_row{R"(,"task":)", "task", 1, field_kind::message, field_label::present, 0xf, &v03::task},
    field_row{R"(,"message":)", "msg", 2, field_kind::message, field_label::present, 0xf, &v03::message},
    field_row{R"(,"statusUpdate":)", "status_update", 3, field_kind::message, field_label::present, 0xf, &v03::task_status_update_event},
    field_row{R"(,"artifactUpdate":)", "artifact_update", 4, field_kind::message, field_label::present, 0xf, &v03::task_artifact_update_event},
};

constexpr std::array<field_row, 1> string_list_rows{
    field_row{R"(,"list":)", "list", 1, field_kind::text, field_label::repeated, 0x0},
};

constexpr std::array<field_row, 6> task_rows{
    field_row{R"(,"id":)", "id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"contextId":)", "context_id", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"status":)", "status", 3, field_kind::message, field_label::present, 0x4, &v03::task_status},
    field_row{R"(,"artifacts":)", "artifacts", 4, field_kind::message, field_label::repeated, 0x0, &v03::artifact},
    field_row{R"(,"history":)", "history", 5, field_kind::message, field_label::repeated, 0x0, &v03::message},
    field_row{R"(,"metadata":)", "metadata", 6, field_kind::message, field_label::present, 0x20, &google::structure},
};

constexpr std::array<field_row, 6> task_artifact_update_event_rows{
    field_row{R"(,"taskId":)", "task_id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"contextId":)", "context_id", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"artifact":)", "artifact", 3, field_kind::message, field_label::present, 0x4, &v03::artifact},
    field_row{R"(,"append":)", "append", 4, field_kind::boolean, field_label::filled, 0x8},
    field_row{R"(,"lastChunk":)", "last_chunk", 5, field_kind::boolean, field_label::filled, 0x10},
    field_row{R"(,"metadata":)", "metadata", 6, field_kind::message, field_label::present, 0x20, &google::structure},
};

constexpr std::array<field_row, 2> task_push_notification_config_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"pushNotificationConfig":)", "push_notification_config", 2, field_kind::message, field_label::present, 0x2, &v03::push_notification_config},
};

constexpr std::array<field_row, 3> task_status_rows{
    field_row{R"(,"state":)", "state", 1, field_kind::enumeration, field_label::filled, 0x1, nullptr, &v03::task_state},
    field_row{R"(,"message":)", "update", 2, field_kind::message, field_label::present, 0x2, &v03::message},
    field_row{R"(,"timestamp":)", "timestamp", 3, field_kind::message, field_label::present, 0x4, &google::timestamp},
};

constexpr std::array<field_row, 5> task_status_update_event_rows{
    field_row{R"(,"taskId":)", "task_id", 1, field_kind::text, field_label::filled, 0x1},
    field_row{R"(,"contextId":)", "context_id", 2, field_kind::text, field_label::filled, 0x2},
    field_row{R"(,"status":)", "status", 3, field_kind::message, field_label::present, 0x4, &v03::task_status},
    field_row{R"(,"final":)", "final", 4, field_kind::boolean, field_label::filled, 0x8},
    field_row{R"(,"metadata":)", "metadata", 5, field_kind::message, field_label::present, 0x10, &google::structure},
};

constexpr std::array<field_row, 1> task_subscription_request_rows{
    field_row{R"(,"name":)", "name", 1, field_kind::text, field_label::filled, 0x1},
};

}  // namespace

constinit const message_type api_key_security_scheme{"a2a.v1.APIKeySecurityScheme", message_kind::plain, api_key_security_scheme_rows};
constinit const message_type agent_capabilities{"a2a.v1.AgentCapabilities", message_kind::plain, agent_capabilities_rows};
constinit const message_type agent_card{"a2a.v1.AgentCard", message_kind::plain, agent_card_rows};
constinit const message_type agent_card_security_schemes_entry{"a2a.v1.AgentCard.SecuritySchemesEntry", message_kind::plain, agent_card_security_schemes_entry_rows};
constinit const message_type agent_card_signature{"a2a.v1.AgentCardSignature", message_kind::plain, agent_card_signature_rows};
constinit const message_type agent_extension{"a2a.v1.AgentExtension", message_kind::plain, agent_extension_rows};
constinit const message_type agent_interface{"a2a.v1.AgentInterface", message_kind::plain, agent_interface_rows};
constinit const message_type agent_provider{"a2a.v1.AgentProvider", message_kind::plain, agent_provider_rows};
constinit const message_type agent_skill{"a2a.v1.AgentSkill", message_kind::plain, agent_skill_rows};
constinit const message_type artifact{"a2a.v1.Artifact", message_kind::plain, artifact_rows};
constinit const message_type authentication_info{"a2a.v1.AuthenticationInfo", message_kind::plain, authentication_info_rows};
constinit const message_type authorization_code_oauth_flow{"a2a.v1.AuthorizationCodeOAuthFlow", message_kind::plain, authorization_code_oauth_flow_rows};
constinit const message_type authorization_code_oauth_flow_scopes_entry{"a2a.v1.AuthorizationCodeOAuthFlow.ScopesEntry", message_kind::plain, authorization_code_oauth_flow_scopes_entry_rows};
constinit const message_type cancel_task_request{"a2a.v1.CancelTaskRequest", message_kind::plain, cancel_task_request_rows};
constinit const message_type client_credentials_oauth_flow{"a2a.v1.ClientCredentialsOAuthFlow", message_kind::plain, client_credentials_oauth_flow_rows};
constinit const message_type client_credentials_oauth_flow_scopes_entry{"a2a.v1.ClientCredentialsOAuthFlow.ScopesEntry", message_kind::plain, client_credentials_oauth_flow_scopes_entry_rows};
constinit const message_type create_task_push_notification_config_request{"a2a.v1.CreateTaskPushNotificationConfigRequest", message_kind::plain, create_task_push_notification_config_request_rows};
constinit const message_type data_part{"a2a.v1.DataPart", message_kind::plain, data_part_rows};
constinit const message_type delete_task_push_notification_config_request{"a2a.v1.DeleteTaskPushNotificationConfigRequest", message_kind::plain, delete_task_push_notification_config_request_rows};
constinit const message_type file_part{"a2a.v1.FilePart", message_kind::plain, file_part_rows};
constinit const message_type get_agent_card_request{"a2a.v1.GetAgentCardRequest", message_kind::plain, {}};
constinit const message_type get_task_push_notification_config_request{"a2a.v1.GetTaskPushNotificationConfigRequest", message_kind::plain, get_task_push_notification_config_request_rows};
constinit const message_type get_task_request{"a2a.v1.GetTaskRequest", message_kind::plain, get_task_request_rows};
constinit const message_type http_auth_security_scheme{"a2a.v1.HTTPAuthSecurityScheme", message_kind::plain, http_auth_security_scheme_rows};
constinit const message_type implicit_oauth_flow{"a2a.v1.ImplicitOAuthFlow", message_kind::plain, implicit_oauth_flow_rows};
constinit const message_type implicit_oauth_flow_scopes_entry{"a2a.v1.ImplicitOAuthFlow.ScopesEntry", message_kind::plain, implicit_oauth_flow_scopes_entry_rows};
constinit const message_type list_task_push_notification_config_request{"a2a.v1.ListTaskPushNotificationConfigRequest", message_kind::plain, list_task_push_notification_config_request_rows};
constinit const message_type list_task_push_notification_config_response{"a2a.v1.ListTaskPushNotificationConfigResponse", message_kind::plain, list_task_push_notification_config_response_rows};
constinit const message_type message{"a2a.v1.Message", message_kind::plain, message_rows};
constinit const message_type mutual_tls_security_scheme{"a2a.v1.MutualTlsSecurityScheme", message_kind::plain, mutual_tls_security_scheme_rows};
constinit const message_type oauth2_security_scheme{"a2a.v1.OAuth2SecurityScheme", message_kind::plain, oauth2_security_scheme_rows};
constinit const message_type oauth_flows{"a2a.v1.OAuthFlows", message_kind::plain, oauth_flows_rows};
constinit const message_type open_id_connect_security_scheme{"a2a.v1.OpenIdConnectSecurityScheme", message_kind::plain, open_id_connect_security_scheme_rows};
constinit const message_type part{"a2a.v1.Part", message_kind::plain, part_rows};
constinit const message_type password_oauth_flow{"a2a.v1.PasswordOAuthFlow", message_kind::plain, password_oauth_flow_rows};
constinit const message_type password_oauth_flow_scopes_entry{"a2a.v1.PasswordOAuthFlow.ScopesEntry", message_kind::plain, password_oauth_flow_scopes_entry_rows};
constinit const message_type push_notification_config{"a2a.v1.PushNotificationConfig", message_kind::plain, push_notification_config_rows};
constinit const message_type security{"a2a.v1.Security", message_kind::plain, security_rows};
constinit const message_type security_schemes_entry{"a2a.v1.Security.SchemesEntry", message_kind::plain, security_schemes_entry_rows};
constinit const message_type security_scheme{"a2a.v1.SecurityScheme", message_kind::plain, security_scheme_rows};
constinit const message_type send_message_configuration{"a2a.v1.SendMessageConfiguration", message_kind::plain, send_message_configuration_rows};
constinit const message_type send_message_request{"a2a.v1.SendMessageRequest", message_kind::plain, send_message_request_rows};
constinit const message_type send_message_response{"a2a.v1.SendMessageResponse", message_kind::plain, send_message_response_rows};
constinit const message_type stream_response{"a2a.v1.StreamResponse", message_kind::plain, stream_response_rows};
constinit const message_type string_list{"a2a.v1.StringList", message_kind::plain, string_list_rows};
constinit const message_type task{"a2a.v1.Task", message_kind::plain, task_rows};
constinit const message_type task_artifact_update_event{"a2a.v1.TaskArtifactUpdateEvent", message_kind::plain, task_artifact_update_event_rows};
constinit const message_type task_push_notification_config{"a2a.v1.TaskPushNotificationConfig", message_kind::plain, task_push_notification_config_rows};
constinit const message_type task_status{"a2a.v1.TaskStatus", message_kind::plain, task_status_rows};
constinit const message_type task_status_update_event{"a2a.v1.TaskStatusUpdateEvent", message_kind::plain, task_status_update_event_rows};
constinit const message_type task_subscription_request{"a2a.v1.TaskSubscriptionRequest", message_kind::plain, task_subscription_request_rows};

}  // namespace a2a::protobuf::v03
