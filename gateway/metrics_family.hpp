// One family of series of the metrics page while it is made. Seen by what makes that page only.
#pragma once

#include "gateway/worker_metrics.hpp"

#include <prometheus/metric_family.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway {

using metric_labels = std::vector<prometheus::ClientMetric::Label>;
using families = std::vector<prometheus::MetricFamily>;

inline double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>{time}.count();
}

class family {
public:
    family(std::string_view name, std::string_view help, prometheus::MetricType type)
    {
        value_.name = name;
        value_.help = help;
        value_.type = type;
    }

    void add(metric_labels where, double value)
    {
        auto& metric = value_.metric.emplace_back();
        metric.label = std::move(where);
        // The serializer reads the one that the family's type names.
        metric.counter.value = value;
        metric.gauge.value = value;
    }

    void add(metric_labels where, std::uint64_t value) { add(std::move(where), static_cast<double>(value)); }

    // A counter of something that never happened is left out.
    void add_some(metric_labels where, std::uint64_t value)
    {
        if (value > 0) {
            add(std::move(where), value);
        }
    }

    void add(metric_labels where, const histogram& observed)
    {
        auto& metric = value_.metric.emplace_back();
        metric.label = std::move(where);
        metric.histogram.sample_count = observed.count;
        metric.histogram.sample_sum = seconds(observed.sum);
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < histogram_bounds.size(); ++i) {
            below += observed.buckets[i];
            metric.histogram.bucket.push_back({below, seconds(histogram_bounds[i])});
        }
    }

    prometheus::MetricFamily take() { return std::move(value_); }

private:
    prometheus::MetricFamily value_;
};

inline family counter(std::string_view name, std::string_view help)
{
    return {name, help, prometheus::MetricType::Counter};
}

inline family gauge(std::string_view name, std::string_view help)
{
    return {name, help, prometheus::MetricType::Gauge};
}

inline std::string text(std::string_view view)
{
    return std::string{view};
}

}  // namespace gateway
