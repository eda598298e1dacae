// The series that a plane of the control loop has on the page of metrics.
#pragma once

#include "gateway/model/plane.hpp"
#include "gateway/telemetry/metric_family.hpp"

#include <optional>
#include <string>

namespace test_support {

// The value of a series, written as on the page: `name` or `name{label="value"}`. Nothing: there is no such series.
inline std::optional<double> collected(const gateway::model::plane& plane, const std::string& series)
{
    gateway::telemetry::metrics all;
    plane.collect(all);
    const auto page = '\n' + gateway::telemetry::text_of(all.take_process());
    const auto at = page.find('\n' + series + ' ');
    return at == page.npos ? std::nullopt : std::optional{std::stod(page.substr(at + series.size() + 2))};
}

}  // namespace test_support
