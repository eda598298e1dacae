// A family of series of the metrics page while it is collected, on prometheus-cpp. Any thread.
#pragma once

#include "gateway/telemetry/metric_table.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

struct histogram;

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

struct metric_label {
    std::string_view name;
    std::string_view value;  // any text: the serializer escapes it
};

using metric_labels = std::initializer_list<metric_label>;

inline double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>{time}.count();
}

class family {
public:
    explicit family(const metric_row& row);

    void add(metric_labels where, double value);
    void add(metric_labels where, std::uint64_t value) { add(where, static_cast<double>(value)); }
    void add(metric_labels where, const histogram& observed);

    // A counter of something that never happened is left out.
    void add_some(metric_labels where, std::uint64_t value)
    {
        if (value > 0) {
            add(where, value);
        }
    }

    prometheus::MetricFamily take() { return std::move(family_); }

private:
    prometheus::ClientMetric& add_series(metric_labels where);

    prometheus::MetricFamily family_;
};

// A family with series of agents: `add` adds those of one agent.
struct agent_family {
    metric_row what;
    std::function<void(family& into, const std::string& agent_id)> add;
};

// The families that a plane of the control loop has on the page.
class metrics {
public:
    void add(family done) { process_.push_back(done.take()); }

    // The families of a member such as prometheus::Family<prometheus::Counter>.
    void add(std::vector<prometheus::MetricFamily> collected)
    {
        std::ranges::move(collected, std::back_inserter(process_));
    }

    // A family of one series without labels.
    template <class Value>
    void add(const metric_row& row, Value value)
    {
        family single{row};
        single.add({}, value);
        add(std::move(single));
    }

    // A family with series of agents. `of` is called on the control loop while the page is collected, and outlives that.
    void add_agents(const metric_row& row, std::function<void(family& into, const std::string& agent_id)> of)
    {
        agents_.push_back({row, std::move(of)});
    }

    std::vector<prometheus::MetricFamily> take_process() { return std::move(process_); }
    const std::vector<agent_family>& agents() const noexcept { return agents_; }

private:
    std::vector<prometheus::MetricFamily> process_;
    std::vector<agent_family> agents_;
};

// Counters of a class on the control loop, one for each outcome, from 0.
class counter_family {
public:
    counter_family(const metric_row& row, const std::vector<std::string_view>& outcomes);

    // Counts one of the outcomes.
    void count(std::string_view outcome) { at(outcome).Increment(); }
    void collect(metrics& into) const { into.add(family_.Collect()); }

private:
    prometheus::Counter& at(std::string_view outcome) { return family_.Add({{"outcome", std::string{outcome}}}); }

    prometheus::Family<prometheus::Counter> family_;
};

// The families in text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
std::string text_of(const std::vector<prometheus::MetricFamily>& families);

// More series of a family whose text has begun: without HELP and TYPE.
std::string more_text_of(prometheus::MetricFamily family);

// Bytes of a foreign text in a label; a longer text is cut between two characters.
inline constexpr std::size_t longest_label = 256;

// A foreign text as a label: UTF-8 without control characters, at most `longest_label` bytes.
std::string label_of(std::string_view text);

}  // namespace gateway::telemetry
