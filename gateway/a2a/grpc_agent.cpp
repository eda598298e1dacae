#include "gateway/a2a/grpc_agent.hpp"

#include "gateway/grpc/request_shape.hpp"
#include "net/grpc/messages.hpp"
#include "net/http1/head_writer.hpp"

#include <utility>

namespace gateway::a2a {
namespace {

class reading final : public relay::side_codec {
public:
    explicit reading(std::shared_ptr<grpc::agent_messages::terms> of)
        : terms_{std::move(of)}
    {
    }

    std::unique_ptr<net::agent_side> view(net::agent_side& inner) override
    {
        return std::make_unique<grpc::agent_messages>(inner, terms_);
    }

private:
    std::shared_ptr<grpc::agent_messages::terms> terms_;
};

}  // namespace

::a2a::translation<> grpc_agent::encode(const ::a2a::outgoing_request& from, ::a2a::operation what, std::string& out)
    const
{
    const auto* const method = ::a2a::protobuf::service_method_for(what, version_);
    if (method == nullptr) {
        return ::a2a::refusal{::a2a::rpc_code::unsupported_operation, {}, "is not an operation of the agent's"};
    }
    auto json = grpc::named_request(*method, from.verb, from.target, from.body);
    if (!json) {
        return std::move(json).error();
    }
    out.assign(net::grpc::prefix_size, '\0');
    auto made = ::a2a::protobuf::to_protobuf(*method->request, *json, {.bytes = terms_.limit}, out);
    if (!made) {
        return std::move(made).error();
    }
    net::grpc::set_prefix(out, 0);
    return {};
}

std::string grpc_agent::head(::a2a::operation what, std::string_view fields) const
{
    std::string out;
    net::http1::head_writer{out}.request_line(
        net::http1::method::post,
        ::a2a::protobuf::service_method_for(what, version_)->path
    );
    return out.append(fields);
}

std::string_view grpc_agent::lines() noexcept
{
    return "Content-Type: application/grpc\r\nTE: trailers\r\ngrpc-accept-encoding: identity\r\n";
}

std::shared_ptr<relay::side_codec> grpc_agent::codec(::a2a::operation what, std::string_view id)
{
    auto terms = std::make_shared<grpc::agent_messages::terms>(terms_);
    terms->method = ::a2a::protobuf::service_method_for(what, version_);
    terms->id = id.empty() ? "null" : id;
    answers_.push_back(terms);
    return std::make_shared<reading>(std::move(terms));
}

std::uint64_t grpc_agent::lost() const noexcept
{
    std::uint64_t all = 0;
    for (const auto& each : answers_) {
        all += each->lost;
    }
    return all;
}

std::uint64_t grpc_agent::rounded() const noexcept
{
    std::uint64_t all = 0;
    for (const auto& each : answers_) {
        all += each->rounded;
    }
    return all;
}

}  // namespace gateway::a2a
