#include "gateway/a2a/call_extensions.hpp"

#include <algorithm>
#include <iterator>

namespace gateway::a2a {
namespace {

bool is_own(std::string_view uri) noexcept
{
    return uri.starts_with(::a2a::own_extensions);
}

std::string line_of(const ::a2a::extension_list& named, ::a2a::generation agent)
{
    const auto value = named.of_agent();
    std::string line;
    if (!value.empty()) {
        line.append(::a2a::extension_field_name(agent)).append(": ").append(value).append("\r\n");
    }
    return line;
}

}  // namespace

core::result<read_extensions> read_extension_fields(const net::http1::field_list& head, const extension_terms& terms)
{
    ::a2a::extension_list named;
    bool by_1 = false;
    bool by_03 = false;
    for (const auto& field : head) {
        const auto of = ::a2a::extension_field(field.name);
        if (!of) {
            continue;
        }
        if (!named.add(field.value)) {
            return core::caller_error(core::errc::header_too_large, "extensions");
        }
        (*of == ::a2a::generation::v1 ? by_1 : by_03) = true;
    }
    read_extensions out;
    if (terms.required) {
        std::ranges::copy_if(*terms.required, std::back_inserter(out.missing), [&](std::string_view uri) {
            return !named.contains(uri);
        });
    }
    if (!by_1 && !by_03) {
        out.to_caller = terms.translated ? ::a2a::extension_field_name(terms.caller) : std::string_view{};
        return out;
    }
    const bool own_name = terms.agent == ::a2a::generation::v1 ? by_1 : by_03;
    if (terms.translated || !own_name || std::ranges::any_of(named.uris(), is_own)) {
        out.to_agent = line_of(named, terms.agent);
    }
    out.facts = named.contains(::a2a::gateway_facts_extension);
    const auto used = by_1 ? ::a2a::generation::v1 : ::a2a::generation::v03;
    out.to_caller = ::a2a::extension_field_name(by_1 && by_03 ? terms.caller : used);
    return out;
}

}  // namespace gateway::a2a
