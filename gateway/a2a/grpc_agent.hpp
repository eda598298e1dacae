// The way to an agent by gRPC for calls that are written in a JSON binding of A2A, grpc::as_json() of its generation: the message instead
// of the body, the path of its method, and an answer read back. One thread; encode() any.
#pragma once

#include "a2a/dialect/request.hpp"
#include "gateway/grpc/agent_messages.hpp"
#include "gateway/relay/relay_call.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::a2a {

class grpc_agent {
public:
    // All answers have these in common: all of the terms but method and id.
    grpc_agent(::a2a::generation version, grpc::agent_messages::terms of)
        : version_{version},
          terms_{std::move(of)}
    {
    }

    // Replaces `out` by the message of this request, with its prefix. Fails as protobuf::to_protobuf(), and with unsupported_operation.
    ::a2a::translation<> encode(const ::a2a::outgoing_request& from, ::a2a::operation what, std::string& out) const;

    // The head of such a request but for lines(): `fields` are the agent's own. It has the operation, since it could be encoded.
    std::string head(::a2a::operation what, std::string_view fields) const;
    static std::string_view lines() noexcept;

    // The view of the agent's side that reads the answer. `id`: of the call, raw; empty: null.
    std::shared_ptr<relay::side_codec> codec(::a2a::operation what, std::string_view id);

    // Of the answer to the call itself: the first codec(). Lines that are there once it is over.
    const std::string& trailers() const noexcept { return answers_.front()->trailers; }

    // In the answers that came.
    std::uint64_t lost() const noexcept;
    std::uint64_t rounded() const noexcept;

private:
    ::a2a::generation version_;
    grpc::agent_messages::terms terms_;
    std::vector<std::shared_ptr<grpc::agent_messages::terms>> answers_;
};

}  // namespace gateway::a2a
