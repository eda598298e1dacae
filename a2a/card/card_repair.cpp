#include "a2a/card/card_repair.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

namespace a2a {
namespace {

using core::json;

constexpr std::size_t max_interfaces = 1000;

constexpr std::array<std::string_view, 20> card_members{
    "name",
    "description",
    "url",
    "version",
    "protocolVersion",
    "preferredTransport",
    "additionalInterfaces",
    "supportedInterfaces",
    "agentCard",
    "provider",
    "iconUrl",
    "documentationUrl",
    "capabilities",
    "securitySchemes",
    "securityRequirements",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
    "supportsAuthenticatedExtendedCard",
    "signatures",
};

constexpr std::array<std::string_view, 5>
    interface_members{"url", "transport", "protocolBinding", "protocolVersion", "tenant"};

constexpr std::array<std::string_view, 4> free_in_01{"description", "tags", "defaultInputModes", "defaultOutputModes"};

// A reader that takes both spellings of a member sees it twice: only one may stay.
void use_known_names(
    json& object,
    std::span<const std::string_view> known,
    const std::string& path,
    problem_list& problems
)
{
    const auto meant = [&](const std::string& key) {
        return std::ranges::find_if(known, [&](std::string_view name) { return same_name(name, key); });
    };
    auto& members = object.get_ref<json::object_t&>();
    std::set<std::string_view> taken;
    bool misspelled = false;
    for (const auto& [key, value] : members) {
        if (const auto name = meant(key); name != known.end()) {
            if (*name == key) {
                taken.insert(*name);
            } else {
                misspelled = true;
            }
        }
    }
    if (!misspelled) {
        return;
    }
    json::object_t renamed;
    renamed.reserve(members.size());
    for (auto& [key, value] : members) {
        const auto name = meant(key);
        if (name == known.end() || *name == key) {
            renamed.emplace_back(key, std::move(value));
        } else if (taken.insert(*name).second) {
            renamed.emplace_back(std::string{*name}, std::move(value));
            problems.add(dotted(path, *name), "was spelled differently", problem_severity::warning);
        } else {
            problems.add(dotted(path, key), "dropped: another spelling of a member that is there");
        }
    }
    members = std::move(renamed);
}

// Null if the member is absent or is a string that says something; else what is wrong with it.
const char* string_flaw(const json& object, std::string_view key)
{
    const auto* value = core::member(object, key);
    if (value == nullptr) {
        return nullptr;
    }
    const auto* text = value->get_ptr<const std::string*>();
    if (text == nullptr) {
        return "not a string";
    }
    return text->empty() ? "empty" : nullptr;
}

// Null stands for absence in most readers, and an agent that writes it means nothing by it; a card needs its `url`.
bool drop_null(json& object, std::string_view key, const std::string& path, problem_list& problems)
{
    const auto* value = core::member(object, key);
    if (value == nullptr || !value->is_null() || key == "url") {
        return false;
    }
    problems.add(dotted(path, key), "null: leave it out", problem_severity::note);
    object.erase(std::string{key});
    return true;
}

void drop_unless_string(json& object, std::string_view key, const std::string& path, problem_list& problems)
{
    if (drop_null(object, key, path, problems)) {
        return;
    }
    if (const char* flaw = string_flaw(object, key)) {
        problems.add(dotted(path, key), flaw);
        object.erase(std::string{key});
    }
}

// Versions are often written as numbers; those still say what they are.
void number_to_text(json& object, std::string_view key, const std::string& path, problem_list& problems)
{
    const auto* value = core::member(object, key);
    if (value != nullptr && value->is_number()) {
        problems.add(dotted(path, key), "a number, not a string");
        object[std::string{key}] = core::to_text(*value);
    }
}

void repair_interface(
    json& interface,
    const interface_list& list,
    std::string_view card_version,
    const std::string& path,
    problem_list& problems
)
{
    use_known_names(interface, interface_members, path, problems);
    if (!interface.contains("url")) {
        problems.add(dotted(path, "url"), "missing");
    }
    drop_unless_string(interface, "url", path, problems);
    drop_unless_string(interface, "transport", path, problems);
    drop_unless_string(interface, "protocolBinding", path, problems);

    const std::string member{list.binding};
    const std::string other = list.versioned ? "transport" : "protocolBinding";
    if (!interface.contains(member)) {
        problems.add(dotted(path, member), "missing");
        interface[member] = interface.contains(other) ? interface[other] : json("JSONRPC");
    }
    const auto& binding = interface[member].get_ref<const std::string&>();
    if (const auto* known = known_binding(binding); known != nullptr && *known != binding) {
        problems.add(dotted(path, member), "not spelled as the specification does", problem_severity::warning);
        interface[member] = std::string{*known};
    }

    if (list.versioned) {
        number_to_text(interface, "protocolVersion", path, problems);
        drop_unless_string(interface, "protocolVersion", path, problems);
        if (!interface.contains("protocolVersion")) {
            problems.add(dotted(path, "protocolVersion"), "missing");
            interface["protocolVersion"] = std::string{card_version};
        }
    }
}

void repair_interfaces(json& card, const interface_list& list, const std::string& path, problem_list& problems)
{
    const std::string member{list.member};
    const auto found = card.find(member);
    if (found == card.end() || drop_null(card, member, path, problems)) {
        return;
    }
    const auto here = dotted(path, member);
    auto* interfaces = found->get_ptr<json::array_t*>();
    if (interfaces == nullptr) {
        problems.add(here, "not an array");
        card.erase(member);
        return;
    }
    if (interfaces->size() > max_interfaces) {
        problems.add(indexed(here, max_interfaces), "dropped with what follows: too many");
        interfaces->resize(max_interfaces);
    }
    const auto* written = core::string_member(card, "protocolVersion");
    const std::string version{
        written != nullptr && one_or_later(*written).has_value() ? major_minor(*written) : std::string_view{"1.0"}
    };
    json::array_t kept;
    for (std::size_t i = 0; i < interfaces->size(); ++i) {
        auto& interface = (*interfaces)[i];
        if (!interface.is_object()) {
            problems.add(indexed(here, i), "not an object");
            continue;
        }
        repair_interface(interface, list, version, indexed(here, i), problems);
        kept.push_back(std::move(interface));
    }
    *interfaces = std::move(kept);
}

void repair_traffic_at(json& card, unsigned depth, const std::string& path, problem_list& problems)
{
    use_known_names(card, card_members, path, problems);
    number_to_text(card, "protocolVersion", path, problems);
    drop_unless_string(card, "protocolVersion", path, problems);
    drop_unless_string(card, "url", path, problems);
    drop_unless_string(card, "preferredTransport", path, problems);
    for (const auto& list : interface_lists) {
        repair_interfaces(card, list, path, problems);
    }
    const auto nested = card.find("agentCard");
    if (nested == card.end()) {
        return;
    }
    const auto here = dotted(path, "agentCard");
    if (!nested->is_object()) {
        problems.add(here, "not an object");
        card.erase("agentCard");
    } else if (depth == max_nested_cards) {
        problems.add(here, "dropped: a card in a card too often");
        card.erase("agentCard");
    } else {
        repair_traffic_at(*nested, depth + 1, here, problems);
    }
}

}  // namespace

std::string dotted(const std::string& path, std::string_view member)
{
    constexpr std::size_t longest = 64;
    const auto name = core::cut_utf8(member, longest);
    std::string out;
    out.reserve(path.size() + name.size() + 4);
    out.append(path).append(path.empty() ? "" : ".").append(name);
    return out.append(name.size() < member.size() ? "\u2026" : "");
}

std::string indexed(const std::string& path, std::size_t index)
{
    return path + "[" + std::to_string(index) + "]";
}

void problem_list::add(std::string path, std::string_view complaint, problem_severity severity)
{
    if (problems_.size() < max_card_problems) {
        problems_.push_back({std::move(path), std::string{complaint}, severity});
    } else {
        ++beyond_;
        worst_beyond_ = std::min(worst_beyond_, severity);
    }
}

std::vector<card_problem> problem_list::take(card_generation generation) &&
{
    if (beyond_ != 0) {
        problems_.push_back({"", "and " + std::to_string(beyond_) + " more", worst_beyond_});
    }
    if (generation == card_generation::v01) {
        for (auto& each : problems_) {
            const auto member = each.path.substr(each.path.rfind('.') + 1);
            if (each.what == "missing" && std::ranges::find(free_in_01, member) != free_in_01.end()) {
                each.severity = problem_severity::warning;
            }
        }
    }
    return std::move(problems_);
}

const std::string* name_of(const json& card) noexcept
{
    const auto* name = core::string_member(card, "name");
    return name == nullptr || name->find_first_not_of(" \t\r\n") == std::string::npos ? nullptr : name;
}

void repair_traffic(json& card, problem_list& problems)
{
    repair_traffic_at(card, 0, "", problems);
}

}  // namespace a2a
