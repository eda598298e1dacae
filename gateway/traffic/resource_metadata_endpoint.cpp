#include "gateway/traffic/resource_metadata_endpoint.hpp"

#include "gateway/access/access_plan.hpp"

#include <utility>

namespace gateway::traffic {

net::routine<> resource_metadata_endpoint::answer(request_context& request)
{
    const auto host = request.origin ? request.origin->host : std::string_view{};
    const auto* const known = known_.find(request.to.agent);
    const auto* const record = known == nullptr ? nullptr : &known->entry->record;
    auto metadata = request.access
                        ? request.access->resource_metadata({request.to.agent, request.to.below, host, record})
                        : std::nullopt;
    if (!metadata) {
        return respond_error(request, core::caller_error(core::errc::not_found));
    }
    model::answer answer;
    answer.status = 200;
    answer.fields = "Cache-Control: public, max-age=300\r\n";
    answer.content_type = "application/json";
    answer.body = std::move(*metadata);
    return respond(request, std::move(answer));
}

}  // namespace gateway::traffic
