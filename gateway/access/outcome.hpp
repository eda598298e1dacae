// Outcome of authentication and access for one request, for counters and the audit. Pure.
#pragma once

#include "gateway/access/gate.hpp"
#include "gateway/model/request_record.hpp"

#include <optional>

namespace gateway::access {

model::access_outcome outcome_of(const core::result<caller>& owner) noexcept;

// Why a request with this outcome was denied that failed with `code`; nullopt: something else failed.
std::optional<model::denial> denial_of(model::access_outcome outcome, core::errc code) noexcept;

}  // namespace gateway::access
