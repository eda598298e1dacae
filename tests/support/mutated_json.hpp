// Documents that are broken in one place.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace tests {

// All objects and arrays in a document.
inline void collect(nlohmann::json& value, std::vector<nlohmann::json*>& all)
{
    if (!value.is_structured()) {
        return;
    }
    all.push_back(&value);
    for (auto& each : value) {
        collect(each, all);
    }
}

// Breaks the document in one place, or leaves it. `below(n)`: a number under n.
template <class Below>
void mutate(nlohmann::json& document, Below&& below)
{
    using nlohmann::json;
    static const std::array<json, 12> odd{
        nullptr,
        "",
        "x",
        0,
        7,
        -1,
        2.5,
        true,
        json::array(),
        json::object(),
        json::array({json{{"text", "x"}}}),
        json{{"kind", "text"}, {"text", "y"}}
    };
    static const std::array<std::string, 14> names{
        "kind",
        "text",
        "data",
        "url",
        "raw",
        "file",
        "metadata",
        "status",
        "parts",
        "content",
        "taskId",
        "message_id",
        "message",
        "new"
    };
    std::vector<json*> places;
    collect(document, places);
    auto& place = *places.at(below(places.size()));
    const auto& value = odd.at(below(odd.size()));
    if (below(3) == 0 && place.is_object()) {
        place[names.at(below(names.size()))] = value;
        return;
    }
    if (place.empty()) {
        return;
    }
    auto at = place.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(place.size())));
    if (below(2) == 0) {
        *at = value;
    } else {
        place.erase(at);
    }
}

}  // namespace tests
