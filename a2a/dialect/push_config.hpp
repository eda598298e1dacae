// Push notification configurations: where an agent delivers updates of a task, and how it authenticates (types.ts of
// 0.3.0 `TaskPushNotificationConfig`, a2a.proto of 0.3.0 and 1.0.1, the same name). 1.0 writes one flat object, 0.3
// nests. The protocol buffers of 0.3 have a resource name instead of ids. Internal to a2a/dialect/.
#pragma once

#include "a2a/dialect/walk.hpp"

#include <string>
#include <string_view>

namespace a2a {

// Raw values; empty: absent.
struct push_config {
    std::string_view id;
    std::string_view url;
    std::string_view token;
    std::string_view scheme;  // the first of several: 1.0 has room for one
    std::string_view credentials;
};

// `raw`: what 0.3 nests in a task's configuration, and the flat object of 1.0, whose task id and tenant are not looked
// at.
bool read_push_config(walk& w, std::string_view raw, push_config& found);

// The members of such an object.
void write_push_config(walk& w, core::json_writer& to, const push_config& from);

// Appends what a request to send a message says in its configuration.
bool translate_push_config(walk& w, std::string_view raw);

// Appends one configuration of a task, as answers have it.
bool translate_task_push_config(walk& w, std::string_view raw);

// Appends the list that answers tasks/pushNotificationConfig/list: an array in 0.3 JSON-RPC, else an object with pages.
// `next_page` gets the raw token of the next page; empty: this is the last, or the target says it itself. `first_only`:
// appends the first one alone; fails with task_not_found if there is none.
bool translate_push_configs(walk& w, std::string_view raw, bool first_only, std::string_view& next_page);

// `tasks/{task}/pushNotificationConfigs/{config}` of HTTP+JSON of 0.3, as raw JSON strings. False: it is not one;
// `config` is empty for a name that ends with its collection.
struct resource_ids {
    std::string task;
    std::string config;
};
bool read_resource_name(std::string_view raw, resource_ids& ids);

// Raw JSON strings in. A configuration without an id has that of its task, as the servers of 0.3 have it.
void write_resource_name(core::json_writer& to, std::string& out, std::string_view task, std::string_view config);

}  // namespace a2a
