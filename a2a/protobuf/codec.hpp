// Protocol buffers of A2A to ProtoJSON text and back, by tables that tables.py generates from the pinned files below proto/: a2a.proto
// of 1.0.1 (package lf.a2a.v1) and of 0.3 as the Python SDK 0.3.26 has it (package a2a.v1). One pass over the input, no document.
// Sources: protobuf.dev "Encoding" and "ProtoJSON Format". Pure; any thread.
//
// Both directions hold one rule: what one of them writes, the other one reads. Depth counts open JSON containers (a map or a Struct
// counts, its entries do not). Fields and members that the tables do not know are dropped and counted, as are wire types that do not
// fit their field. Out of order, split or repeated fields of protocol buffers are merged as protobuf.dev "Last One Wins" says. Entries
// of a map that have one key all go on in their order, as in JSON texts that are relayed.
//
// Where ProtoJSON and the bodies of a2a/dialect/ differ:
//   1.0   Every request is what params of JSON-RPC 1.0 are, every answer what its result is. HTTP+JSON has tenant, ids, lengths and
//         pages of requests in path and query instead. Deleting answers Empty, `{}`.
//   0.3   Sending messages and everything that is answered: as HTTP+JSON of 0.3 (the shape `proto`). The other requests have
//         resource names, which HTTP+JSON has in its path: `name` (`tasks/T`, `tasks/T/pushNotificationConfigs/C`) or `parent`
//         (`tasks/T`), also `historyLength`, `pageSize`, `pageToken` and `configId`, which it has in its query. The request that
//         creates a push configuration is the wrapped body `{parent,configId,config}`. There is no list of tasks, and
//         cards have the shape of the protocol buffers (`securitySchemes.x.apiKeySecurityScheme`), which JSON cards do not have.
// Fields with default values are left out, also those that the specification requires: `role`, `state`, `messageId`, `nextPageToken`.
#pragma once

#include "a2a/dialect/dialect.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace a2a::protobuf {

// A row of the tables: a2a/protobuf/tables.hpp names each message, a2a/protobuf/methods.hpp those of each method.
struct message_type;

struct codec_options {
    // An agent's answer: refusals have the code invalid_agent_response, numbers are rounded and unknown names of enumerations dropped.
    // In a request both are refused.
    bool from_agent = false;
    bool tenant_once =
        false;  // to_json() refuses a second `tenant` of the outermost message, and known fields of another wire type
    unsigned depth = 64;                   // of nested containers; more than 64 counts as 64
    std::size_t bytes = 16 * 1024 * 1024;  // of the output
};

struct conversion {
    std::size_t lost = 0;     // fields or members that were dropped
    std::size_t rounded = 0;  // numbers that no double equals
};

// Appends the ProtoJSON text of a message. Bytes that are not canonical are copied once. Fails, with nothing appended, with
//   parse_error      not a message on the wire: cut off, a group, a varint over 10 bytes, a field number of 0; nested too deep
//   invalid_params   not UTF-8, NaN or Infinity, a time outside the years 1 to 9999, a second tenant
//   invalid_request  output over the limit
//   invalid_agent_response  any of these but the last one in what an agent sent
translation<conversion>
to_json(const message_type& type, std::string_view bytes, const codec_options& options, std::string& out);

// Appends the message that a ProtoJSON text says. Names may be those of JSON or of the .proto file; null is unset, but for a Value;
// enumerations by name or number; base64 of both alphabets, with or without padding; times as a2a/dialect/timestamp.hpp reads them.
// The member of a refusal may have keys of a Struct or map in it (`metadata.x`), cut to 32 bytes each and 256 bytes in all. Fails, with
// nothing appended, with
//   parse_error      not JSON, nested too deep
//   invalid_params   a value of another type than its member's, a member that is given twice, two members of one oneof, a
//                    number that no double equals or that does not fit, half a surrogate pair
//   invalid_request, invalid_agent_response  as above
translation<conversion>
to_protobuf(const message_type& type, std::string_view json, const codec_options& options, std::string& out);

}  // namespace a2a::protobuf
