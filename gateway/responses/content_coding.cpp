#include "gateway/responses/content_coding.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace gateway::responses {
namespace {

// Thousandths (RFC 9110 section 12.4.2).
using weight = unsigned;

constexpr weight whole = 1000;

// 0 for what is no weight.
weight weight_of(std::string_view text) noexcept
{
    constexpr std::size_t longest = 5;  // 0.123
    if (text.empty() || text.size() > longest || (text[0] != '0' && text[0] != '1')) {
        return 0;
    }
    weight value = text[0] == '1' ? whole : 0;
    if (text.size() > 1 && text[1] != '.') {
        return 0;
    }
    weight place = whole / 10;
    for (std::size_t i = 2; i < text.size(); ++i) {
        if (!core::is_digit(text[i])) {
            return 0;
        }
        value += static_cast<weight>(text[i] - '0') * place;
        place /= 10;
    }
    return value <= whole ? value : 0;
}

struct wishes {
    std::optional<weight> gzip;
    std::optional<weight> identity;
    std::optional<weight> any;

    // One element of the list; the first of several counts.
    void add(std::string_view element) noexcept
    {
        const auto semicolon = std::min(element.find(';'), element.size());
        const auto coding = core::trim(element.substr(0, semicolon));
        weight of = whole;
        if (semicolon < element.size()) {
            const auto parameter = core::trim(element.substr(semicolon + 1));
            const bool is_weight = parameter.size() > 2 && core::lower(parameter[0]) == 'q' && parameter[1] == '=';
            of = is_weight ? weight_of(parameter.substr(2)) : 0;
        }
        const auto is = [coding](std::string_view name) { return core::equal_ignoring_case(coding, name); };
        if (is("gzip") || is("x-gzip")) {
            gzip = gzip.value_or(of);
        } else if (is("identity")) {
            identity = identity.value_or(of);
        } else if (is("*")) {
            any = any.value_or(of);
        }
    }
};

}  // namespace

bool takes_gzip(const net::http1::field_list& fields) noexcept
{
    wishes all;
    for (const auto& field : fields) {
        if (field.id != net::http1::field_name::accept_encoding) {
            continue;
        }
        auto rest = field.value;
        while (!rest.empty()) {
            const auto comma = std::min(rest.find(','), rest.size());
            all.add(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    const auto gzip = all.gzip.value_or(all.any.value_or(0));
    return gzip > 0 && gzip >= all.identity.value_or(0);
}

}  // namespace gateway::responses
