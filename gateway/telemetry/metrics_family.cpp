#include "gateway/telemetry/metrics_family.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace gateway::telemetry {
namespace {

std::string_view text_of(metric_type type) noexcept
{
    switch (type) {
        case metric_type::counter:
            return "counter";
        case metric_type::gauge:
            return "gauge";
        case metric_type::histogram:
            return "histogram";
    }
    return "untyped";
}

void append_value(std::string& out, std::uint64_t value)
{
    std::array<char, 24> digits{};
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void append_value(std::string& out, double value)
{
    if (std::isnan(value)) {
        out += "NaN";
        return;
    }
    if (std::isinf(value)) {
        out += value < 0 ? "-Inf" : "+Inf";
        return;
    }
    constexpr int precision = 16;  // all that a double holds, and no digit that it only seems to hold
    std::array<char, 32> digits{};
    auto* const end = digits.data() + digits.size();
    out.append(digits.data(), std::to_chars(digits.data(), end, value, std::chars_format::general, precision).ptr);
}

void append_label(std::string& out, const metric_label& label)
{
    out += label.name;
    out += "=\"";
    for (const char c : label.value) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') {
            out += '\\';
        }
        out += c;
    }
    out += '"';
}

}  // namespace

family::family(std::string_view name, std::string_view help, metric_type type)
    : name_{name}
{
    text_ = "# HELP ";
    text_ += name;
    text_ += ' ';
    text_ += help;
    text_ += "\n# TYPE ";
    text_ += name;
    text_ += ' ';
    text_ += text_of(type);
    text_ += '\n';
}

void family::add(metric_labels where, double value)
{
    add_line({}, where, value);
}

void family::add(metric_labels where, std::uint64_t value)
{
    add_line({}, where, value);
}

void family::add(metric_labels where, const histogram& observed)
{
    add_line("_count", where, observed.count);
    add_line("_sum", where, seconds(observed.sum));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram_bounds.size(); ++i) {
        below += observed.buckets[i];
        std::string bound;
        append_value(bound, seconds(histogram_bounds[i]));
        add_bucket(where, bound, below);
    }
    add_bucket(where, "+Inf", observed.count);
}

template <class Value>
void family::add_line(std::string_view suffix, metric_labels where, Value value)
{
    begin_line(suffix, where);
    if (where.size() > 0) {
        text_ += '}';
    }
    text_ += ' ';
    append_value(text_, value);
    text_ += '\n';
}

void family::add_bucket(metric_labels where, std::string_view bound, std::uint64_t below)
{
    begin_line("_bucket", where);
    text_ += where.size() > 0 ? ',' : '{';
    append_label(text_, {"le", bound});
    text_ += "} ";
    append_value(text_, below);
    text_ += '\n';
}

// The name and its labels, without the brace that ends them.
void family::begin_line(std::string_view suffix, metric_labels where)
{
    text_ += name_;
    text_ += suffix;
    char before = '{';
    for (const auto& label : where) {
        text_ += before;
        append_label(text_, label);
        before = ',';
    }
}

}  // namespace gateway::telemetry
