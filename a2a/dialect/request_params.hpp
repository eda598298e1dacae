// The params of a JSON-RPC request, and the target and body of HTTP+JSON, from the fields of a request. Internal to
// a2a/dialect/.
#pragma once

#include "a2a/dialect/request.hpp"
#include "a2a/dialect/request_fields.hpp"
#include "a2a/dialect/walk.hpp"

namespace a2a {

// Appends the params of `how.sent`. Fails for an id that the operation needs and that is missing.
bool write_params(walk& w, request_fields& fields, exchange& how);

// Writes the target to `out`, and the body to the buffer of the walk.
bool write_rest(walk& w, request_fields& fields, exchange& how, std::string& target);

}  // namespace a2a
