// Which codings a caller takes its answer in (RFC 9110 section 12.5.3). Pure; any thread.
#pragma once

#include "net/http1/fields.hpp"

namespace gateway::responses {

// Whether an answer in gzip is what the caller's `Accept-Encoding` asks for: it allows gzip, and does not prefer `identity`. Without
// the field, and where its weights cannot be read, it is not.
bool takes_gzip(const net::http1::field_list& fields) noexcept;

}  // namespace gateway::responses
