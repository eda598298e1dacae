// The methods of both A2A services, as gRPC names them in `:path`. Its rows, method_rows.cpp, are generated. Pure; any thread.
#pragma once

#include "a2a/method.hpp"
#include "a2a/protobuf/codec.hpp"

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

// Exact and case-sensitive. Null: neither service has it.
const service_method* find_service_method(std::string_view path) noexcept;

// The method by which the service of a generation says the operation. Null: it has none (the list of tasks in 0.3).
const service_method* service_method_for(operation what, generation of) noexcept;

}  // namespace a2a::protobuf
