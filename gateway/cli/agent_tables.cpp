#include "gateway/cli/agent_tables.hpp"

#include "gateway/model/terminal_text.hpp"

#include <utility>
#include <vector>

namespace gateway::cli {
namespace {

using core::json;

std::string source_of(const json& agent)
{
    const auto* stored = core::member(agent, "stored");
    return stored == nullptr ? "configuration" : "added, version " + shown_member(*stored, "version");
}

std::string member_of(const json& agent, std::string_view part, std::string_view key)
{
    const auto* object = core::member(agent, part);
    return object == nullptr ? std::string{} : shown_member(*object, key);
}

std::string with_reason(const std::string& state, const std::string& reason)
{
    return reason.empty() ? state : state + " (" + reason + ")";
}

std::string summary_line(const json& summary)
{
    std::string out;
    for (const auto& [status, count] : summary.items()) {
        if (status == "contained" && count == 0) {
            continue;  // as nearly always
        }
        out += (out.empty() ? "" : ", ") + core::to_text(count) + " " + status;
    }
    return out.empty() ? out : out + "\n";
}

std::string problem_lines(const json& problems)
{
    std::string out;
    for (std::size_t i = 0; problems.is_array() && i < problems.size(); ++i) {
        const auto severity = shown_member(problems[i], "severity");
        out += "  " + (severity.empty() ? "" : severity + ": ") + shown_member(problems[i], "path") + ": " +
               shown_member(problems[i], "what") + "\n";
    }
    return out;
}

}  // namespace

std::string shown_member(const json& object, std::string_view key)
{
    const auto* value = core::member(object, key);
    if (value == nullptr || value->is_null()) {
        return {};
    }
    return value->is_string() ? value->get<std::string>() : core::to_text(*value);
}

std::string state_of(const json& agent)
{
    if (core::member(agent, "unusable") != nullptr) {
        return "unusable";
    }
    const auto* status = core::member(agent, "card_status");
    if (status == nullptr) {
        return {};
    }
    const auto* failure = core::member(*status, "failure");
    return shown_member(*status, "state") + (failure == nullptr ? "" : " (" + shown_member(*failure, "code") + ")");
}

std::string list_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"ID", "PROTOCOL", "SOURCE", "CARD", "SKILLS", "URL"}};
    for (const auto& agent : found.at("agents")) {
        rows.push_back(
            {shown_member(agent, "id"),
             shown_member(agent, "protocol"),
             source_of(agent),
             state_of(agent),
             member_of(agent, "card_status", "skills"),
             shown_member(agent, "url")}
        );
    }
    return model::shown_table(rows);
}

std::string health_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{
        {"ID", "PROTOCOL", "STATUS", "CARD", "SESSION", "UPTIME", "RESTARTS", "WHY"}
    };
    for (const auto& agent : found.at("agents")) {
        const auto uptime = member_of(agent, "session", "uptime_seconds");
        rows.push_back(
            {shown_member(agent, "id"),
             shown_member(agent, "protocol"),
             with_reason(shown_member(agent, "status"), shown_member(agent, "reason")),
             with_reason(member_of(agent, "card", "state"), member_of(agent, "card", "failure")),
             with_reason(member_of(agent, "session", "state"), member_of(agent, "session", "reason")),
             uptime.empty() ? uptime : uptime + "s",
             member_of(agent, "session", "restarts"),
             shown_member(agent, "why")}
        );
    }
    const auto* summary = core::member(found, "summary");
    return model::shown_table(rows) +
           model::printable(summary_line(summary == nullptr ? json{} : *summary), /*lines=*/true);
}

std::string refreshed_text(const std::string& id, const json& result, bool dry_run)
{
    const bool changed = result.value("changed", false);
    std::string out = id + (dry_run ? (changed ? ": would change\n" : ": would not change\n")
                                    : (changed ? ": changed\n" : ": has not changed\n"));
    const auto* diff = core::member(result, "diff");
    for (std::size_t i = 0; changed && diff != nullptr && diff->is_array() && i < diff->size(); ++i) {
        const auto& difference = (*diff)[i];
        out += "  " + shown_member(difference, "op") + " " + shown_member(difference, "path");
        const auto* value = core::member(difference, "value");
        out += value == nullptr ? "\n" : " " + core::to_text(*value) + "\n";
    }
    const auto* status = core::member(result, "card_status");
    const auto* problems = core::member(status == nullptr ? result : *status, "problems");
    return model::printable(out + (problems == nullptr ? "" : problem_lines(*problems)), /*lines=*/true);
}

std::string added_line(const json& result)
{
    const auto* outcome = result.value("created", false) ? ": added" : ": changed";
    const auto* lifetime = result.value("durable", false) ? "" : ", until the gateway stops";
    return model::printable(
               shown_member(result, "id") + outcome + ", version " + shown_member(result, "version") + lifetime
           ) +
           "\n";
}

std::string bundles_table(const json& found)
{
    std::vector<std::vector<std::string>> members{
        {"BUNDLE", "PATH", "AGENT", "AS", "STATE", "TOOLS", "PROMPTS", "RESOURCES"}
    };
    std::vector<std::vector<std::string>> renamed{{"BUNDLE", "AGENT", "LIST", "NAME", "EXPOSED AS"}};
    for (const auto& bundle : found.at("bundles")) {
        const auto name = shown_member(bundle, "name");
        const auto path = shown_member(bundle, "path");
        for (const auto& each : bundle.at("members")) {
            auto& row = members.emplace_back(std::vector{name, path});
            for (const auto* key : {"agent", "as", "state", "tools", "prompts", "resources"}) {
                row.push_back(shown_member(each, key));
            }
        }
        for (const auto& each : bundle.at("skipped")) {
            members.push_back(
                {name, path, shown_member(each, "agent"), "", with_reason("skipped", shown_member(each, "reason"))}
            );
        }
        for (const auto& each : bundle.at("renamed")) {
            auto& row = renamed.emplace_back(std::vector{name});
            for (const auto* key : {"agent", "list", "name", "exposed"}) {
                row.push_back(shown_member(each, key));
            }
        }
    }
    return model::shown_table(members) + (renamed.size() > 1 ? "\n" + model::shown_table(renamed) : "");
}

namespace {

std::string quoted_value(const json& of, std::string_view key)
{
    const auto* value = core::member(of, key);
    return value == nullptr ? "" : core::to_text(*value);
}

// The operations of a JSON Patch, each in a line.
std::string patch_lines(const json& patch)
{
    std::string out;
    for (std::size_t i = 0; patch.is_array() && i < patch.size(); ++i) {
        const auto value = quoted_value(patch[i], "value");
        out += "  " + shown_member(patch[i], "op") + " " + shown_member(patch[i], "path") + (value.empty() ? "" : " ") +
               value + "\n";
    }
    return out;
}

}  // namespace

std::string changes_text(const json& changes)
{
    std::string out;
    for (std::size_t i = 0; changes.is_array() && i < changes.size(); ++i) {
        const auto& each = changes[i];
        out += shown_member(each, "op") + " " + shown_member(each, "path") + " (" + shown_member(each, "why") + ")\n";
        for (const auto& [key, sign] : {std::pair{"from", "  - "}, {"to", "  + "}}) {
            if (const auto value = quoted_value(each, key); !value.empty()) {
                out += sign + value + "\n";
            }
        }
    }
    return out.empty() ? "Callers get the card as the agent wrote it.\n" : model::printable(out, /*lines=*/true);
}

std::string history_text(const json& found)
{
    constexpr std::size_t shown_digits = 12;
    std::string out;
    const auto* cards = core::member(found, "cards");
    for (std::size_t i = 0; cards != nullptr && cards->is_array() && i < cards->size(); ++i) {
        const auto& each = (*cards)[i];
        out += shown_member(each, "at") + "  " + shown_member(each, "sha256").substr(0, shown_digits) + "  " +
               shown_member(each, "size") + " bytes";
        const auto* patch = core::member(each, "patch");
        if (patch != nullptr && patch->is_array()) {
            out += "\n" + patch_lines(*patch);
        } else {
            out += i + 1 == cards->size() ? ", the first one that is known\n" : ", too many differences to show\n";
        }
    }
    return out.empty() ? "No card has been published yet.\n" : model::printable(out, /*lines=*/true);
}

std::string status_line(const json& agent)
{
    auto out =
        shown_member(agent, "id") + ": " + with_reason(shown_member(agent, "status"), shown_member(agent, "reason"));
    for (const auto* key : {"why", "advice"}) {
        if (const auto sentence = shown_member(agent, key); !sentence.empty()) {
            out += (*key == 'w' ? ": " : " ") + sentence;
        }
    }
    return model::printable(out);
}

std::string containment_text(const std::string& about, const json& result)
{
    const auto* terms = core::member(result, "contained");
    const bool contained = terms != nullptr && !terms->is_null();
    const bool dry_run = result.value("dryRun", false);
    if (!contained) {
        return model::printable(about + (dry_run ? ": would be released" : ": released")) + "\n";
    }
    const auto until = shown_member(*terms, "until");
    std::string out = about + (dry_run ? ": would be contained" : ": contained");
    out += until.empty() ? " until it is released" : " until " + until;
    if (const auto* cut = core::member(result, "cut")) {
        const auto count = [cut](std::string_view what) {
            const auto n = shown_member(*cut, what);
            return n + ' ' + std::string{what.substr(0, what.size() - (n == "1" ? 1 : 0))};
        };
        out += (dry_run ? "; would cut " : "; cut ") + count("calls") + ", " + count("streams") + " and " +
               count("sessions");
    }
    return model::printable(out) + "\n";
}

std::string principals_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"PROVIDER", "PRINCIPAL", "AGENT", "SINCE", "UNTIL", "BY", "REASON"}};
    for (const auto& each : found.at("principals")) {
        rows.push_back(
            {shown_member(each, "provider"),
             shown_member(each, "principal"),
             shown_member(each, "agent"),
             member_of(each, "contained", "since"),
             member_of(each, "contained", "until"),
             member_of(each, "contained", "by"),
             member_of(each, "contained", "reason")}
        );
    }
    return rows.size() == 1 ? "No principal is contained.\n" : model::shown_table(rows);
}

}  // namespace gateway::cli
