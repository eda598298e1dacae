// One call by both translators, a2a/dialect/ and the slow one over documents: whether they agree.
#pragma once

#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/request.hpp"

#include <string>
#include <string_view>

namespace tests {

// Empty: both refuse it, or say the same. Else what each says. `payload` must be JSON without members that are given twice, or empty.
std::string disagreement_on_request(const a2a::incoming_request& in, a2a::dialect agent);

// `body` must be such JSON.
std::string disagreement_on_answer(const a2a::exchange& how, unsigned status, std::string_view body);

}  // namespace tests
