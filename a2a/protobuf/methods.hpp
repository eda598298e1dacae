// The methods of both A2A services, as gRPC names them in `:path`. Their rows are generated. Pure; any thread.
#pragma once

#include "a2a/method.hpp"
#include "a2a/protobuf/codec.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace a2a::protobuf {

inline constexpr std::string_view v1_service = "lf.a2a.v1.A2AService";
inline constexpr std::string_view v03_service = "a2a.v1.A2AService";

struct service_method {
    std::string_view path;  // `/lf.a2a.v1.A2AService/SendMessage`
    operation what = operation::none;
    generation version = generation::v1;     // method_for(what, version): the name that JSON-RPC has for it
    const message_type* request = nullptr;   // never null
    const message_type* response = nullptr;  // never null; of each message of a stream
    bool streams = false;                    // the answer is a stream
};

std::span<const service_method> service_methods() noexcept;

// The first that `fits`. Null: none does.
template <class Fits>
const service_method* first_service_method(Fits fits) noexcept
{
    const auto all = service_methods();
    const auto at = std::ranges::find_if(all, fits);
    return at == all.end() ? nullptr : &*at;
}

// Exact and case-sensitive. Null: neither service has it.
inline const service_method* find_service_method(std::string_view path) noexcept
{
    return first_service_method([path](const service_method& each) { return each.path == path; });
}

// The method by which the service of a generation says the operation. Null: it has none (the list of tasks in 0.3).
inline const service_method* service_method_for(operation what, generation of) noexcept
{
    return first_service_method([=](const service_method& each) { return each.what == what && each.version == of; });
}

}  // namespace a2a::protobuf
