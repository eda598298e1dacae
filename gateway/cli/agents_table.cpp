#include "gateway/cli/agents_table.hpp"

#include "gateway/model/terminal_text.hpp"

#include <vector>

namespace gateway::cli {
namespace {

using core::json;

std::string source_of(const json& agent)
{
    const auto* stored = core::member(agent, "stored");
    return stored == nullptr ? "configuration" : "added, version " + text_of(*stored, "version");
}

std::string member_of(const json& agent, std::string_view part, std::string_view key)
{
    const auto* object = core::member(agent, part);
    return object == nullptr ? std::string{} : text_of(*object, key);
}

std::string with_reason(const std::string& state, const std::string& reason)
{
    return reason.empty() ? state : state + " (" + reason + ")";
}

std::string summary_line(const json& summary)
{
    std::string out;
    for (const auto& [status, count] : summary.items()) {
        out += (out.empty() ? "" : ", ") + core::to_text(count) + " " + status;
    }
    return out.empty() ? out : out + "\n";
}

std::string problem_lines(const json& problems)
{
    std::string out;
    for (std::size_t i = 0; problems.is_array() && i < problems.size(); ++i) {
        const auto severity = text_of(problems[i], "severity");
        out += "  " + (severity.empty() ? "" : severity + ": ") + text_of(problems[i], "path") + ": " +
               text_of(problems[i], "what") + "\n";
    }
    return out;
}

}  // namespace

std::string text_of(const json& object, std::string_view key)
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
    return text_of(*status, "state") + (failure == nullptr ? "" : " (" + text_of(*failure, "code") + ")");
}

std::string list_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"ID", "PROTOCOL", "SOURCE", "CARD", "SKILLS", "URL"}};
    for (const auto& agent : found.at("agents")) {
        rows.push_back(
            {text_of(agent, "id"),
             text_of(agent, "protocol"),
             source_of(agent),
             state_of(agent),
             member_of(agent, "card_status", "skills"),
             text_of(agent, "url")}
        );
    }
    return model::shown_table(rows);
}

std::string health_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"ID", "PROTOCOL", "STATUS", "CARD", "SESSION", "UPTIME", "RESTARTS"}};
    for (const auto& agent : found.at("agents")) {
        const auto uptime = member_of(agent, "session", "uptime_seconds");
        rows.push_back(
            {text_of(agent, "id"),
             text_of(agent, "protocol"),
             with_reason(text_of(agent, "status"), text_of(agent, "reason")),
             with_reason(member_of(agent, "card", "state"), member_of(agent, "card", "failure")),
             with_reason(member_of(agent, "session", "state"), member_of(agent, "session", "reason")),
             uptime.empty() ? uptime : uptime + "s",
             member_of(agent, "session", "restarts")}
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
        out += "  " + text_of(difference, "op") + " " + text_of(difference, "path");
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
    return model::printable(text_of(result, "id") + outcome + ", version " + text_of(result, "version") + lifetime) +
           "\n";
}

}  // namespace gateway::cli
