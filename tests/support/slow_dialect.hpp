// A second translator of messages, tasks and events, over documents instead of text: slow, and written apart from
// a2a/dialect/ to disagree with it where that is wrong. It knows nothing of what is lost, nor of the bytes of numbers.
#pragma once

#include "a2a/dialect/walk.hpp"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tests {

class slow_dialect {
public:
    slow_dialect(a2a::body_shape from, a2a::body_shape to, bool from_agent)
        : from_{from},
          to_{to},
          from_agent_{from_agent}
    {
    }

    // Nothing: it cannot be said.
    std::optional<nlohmann::json> event(const nlohmann::json& value);

    // Message and configuration of a request to send one.
    std::optional<nlohmann::json> send_params(const nlohmann::json& value);

    // Tasks are written without theirs.
    bool without_history = false;

protected:
    using json = nlohmann::json;

    json refuse()
    {
        refused_ = true;
        return nullptr;
    }

    bool is_old(a2a::body_shape shape) const { return shape != a2a::body_shape::v1; }

    // Null: absent.
    json get(const json& object, std::initializer_list<std::string_view> names, bool null_counts = false);
    json text(const json& object, std::string_view name, bool must_be_filled = true);
    json texts(const json& object, std::string_view name);
    json object(const json& object, std::string_view name);
    json flag(const json& object, std::string_view name);

    json part(const json& value);
    json parts(const json& object, std::string_view name);
    json file(const json& value);
    json data(const json& value, json& metadata);
    json message(const json& value);
    json status(const json& value, std::string& state);
    json artifact(const json& value);
    json task(const json& value);
    json update(const json& value, bool of_status);
    json configuration(const json& value);
    json push(const json& value);

    a2a::body_shape from_;
    a2a::body_shape to_;
    bool from_agent_;
    bool refused_ = false;
};

}  // namespace tests
