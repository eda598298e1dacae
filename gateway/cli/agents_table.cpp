#include "gateway/cli/agents_table.hpp"

namespace gateway::cli {
namespace {

using core::json;

std::string source_of(const json& agent)
{
    const auto* stored = core::member(agent, "stored");
    return stored == nullptr ? "configuration" : "added, version " + text_of(*stored, "version");
}

std::string skills_of(const json& agent)
{
    const auto* status = core::member(agent, "card_status");
    return status == nullptr ? std::string{} : text_of(*status, "skills");
}

std::string member_of(const json& agent, std::string_view part, std::string_view key)
{
    const auto* object = core::member(agent, part);
    return object == nullptr ? std::string{} : text_of(*object, key);
}

std::string with_reason(std::string what, const std::string& reason)
{
    return reason.empty() ? what : what + " (" + reason + ")";
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

std::string shown_problems(const json& problems)
{
    std::string out;
    for (std::size_t i = 0; problems.is_array() && i < problems.size(); ++i) {
        const auto severity = text_of(problems[i], "severity");
        out += "  " + (severity.empty() ? "" : severity + ": ") + text_of(problems[i], "path") + ": " +
               text_of(problems[i], "what") + "\n";
    }
    return out;
}

table_rows list_rows(const json& agents)
{
    table_rows shown{{"ID", "PROTOCOL", "SOURCE", "CARD", "SKILLS", "URL"}};
    for (const auto& each : agents) {
        shown.push_back(
            {text_of(each, "id"),
             text_of(each, "protocol"),
             source_of(each),
             state_of(each),
             skills_of(each),
             text_of(each, "url")}
        );
    }
    return shown;
}

table_rows health_rows(const json& agents)
{
    table_rows shown{{"ID", "PROTOCOL", "STATUS", "CARD", "SESSION", "UPTIME", "RESTARTS"}};
    for (const auto& each : agents) {
        const auto uptime = member_of(each, "session", "uptime_seconds");
        shown.push_back(
            {text_of(each, "id"),
             text_of(each, "protocol"),
             with_reason(text_of(each, "status"), text_of(each, "reason")),
             with_reason(member_of(each, "card", "state"), member_of(each, "card", "failure")),
             with_reason(member_of(each, "session", "state"), member_of(each, "session", "reason")),
             uptime.empty() ? uptime : uptime + "s",
             member_of(each, "session", "restarts")}
        );
    }
    return shown;
}

std::string shown_summary(const json& summary)
{
    std::string out;
    for (const auto& [status, count] : summary.items()) {
        out += (out.empty() ? "" : ", ") + core::to_text(count) + " " + status;
    }
    return out.empty() ? out : out + "\n";
}

}  // namespace gateway::cli
