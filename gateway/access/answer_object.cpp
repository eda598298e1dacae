#include "gateway/access/answer_object.hpp"

#include "core/ascii.hpp"
#include "core/json/ambiguity.hpp"

#include <cstddef>
#include <string>

namespace gateway::access {
namespace {

constexpr core::json_limits object_limits{.bytes = 1024 * 1024, .depth = 16, .members = 500};

bool is_json(std::string_view type)
{
    constexpr std::string_view prefix = "application/";
    constexpr std::string_view suffix = "+json";
    const auto essence = type.substr(0, type.find_first_of("; \t"));
    return core::equal_ignoring_case(essence, "application/json") ||
           (essence.size() > prefix.size() + suffix.size() &&
            core::equal_ignoring_case(essence.substr(0, prefix.size()), prefix) &&
            core::equal_ignoring_case(essence.substr(essence.size() - suffix.size()), suffix));
}

}  // namespace

core::result<core::json> answer_object(const core::result<net::fetch_response>& answer, std::string_view source)
{
    const auto unavailable = [&](const std::string& why) {
        return core::gateway_error(core::errc::access_unavailable, std::string{source} + ": " + why);
    };
    if (!answer) {
        return unavailable(std::string{core::name(answer.error().code)} + ": " + answer.error().detail);
    }
    if (answer->status != 200) {
        return unavailable("status " + std::to_string(answer->status));
    }
    if (!is_json(answer->field("content-type"))) {
        return unavailable("the answer is not of a JSON media type");
    }
    auto object = core::parse_json(answer->body, object_limits);
    if (!object || !object->is_object()) {
        return unavailable("the answer is not a JSON object");
    }
    if (const auto why = core::ambiguity(answer->body)) {
        return unavailable("the answer has " + std::string{*why});
    }
    return object;
}

}  // namespace gateway::access
