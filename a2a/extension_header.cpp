#include "a2a/extension_header.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <utility>

namespace a2a {
namespace {

constexpr std::string_view name_of_1 = "A2A-Extensions";
constexpr std::string_view name_of_03 = "X-A2A-Extensions";

}  // namespace

std::optional<generation> extension_field(std::string_view name) noexcept
{
    if (core::equal_ignoring_case(name, name_of_1)) {
        return generation::v1;
    }
    return core::equal_ignoring_case(name, name_of_03) ? std::optional{generation::v03} : std::nullopt;
}

std::string_view extension_field_name(generation of) noexcept
{
    return of == generation::v1 ? name_of_1 : name_of_03;
}

bool extension_list::add(std::string_view value) noexcept
{
    bytes_ += value.size();
    if (bytes_ > longest) {
        return false;
    }
    while (!value.empty()) {
        const auto end = std::min(value.find(','), value.size());
        const auto uri = core::trim(value.substr(0, end));
        value.remove_prefix(std::min(end + 1, value.size()));
        if (uri.empty()) {
            continue;
        }
        if (++seen_ > most) {
            return false;
        }
        if (!contains(uri)) {
            uris_[size_++] = uri;
        }
    }
    return true;
}

bool extension_list::contains(std::string_view uri) const noexcept
{
    return std::ranges::find(uris(), uri) != uris().end();
}

std::string extension_list::of_agent() const
{
    std::string value;
    for (const auto uri : uris()) {
        if (!uri.starts_with(own_extensions)) {
            value.append(value.empty() ? "" : ", ").append(uri);
        }
    }
    return value;
}

using core::json;

void declare_gateway_facts(json& card, const std::string& id)
{
    const auto capabilities = card.find("capabilities");
    if (capabilities == card.end() || !capabilities->is_object()) {
        return;
    }
    const auto written = capabilities->find("extensions");
    json::array_t extensions;
    if (written != capabilities->end()) {
        auto* const list = written->get_ptr<json::array_t*>();
        if (list == nullptr) {
            return;
        }
        extensions = std::move(*list);
    }
    std::erase_if(extensions, [](const json& each) {
        const auto* const uri = core::string_member(each, "uri");
        return uri != nullptr && *uri == gateway_facts_extension;
    });
    extensions.push_back(json{
        {"uri", std::string{gateway_facts_extension}},
        {"description", "The gateway in front of this agent: which agent it is there, and facts about each answer"},
        {"required", false},
        {"params", json{{"agent", id}}},
    });
    (*capabilities)["extensions"] = std::move(extensions);
}

}  // namespace a2a
