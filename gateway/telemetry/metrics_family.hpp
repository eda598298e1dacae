// One family of series of the metrics page while it is made: text in format 0.0.4, of which the page is a sequence. Seen by
// what makes that page only.
#pragma once

#include "gateway/telemetry/worker_metrics.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

struct metric_label {
    std::string_view name;
    std::string_view value;  // any text: it is escaped
};

using metric_labels = std::initializer_list<metric_label>;
using families = std::vector<std::string>;

inline double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>{time}.count();
}

enum class metric_type : std::uint8_t { counter, gauge, histogram };

class family {
public:
    // `name` outlives the family; `help` is one line without a backslash.
    family(std::string_view name, std::string_view help, metric_type type);

    void add(metric_labels where, double value);
    void add(metric_labels where, std::uint64_t value);
    void add(metric_labels where, const histogram& observed);

    // A counter of something that never happened is left out.
    void add_some(metric_labels where, std::uint64_t value)
    {
        if (value > 0) {
            add(where, value);
        }
    }

    std::string take() { return std::move(text_); }

private:
    template <class Value>
    void add_line(std::string_view suffix, metric_labels where, Value value);
    void add_bucket(metric_labels where, std::string_view bound, std::uint64_t below);
    void begin_line(std::string_view suffix, metric_labels where);

    std::string_view name_;
    std::string text_;
};

inline family counter(std::string_view name, std::string_view help)
{
    return {name, help, metric_type::counter};
}

inline family gauge(std::string_view name, std::string_view help)
{
    return {name, help, metric_type::gauge};
}

inline std::string text(std::string_view view)
{
    return std::string{view};
}

}  // namespace gateway::telemetry
