#include "gateway/telemetry/metric_family.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace gateway::telemetry {

family::family(const metric_row& row)
    : family_{std::string{row.name}, std::string{row.help}, row.type, {}}
{
}

void family::add(metric_labels where, double value)
{
    auto& series = add_series(where);
    (family_.type == prometheus::MetricType::Counter ? series.counter.value : series.gauge.value) = value;
}

void family::add(metric_labels where, const histogram& observed)
{
    auto& series = add_series(where).histogram;
    series.sample_count = observed.count;
    series.sample_sum = seconds(observed.sum);
    series.bucket.reserve(histogram_bounds.size() + 1);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram_bounds.size(); ++i) {
        below += observed.buckets[i];
        series.bucket.push_back({below, seconds(histogram_bounds[i])});
    }
    series.bucket.push_back({observed.count, std::numeric_limits<double>::infinity()});
}

prometheus::ClientMetric& family::add_series(metric_labels where)
{
    auto& series = family_.metric.emplace_back();
    series.label.reserve(where.size());
    for (const auto& [name, value] : where) {
        series.label.push_back({std::string{name}, std::string{value}});
    }
    return series;
}

counter_family::counter_family(const metric_row& row, const std::vector<std::string_view>& outcomes)
    : family_{std::string{row.name}, std::string{row.help}, {}}
{
    for (const auto each : outcomes) {
        at(each);
    }
}

std::string text_of(const std::vector<prometheus::MetricFamily>& families)
{
    std::ostringstream out;
    prometheus::TextSerializer{}.Serialize(out, families);
    return std::move(out).str();
}

std::string more_text_of(prometheus::MetricFamily family)
{
    family.help.clear();
    std::vector<prometheus::MetricFamily> one;
    one.push_back(std::move(family));
    auto text = text_of(one);
    return text.erase(0, text.find('\n') + 1);  // TYPE
}

// Prometheus drops a whole page for one label that is not UTF-8.
std::string label_of(std::string_view text)
{
    std::string out;
    out.reserve(std::min(text.size(), longest_label));
    while (!text.empty()) {
        const auto point = core::first_code_point(text);
        const bool broken = point.value == core::replacement_point;
        const auto shown = broken ? core::replacement_text : text.substr(0, point.bytes);
        if (out.size() + shown.size() > longest_label) {
            break;
        }
        if (core::is_control(shown.front())) {
            out += ' ';
        } else {
            out += shown;
        }
        text.remove_prefix(point.bytes);
    }
    return out;
}

}  // namespace gateway::telemetry
