// The JSON object in the answer of a service that access depends on. Pure.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"
#include "net/client/fetch.hpp"

#include <string_view>

namespace gateway::access {

// The body of an answer with status 200 and a JSON media type, if it is an object that every reader understands alike. Fails
// with access_unavailable: `source` is how the detail begins; it quotes nothing of the answer.
core::result<core::json> answer_object(const core::result<net::fetch_response>& answer, std::string_view source);

}  // namespace gateway::access
