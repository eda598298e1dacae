// Which bodies are taken for JSON. Pure.
#pragma once

#include "net/http1/head.hpp"

namespace gateway::model {

// application/json or application/…+json, in UTF-8, not compressed. A page of another site can make a browser send a body with most other
// types, or with none, without being asked first (CORS): so nothing else is taken, and a body without a type only from
// what is no browser (no Origin field).
bool takes_json(const net::http1::request_head& head) noexcept;

}  // namespace gateway::model
