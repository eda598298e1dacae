// Written by tables.py. Do not edit.
// clang-format off
#pragma once

namespace a2a::protobuf {

struct message_type;

namespace google {
extern const message_type empty;
extern const message_type list_value;
extern const message_type structure;
extern const message_type struct_fields_entry;
extern const message_type timestamp;
extern const message_type value;
}  // namespace google

namespace v03 {
extern const message_type api_key_security_scheme;
extern const message_type agent_capabilities;
extern const message_type agent_card;
extern const message_type agent_card_security_schemes_entry;
extern const message_type agent_card_signature;
extern const message_type agent_extension;
extern const message_type agent_interface;
extern const message_type agent_provider;
extern const message_type agent_skill;
extern const message_type artifact;
extern const message_type authentication_info;
extern const message_type authorization_code_oauth_flow;
extern const message_type authorization_code_oauth_flow_scopes_entry;
extern const message_type cancel_task_request;
extern const message_type client_credentials_oauth_flow;
extern const message_type client_credentials_oauth_flow_scopes_entry;
extern const message_type create_task_push_notification_config_request;
extern const message_type data_part;
extern const message_type delete_task_push_notification_config_request;
extern const message_type file_part;
extern const message_type get_agent_card_request;
extern const message_type get_task_push_notification_config_request;
extern const message_type get_task_request;
extern const message_type http_auth_security_scheme;
extern const message_type implicit_oauth_flow;
extern const message_type implicit_oauth_flow_scopes_entry;
extern const message_type list_task_push_notification_config_request;
extern const message_type list_task_push_notification_config_response;
extern const message_type message;
extern const message_type mutual_tls_security_scheme;
extern const message_type oauth2_security_scheme;
extern const message_type oauth_flows;
extern const message_type open_id_connect_security_scheme;
extern const message_type part;
extern const message_type password_oauth_flow;
extern const message_type password_oauth_flow_scopes_entry;
extern const message_type push_notification_config;
extern const message_type security;
extern const message_type security_schemes_entry;
extern const message_type security_scheme;
extern const message_type send_message_configuration;
extern const message_type send_message_request;
extern const message_type send_message_response;
extern const message_type stream_response;
extern const message_type string_list;
extern const message_type task;
extern const message_type task_artifact_update_event;
extern const message_type task_push_notification_config;
extern const message_type task_status;
extern const message_type task_status_update_event;
extern const message_type task_subscription_request;
}  // namespace v03

namespace v1 {
extern const message_type api_key_security_scheme;
extern const message_type agent_capabilities;
extern const message_type agent_card;
extern const message_type agent_card_security_schemes_entry;
extern const message_type agent_card_signature;
extern const message_type agent_extension;
extern const message_type agent_interface;
extern const message_type agent_provider;
extern const message_type agent_skill;
extern const message_type artifact;
extern const message_type authentication_info;
extern const message_type authorization_code_oauth_flow;
extern const message_type authorization_code_oauth_flow_scopes_entry;
extern const message_type cancel_task_request;
extern const message_type client_credentials_oauth_flow;
extern const message_type client_credentials_oauth_flow_scopes_entry;
extern const message_type delete_task_push_notification_config_request;
extern const message_type device_code_oauth_flow;
extern const message_type device_code_oauth_flow_scopes_entry;
extern const message_type get_extended_agent_card_request;
extern const message_type get_task_push_notification_config_request;
extern const message_type get_task_request;
extern const message_type http_auth_security_scheme;
extern const message_type implicit_oauth_flow;
extern const message_type implicit_oauth_flow_scopes_entry;
extern const message_type list_task_push_notification_configs_request;
extern const message_type list_task_push_notification_configs_response;
extern const message_type list_tasks_request;
extern const message_type list_tasks_response;
extern const message_type message;
extern const message_type mutual_tls_security_scheme;
extern const message_type oauth2_security_scheme;
extern const message_type oauth_flows;
extern const message_type open_id_connect_security_scheme;
extern const message_type part;
extern const message_type password_oauth_flow;
extern const message_type password_oauth_flow_scopes_entry;
extern const message_type security_requirement;
extern const message_type security_requirement_schemes_entry;
extern const message_type security_scheme;
extern const message_type send_message_configuration;
extern const message_type send_message_request;
extern const message_type send_message_response;
extern const message_type stream_response;
extern const message_type string_list;
extern const message_type subscribe_to_task_request;
extern const message_type task;
extern const message_type task_artifact_update_event;
extern const message_type task_push_notification_config;
extern const message_type task_status;
extern const message_type task_status_update_event;
}  // namespace v1

}  // namespace a2a::protobuf
