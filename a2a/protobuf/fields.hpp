// Single strings of a message, found and edited without decoding the rest. All of these refuse a field that is not to be repeated and
// stands twice, on the way to the string or as the string: readers do not agree which one counts. Refusals have the code parse_error
// (not a message on the wire) or invalid_params. Pure; any thread.
#pragma once

#include "a2a/protobuf/codec.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace a2a::protobuf {

// The field `tenant` of a request of 1.0. A message without it is the bytes before `begin` and those from `end` on.
struct tenant_field {
    std::string_view value;  // empty: absent, or an empty text
    std::size_t begin = 0;   // of the whole field, tag and length included
    std::size_t end = 0;     // equals `begin`: the field is absent
};

// A type without a tenant has none. Fails if there are two, or if the tenant is not UTF-8.
translation<tenant_field> find_tenant(const message_type& type, std::string_view bytes);

// Appends the field, to be sent before or after the bytes of the message, which is the same to readers. Appends nothing if `tenant` is empty
// or the type has none.
void append_tenant(std::string& out, const message_type& type, std::string_view tenant);

// Replaces the tenant in `bytes`; empty: removes it. Fails as find_tenant(), with `bytes` as they were.
translation<> set_tenant(const message_type& type, std::string& bytes, std::string_view tenant);

// The string at `path`, which has JSON names: `message.taskId`. Absent: empty. Of a repeated field, the first. Fails if the string is not
// UTF-8. A path that the type does not have is a bug of the caller.
translation<std::string_view> find_string(const message_type& type, std::string_view bytes, std::string_view path);

// Calls `each` for every string at `path`, through repeated fields too: `tasks.id`, `message.referenceTaskIds`. False: enough.
translation<> each_string(
    const message_type& type,
    std::string_view bytes,
    std::string_view path,
    const std::function<bool(std::string_view)>& each
);

}  // namespace a2a::protobuf
