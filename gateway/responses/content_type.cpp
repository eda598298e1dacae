#include "gateway/responses/content_type.hpp"

#include "core/ascii.hpp"

#include <algorithm>

namespace gateway::responses {
namespace {

using core::equal_ignoring_case;
using net::http1::field_name;

// Its reader would see another text than the one that is looked at here.
bool is_coded(const net::http1::field& line)
{
    return line.id == field_name::content_encoding && !equal_ignoring_case(line.value, "identity");
}

bool is_json(std::string_view essence)
{
    constexpr std::string_view prefix = "application/";
    constexpr std::string_view suffix = "+json";
    return equal_ignoring_case(essence, "application/json") || is_alias_of_json(essence) ||
           (essence.size() > prefix.size() + suffix.size() &&
            equal_ignoring_case(essence.substr(0, prefix.size()), prefix) &&
            equal_ignoring_case(essence.substr(essence.size() - suffix.size()), suffix));
}

// Wherever the word stands: readers differ in which of several parameters they believe.
bool is_utf8(std::string_view parameters)
{
    constexpr std::string_view key = "charset";
    for (auto at = core::find_ignoring_case(parameters, key); at != std::string_view::npos;
         at = core::find_ignoring_case(parameters, key)) {
        parameters.remove_prefix(at + key.size());
        const auto value = parameters.substr(0, parameters.find_first_of("; \t"));
        if (!equal_ignoring_case(value, "=utf-8") && !equal_ignoring_case(value, "=\"utf-8\"")) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool is_alias_of_json(std::string_view type) noexcept
{
    if (type == "application/json") {  // as most say it
        return false;
    }
    const auto essence = type.substr(0, type.find_first_of("; \t"));
    return equal_ignoring_case(essence, "application/json-rpc") ||
           equal_ignoring_case(essence, "application/jsonrequest");
}

bool takes_json(const net::http1::request_head& head) noexcept
{
    if (std::any_of(head.fields.begin(), head.fields.end(), is_coded)) {
        return false;
    }
    const auto* type = net::http1::find(head.fields, field_name::content_type);
    if (type == nullptr) {
        return net::http1::find(head.fields, field_name::origin) == nullptr;
    }
    if (*type == "application/json") {  // as most say it
        return true;
    }
    const auto end = type->find_first_of("; \t");
    const auto parameters = end == std::string_view::npos ? std::string_view{} : type->substr(end);
    return is_json(type->substr(0, end)) && is_utf8(parameters);
}

}  // namespace gateway::responses
