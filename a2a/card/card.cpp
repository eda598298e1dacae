#include "a2a/card/card.hpp"

#include "a2a/card/card_repair.hpp"
#include "core/json/json.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <utility>

namespace a2a {
namespace {

using core::json;

constexpr std::array<std::string_view, 4> capability_names{
    "streaming",
    "pushNotifications",
    "stateTransitionHistory",
    "extendedAgentCard"
};

bool is_true(const json& object, std::string_view key)
{
    const auto* value = core::member(object, key);
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace

std::string_view name(card_generation g) noexcept
{
    switch (g) {
        case card_generation::v01:
            return "v0.1";
        case card_generation::v02:
            return "v0.2";
        case card_generation::v03:
            return "v0.3";
        case card_generation::v1:
            return "v1";
        case card_generation::hybrid:
            return "hybrid";
    }
    return "v0.3";
}

std::string_view name(problem_severity s) noexcept
{
    switch (s) {
        case problem_severity::error:
            return "error";
        case problem_severity::warning:
            return "warning";
        case problem_severity::note:
            return "note";
    }
    return "error";
}

core::result<json> read_card(std::string_view text, core::json_limits limits)
{
    if (text.size() > limits.bytes) {
        return core::upstream_error(
            core::errc::card_too_large,
            "the card is longer than " + std::to_string(limits.bytes) + " bytes"
        );
    }
    auto parsed = core::parse_document(text, limits, max_values(limits));
    if (parsed.has_error()) {
        return core::upstream_error(core::errc::card_not_json, "the card is " + parsed.error().detail);
    }
    if (!parsed->is_object()) {
        return core::upstream_error(core::errc::card_invalid, "the card is not an object");
    }
    return std::move(*parsed);
}

core::result<card> repair_card(json written)
{
    card repaired;
    repaired.document = std::move(written);
    problem_list problems;
    repair_traffic(repaired.document, problems);
    if (name_of(repaired.document) == nullptr) {
        return core::upstream_error(core::errc::card_invalid, "the card has no name");
    }
    repaired.generation = generation_of(repaired.document);
    repair_content(repaired.document, repaired.generation, problems);
    repaired.problems = std::move(problems).take(repaired.generation);
    return repaired;
}

core::result<card> parse_card(std::string_view text, core::json_limits limits)
{
    auto written = read_card(text, limits);
    if (!written) {
        return std::move(written).error();
    }
    return repair_card(std::move(*written));
}

std::string render(const json& document)
{
    return core::to_text(document);
}

card_facts facts(const card& source)
{
    const auto& document = source.document;
    card_facts known;
    known.name = core::text_member(document, "name");
    known.description = core::text_member(document, "description");
    known.version = core::text_member(document, "version");
    known.protocol_version = core::text_member(document, "protocolVersion");
    known.generation = source.generation;
    const auto* interfaces = core::member(document, "supportedInterfaces");
    if (known.protocol_version.empty() && interfaces != nullptr && interfaces->is_array() && !interfaces->empty()) {
        known.protocol_version = core::text_member(interfaces->front(), "protocolVersion");
    }
    if (const auto* skills = core::member(document, "skills"); skills != nullptr && skills->is_array()) {
        known.skills = skills->size();
    }
    if (const auto* capabilities = core::member(document, "capabilities")) {
        for (const auto capability : capability_names) {
            if (is_true(*capabilities, capability)) {
                known.capabilities.emplace_back(capability);
            }
        }
    }
    if (const auto* schemes = core::member(document, "securitySchemes"); schemes != nullptr && schemes->is_object()) {
        for (const auto& [scheme, definition] : schemes->items()) {
            known.security_schemes.push_back(scheme);
        }
    }
    known.errors =
        static_cast<std::size_t>(std::ranges::count(source.problems, problem_severity::error, &card_problem::severity));
    known.warnings = source.problems.size() - known.errors;
    return known;
}

std::string strong_etag(std::string_view bytes)
{
    return '"' + jose::sha256_hex(bytes).substr(0, 32) + '"';
}

}  // namespace a2a
