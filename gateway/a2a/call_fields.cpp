#include "gateway/a2a/call_fields.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <iterator>

namespace gateway::a2a {
namespace {

constexpr std::string_view field_name = "A2A-Version";

// Takes a number off the front of `text`, and the dot behind it. Empty: there is none.
std::string_view take_number(std::string_view& text) noexcept
{
    const auto number = text.substr(0, text.find('.'));
    const bool digits = !number.empty() && std::ranges::all_of(number, core::is_digit);
    const bool more = number.size() < text.size();
    text.remove_prefix(number.size() + (more ? 1 : 0));
    return digits && !(more && text.empty()) ? number : std::string_view{};
}

said_version read_version(std::string_view text) noexcept
{
    if (text.empty()) {
        return said_version::none;
    }
    const auto major = take_number(text);
    const bool has_minor = !text.empty();
    const auto minor = has_minor ? take_number(text) : std::string_view{"0"};
    const bool has_patch = !text.empty();
    const auto patch = has_patch ? take_number(text) : std::string_view{"0"};
    if (major.empty() || minor.empty() || patch.empty() || !text.empty()) {
        return said_version::garbage;
    }
    if (major == "0" && (minor == "2" || minor == "3")) {
        return said_version::v03;
    }
    return major == "1" && minor == "0" ? said_version::v1 : said_version::other;
}

// `garbage`: it names two.
said_version in_query(std::string_view query) noexcept
{
    std::optional<std::string_view> said;
    query.remove_prefix(query.starts_with('?') ? 1 : 0);
    while (!query.empty()) {
        const auto one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const auto name = one.substr(0, one.find('='));
        if (!core::equal_ignoring_case(name, field_name)) {
            continue;
        }
        const auto value = one.substr(std::min(name.size() + 1, one.size()));
        if (said && *said != value) {
            return said_version::garbage;
        }
        said = value;
    }
    return read_version(said.value_or(std::string_view{}));
}

}  // namespace

said_version version_said(const net::http1::field_list& fields, std::string_view query) noexcept
{
    const std::string_view* said = nullptr;
    for (const auto& field : fields) {
        if (!core::equal_ignoring_case(field.name, field_name)) {
            continue;
        }
        if (said != nullptr && *said != field.value) {
            return said_version::garbage;
        }
        said = &field.value;
    }
    return said != nullptr ? read_version(*said) : in_query(query);
}

std::optional<::a2a::generation> generation_said(said_version version) noexcept
{
    if (version == said_version::v1) {
        return ::a2a::generation::v1;
    }
    return version == said_version::v03 ? std::optional{::a2a::generation::v03} : std::nullopt;
}

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
