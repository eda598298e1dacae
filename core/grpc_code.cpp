#include "core/grpc_code.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace core {
namespace {

constexpr auto names = std::to_array<std::string_view>(
    {"OK",
     "CANCELLED",
     "UNKNOWN",
     "INVALID_ARGUMENT",
     "DEADLINE_EXCEEDED",
     "NOT_FOUND",
     "ALREADY_EXISTS",
     "PERMISSION_DENIED",
     "RESOURCE_EXHAUSTED",
     "FAILED_PRECONDITION",
     "ABORTED",
     "OUT_OF_RANGE",
     "UNIMPLEMENTED",
     "INTERNAL",
     "UNAVAILABLE",
     "DATA_LOSS",
     "UNAUTHENTICATED"}
);
constexpr auto statuses =
    std::to_array<std::uint16_t>({200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401});
static_assert(names.size() == statuses.size());
static_assert(names.size() == static_cast<std::size_t>(grpc_code::unauthenticated) + 1, "every code has a name");

}  // namespace

std::string_view name(grpc_code code) noexcept
{
    return names[std::min(static_cast<std::size_t>(code), names.size() - 1)];
}

unsigned http_status(grpc_code code) noexcept
{
    return statuses[std::min(static_cast<std::size_t>(code), statuses.size() - 1)];
}

std::optional<grpc_code> grpc_code_named(std::string_view name) noexcept
{
    const auto* const found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt : std::optional{static_cast<grpc_code>(found - names.begin())};
}

grpc_code grpc_code_of_http(unsigned status) noexcept
{
    switch (status) {
        case 400:
            return grpc_code::internal;
        case 401:
            return grpc_code::unauthenticated;
        case 403:
            return grpc_code::permission_denied;
        case 404:
            return grpc_code::unimplemented;
        case 429:
        case 502:
        case 503:
        case 504:
            return grpc_code::unavailable;
        default:
            return grpc_code::unknown;
    }
}

}  // namespace core
