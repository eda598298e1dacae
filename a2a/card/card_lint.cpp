#include "a2a/card/card_lint.hpp"

#include "a2a/card/address.hpp"
#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_schema_walk.hpp"
#include "a2a/card/card_security.hpp"
#include "a2a/extension_header.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace a2a {
namespace {

using core::json;
using enum problem_severity;

// Calls `visit(interface, path)` for every interface of the list.
template <class Visit>
void each_interface(const json& card, const interface_list& list, Visit visit)
{
    const auto* interfaces = find_spelled(card, list.member);
    if (interfaces == nullptr || !interfaces->is_array()) {
        return;
    }
    for (std::size_t i = 0; i < interfaces->size(); ++i) {
        if ((*interfaces)[i].is_object()) {
            visit((*interfaces)[i], indexed(std::string{list.member}, i));
        }
    }
}

const std::string* text_of(const json& object, std::string_view member)
{
    const auto* found = find_spelled(object, member);
    return found == nullptr ? nullptr : found->get_ptr<const std::string*>();
}

void judge_binding(const json& object, std::string_view member, const std::string& path, problem_list& problems)
{
    const auto* binding = text_of(object, member);
    if (binding != nullptr && !binding->empty() && find_served(*binding) == nullptr) {
        problems.add(dotted(path, member), "a binding that the gateway does not serve: not offered to callers", note);
    }
}

void judge_interfaces(const json& card, problem_list& problems)
{
    judge_binding(card, "preferredTransport", "", problems);
    std::map<std::string, std::string> binding_at;
    bool old_seen = false;
    for (const auto& list : interface_lists) {
        each_interface(card, list, [&](const json& interface, const std::string& path) {
            judge_binding(interface, list.binding, path, problems);
            const auto* version = text_of(interface, "protocolVersion");
            if (list.versioned && version != nullptr) {
                const bool modern = one_or_later(*version).value_or(false);
                if (modern && old_seen) {
                    problems.add(path, "behind an interface of 0.x: several clients take the first", note);
                }
                old_seen = old_seen || !modern;
                if (major_minor(*version) != *version) {
                    problems.add(
                        dotted(path, "protocolVersion"),
                        "has a patch number, which some clients compare",
                        warning
                    );
                }
            }
            const auto* url = text_of(interface, "url");
            const auto* binding = text_of(interface, list.binding);
            if (!list.versioned && url != nullptr && binding != nullptr) {
                const auto [known, first] = binding_at.emplace(*url, *binding);
                if (!first && !same_name(known->second, *binding)) {
                    problems.add(dotted(path, "url"), "the address of another binding too", warning);
                }
            }
        });
    }
}

// The names that a list of requirements, of either form, asks for.
std::set<std::string> demanded(const json& demands)
{
    std::set<std::string> names;
    if (!demands.is_array()) {
        return names;
    }
    for (const auto& demand : demands) {
        if (const auto* schemes = demanded_schemes(demand)) {
            for (const auto& [name, scopes] : schemes->items()) {
                names.insert(name);
            }
        }
    }
    return names;
}

std::set<std::string_view> scheme_names(const json& card)
{
    std::set<std::string_view> names;
    const auto* schemes = find_spelled(card, "securitySchemes");
    if (schemes != nullptr && schemes->is_object()) {
        for (const auto& [name, scheme] : schemes->get_ref<const json::object_t&>()) {
            names.insert(name);
        }
    }
    return names;
}

void judge_demands(
    const json& object,
    const std::set<std::string_view>& schemes,
    const std::string& path,
    problem_list& problems
)
{
    for (const auto* member : {"security", "securityRequirements"}) {
        const auto* demands = find_spelled(object, member);
        if (demands == nullptr) {
            continue;
        }
        for (const auto& name : demanded(*demands)) {
            if (!schemes.contains(name)) {
                problems.add(dotted(path, member), "asks for a scheme that securitySchemes does not have", warning);
                break;
            }
        }
    }
}

void judge_skills(const json& card, const std::set<std::string_view>& schemes, problem_list& problems)
{
    const auto* skills = find_spelled(card, "skills");
    if (skills == nullptr || !skills->is_array()) {
        return;
    }
    std::set<std::string> ids;
    for (std::size_t i = 0; i < skills->size(); ++i) {
        const auto here = indexed("skills", i);
        judge_demands((*skills)[i], schemes, here, problems);
        const auto* id = text_of((*skills)[i], "id");
        if (id != nullptr && !ids.insert(*id).second) {
            problems.add(dotted(here, "id"), "the id of another skill too", warning);
        }
    }
}

// Specification 1.0.1 section 4.6: a URI identifies an extension, to the letter.
void judge_extension(
    const json& extension,
    const std::string& path,
    std::set<std::string_view>& known,
    problem_list& problems
)
{
    const auto* uri = text_of(extension, "uri");
    if (uri == nullptr || uri->empty()) {
        return;
    }
    if (!is_uri(*uri)) {
        problems.add(dotted(path, "uri"), "not a URI: callers cannot tell the extension from others", warning);
    } else if (!known.insert(*uri).second) {
        problems.add(dotted(path, "uri"), "the URI of another extension too", warning);
    }
    const auto* required = find_spelled(extension, "required");
    if (required != nullptr && *required == true &&
        std::ranges::find(data_only_extensions, *uri) != data_only_extensions.end()) {
        problems.add(
            dotted(path, "required"),
            "true, of an extension that callers cannot activate: it is data-only",
            warning
        );
    }
}

void judge_extensions(const json& card, problem_list& problems)
{
    const auto* capabilities = find_spelled(card, "capabilities");
    const auto* extensions = capabilities == nullptr ? nullptr : find_spelled(*capabilities, "extensions");
    if (extensions == nullptr || !extensions->is_array()) {
        return;
    }
    std::set<std::string_view> known;
    for (std::size_t i = 0; i < extensions->size(); ++i) {
        judge_extension((*extensions)[i], indexed("capabilities.extensions", i), known, problems);
    }
}

void judge_serving(const card& repaired, problem_list& problems)
{
    if (name_of(repaired.document) == nullptr) {
        problems.add("", "has no name: the card is not served", error);
        return;
    }
    // Any address that is not the agent's will do: the question is whether the agent's is still seen.
    const public_address at{
        .base = "https://gateway.invalid/agents/lint",
        .grpc = {.authority = "gateway.invalid:443", .tenant = "lint"}
    };
    const auto served = rewrite_card(repaired, at, {.url = {}, .card_url = {}, .reachable = true});
    if (const auto beyond = unreachable_bindings(repaired.document); beyond == "GRPC") {
        problems
            .add("", "names GRPC alone: served if `grpc_url`, or a `grpc` url, says where the agent takes it", warning);
    } else if (!beyond.empty()) {
        problems.add("", "names only bindings that the gateway cannot reach: the card is not served", error);
    } else if (served.has_error()) {
        problems.add(served.error().detail, "shows the agent's address to callers: the card is not served", error);
    }
    if (core::member(repaired.document, "signatures") != nullptr) {
        problems.add("signatures", "not served: they cover addresses that the gateway replaces", note);
    }
}

void judge_schema(
    const json& card,
    card_generation generation,
    const std::vector<card_problem>& repaired,
    problem_list& problems
)
{
    const bool reachable_before_1 = find_spelled(card, "url") != nullptr;
    // A mixture that no reader of 0.x can use is a card of 1.0 with members too many.
    const auto judged = generation == card_generation::hybrid && !reachable_before_1 ? card_generation::v1 : generation;
    schema_walk walk{judged, repaired, problems};
    if (judged >= card_generation::v1) {
        walk.object(card, card_since_1(), &card_before_1(), "");
    }
    if (judged == card_generation::v02 || judged == card_generation::v03) {
        if (find_spelled(card, "authentication") != nullptr) {
            problems.add("authentication", "0.1 had it; later readers look for securitySchemes", warning);
        }
    }
    if (judged != card_generation::v1) {
        walk.object(card, card_before_1(), &card_since_1(), "");
    }
}

}  // namespace

std::size_t lint_report::count(problem_severity severity) const noexcept
{
    return static_cast<std::size_t>(std::ranges::count(problems, severity, &card_problem::severity));
}

lint_report lint_card(std::string_view text, core::json_limits limits)
{
    lint_report report;
    auto written = core::parse_document(text, limits, max_values(limits));
    if (!written || !written->is_object()) {
        report.problems.push_back({"", written ? "not an object" : written.error().detail, error});
        return report;
    }
    card repaired;
    repaired.document = *written;
    problem_list repairs;
    repair_traffic(repaired.document, repairs);
    repaired.generation = generation_of(repaired.document);
    report.generation = repaired.generation;
    if (name_of(repaired.document) != nullptr) {
        repair_content(repaired.document, repaired.generation, repairs);
    }
    auto problems = std::move(repairs).take(repaired.generation);

    problem_list found;
    judge_schema(*written, repaired.generation, problems, found);
    judge_interfaces(*written, found);
    const auto schemes = scheme_names(*written);
    judge_demands(*written, schemes, "", found);
    judge_skills(*written, schemes, found);
    judge_extensions(*written, found);
    judge_serving(repaired, found);
    std::ranges::move(std::move(found).take(repaired.generation), std::back_inserter(problems));
    for (const auto severity : {error, warning, note}) {
        std::ranges::copy_if(problems, std::back_inserter(report.problems), [&](const card_problem& each) {
            return each.severity == severity;
        });
    }
    return report;
}

}  // namespace a2a
