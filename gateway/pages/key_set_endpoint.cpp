#include "gateway/pages/key_set_endpoint.hpp"

namespace gateway::pages {
namespace {

// A new key is found by its `kid`, which no cache has; one that was withdrawn is believed for so long.
constexpr std::string_view freshness = "Cache-Control: public, max-age=300\r\n";

}  // namespace

net::routine<> key_set_endpoint::answer(request::request_context& request)
{
    const auto& keys = known_.key_set();
    if (keys == nullptr) {
        return request::respond_error(request, core::caller_error(core::errc::not_found));
    }
    const auto* asked = net::http1::find(request.caller.head().fields, net::http1::field_name::if_none_match);
    const bool unchanged = asked != nullptr && model::none_match_hits(*asked, keys->etag);
    responses::answer answer;
    answer.status = unchanged ? 304 : 200;
    answer.fields = std::string{freshness} + keys->validators;
    answer.content_type = "application/jwk-set+json";
    if (!unchanged) {
        answer.rest = keys->body;
        answer.kept = keys;
    }
    return request::respond(request, std::move(answer));
}

}  // namespace gateway::pages
