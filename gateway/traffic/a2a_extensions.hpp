// The extensions of A2A that a message names in its head: `A2A-Extensions` since 1.0, `X-A2A-Extensions` before. Pure.
#pragma once

#include "a2a/method.hpp"
#include "net/http1/head.hpp"

#include <string>
#include <string_view>

namespace gateway::traffic {

constexpr std::string_view extensions_field(a2a::generation of) noexcept
{
    return of == a2a::generation::v1 ? "A2A-Extensions" : "X-A2A-Extensions";
}

// Those under both names, as one list; empty: none.
std::string extensions_in(const net::http1::field_list& fields);

}  // namespace gateway::traffic
