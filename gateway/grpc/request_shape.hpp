// Requests by gRPC 0.3 and those of HTTP+JSON: the first have resource names and lengths in the message, the others in path and query
// (a2a/protobuf/codec.hpp). Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/dialect/rest_target.hpp"
#include "a2a/protobuf/methods.hpp"

#include <string>
#include <string_view>

namespace gateway::grpc {

struct rest_request {
    ::a2a::rest_target target;  // its query is a view of `query`
    std::string query;
    std::string_view body;  // of the text that it was made of; empty: none
};

// The request of HTTP+JSON 0.3 that says what this ProtoJSON of a message does. Fails with invalid_params for a name that names no
// task, or names one in a way that readers do not agree on.
::a2a::translation<> read_named_request(::a2a::operation what, std::string_view json, rest_request& out);

// The ProtoJSON of a message for the agent's method, of a request in as_json() of its generation: a call of JSON-RPC 1.0, or a request of
// HTTP+JSON 0.3 with this target. Fails with invalid_request for one that is none, and with invalid_params for ids that a
// resource name cannot say.
::a2a::translation<std::string> named_request(
    const ::a2a::protobuf::service_method& method,
    std::string_view verb,
    std::string_view target,
    std::string_view body
);

}  // namespace gateway::grpc
