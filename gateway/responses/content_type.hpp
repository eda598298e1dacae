// Which bodies are taken for JSON. Pure.
#pragma once

#include "net/http1/head.hpp"

#include <string_view>

namespace gateway::responses {

// application/json, application/…+json or another name that clients have for JSON-RPC, in UTF-8, not compressed. A page of another site can make a browser send a body with most other
// types, or with none, without being asked first (CORS): so nothing else is taken, and a body without a type only from
// what is no browser (no Origin field).
bool takes_json(const net::http1::request_head& head) noexcept;

// Whether a Content-Type is one of the other names for JSON, which takes_json() accepts and few servers know: application/json-rpc (of the
// draft "JSON-RPC over HTTP") and application/jsonrequest.
bool is_alias_of_json(std::string_view type) noexcept;

}  // namespace gateway::responses
