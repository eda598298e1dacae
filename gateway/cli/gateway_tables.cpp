#include "gateway/cli/gateway_tables.hpp"

#include "gateway/cli/agent_tables.hpp"
#include "gateway/model/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::cli {
namespace {

using core::json;

const json& part_of(const json& of, std::string_view key)
{
    static const json nothing = json::object();
    const auto* part = core::member(of, key);
    return part == nullptr ? nothing : *part;
}

void add(std::string& to, std::string_view separator, const std::string& text)
{
    if (!text.empty()) {
        to.append(to.empty() ? "" : separator).append(text);
    }
}

std::string counted(const std::string& number, const std::string& noun)
{
    return number + " " + noun + (number == "1" ? "" : "s");
}

// A number with at most one digit behind the point; empty without one.
std::string short_number(const json& of, std::string_view key, double factor = 1)
{
    const auto* value = core::member(of, key);
    if (value == nullptr || !value->is_number()) {
        return {};
    }
    const auto tenths = std::llround(value->get<double>() * factor * 10);
    return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10));
}

std::string with_unit(const std::string& number, std::string_view unit)
{
    return number.empty() ? number : number + std::string{unit};
}

std::string listeners_line(const json& info)
{
    std::string out;
    for (const auto& each : part_of(info, "listeners")) {
        add(out,
            ", ",
            shown_member(each, "name") + " " + shown_member(each, "address") +
                (part_of(each, "tls") == true ? " (TLS)" : ""));
    }
    const auto base = shown_member(info, "public_url");
    add(out, "; ", base.empty() ? base : "public URL " + base);
    return out;
}

std::string agents_line(const json& info)
{
    const auto& counts = part_of(info, "counts");
    std::string by_status;
    for (const auto* status : {"healthy", "degraded", "unhealthy", "unknown"}) {
        add(by_status, ", ", shown_member(counts, status) + " " + status);
    }
    if (const auto contained = shown_member(counts, "contained"); !contained.empty() && contained != "0") {
        add(by_status, ", ", contained + " contained");
    }
    return shown_member(counts, "agents") + ": " + by_status + "; " +
           counted(shown_member(counts, "bundles"), "bundle");
}

std::string load_line(const json& info)
{
    constexpr double mebibyte = 1.0 / (1024 * 1024);
    const auto& descriptors = part_of(info, "descriptors");
    return counted(shown_member(info, "in_flight"), "call") + " in flight, " +
           counted(shown_member(info, "connections"), "connection") + ", " +
           short_number(part_of(info, "memory"), "resident", mebibyte) + " MiB, " + shown_member(descriptors, "open") +
           " of " + shown_member(descriptors, "limit") + " descriptors, overload " +
           shown_member(part_of(info, "overload"), "level") + " of 3";
}

std::string files_line(const json& info)
{
    const auto& store = part_of(info, "store");
    const auto& reload = part_of(info, "reload");
    std::string out = "reload " + shown_member(reload, "outcome") + " (" + shown_member(reload, "trigger") + ", " +
                      shown_member(reload, "at") + "); store " + shown_member(store, "kind") +
                      (part_of(store, "ok") == true ? " ok" : " fails (" + shown_member(store, "failure") + ")");
    std::string certificates;
    for (const auto& each : part_of(info, "certificates")) {
        add(certificates, ", ", shown_member(each, "file") + " " + counted(shown_member(each, "days"), "day"));
    }
    add(out, "; ", certificates.empty() ? certificates : "certificates " + certificates);
    return out;
}

std::string attention_lines(const json& info)
{
    const auto& all = part_of(info, "attention");
    if (all.empty()) {
        return "Nothing needs you.\n";
    }
    std::string out = "Needs attention:\n";
    for (const auto& each : all) {
        auto severity = shown_member(each, "severity");
        severity.resize(std::max(severity.size(), std::string_view{"critical"}.size()), ' ');
        out += "  " + severity + "  " + shown_member(each, "subject") + ": " + shown_member(each, "why") + " " +
               shown_member(each, "advice") + "\n";
    }
    return out;
}

// The next key of a path. One with a dot stands in it as a JSON string.
std::string take_key(std::string_view& path)
{
    auto end = path.find('.');
    std::string key{path.substr(0, end)};
    if (path.starts_with('"')) {
        end = 1;
        while (end < path.size() && path[end] != '"') {
            end += path[end] == '\\' ? 2 : 1;
        }
        const auto read = core::parse_json(path.substr(0, ++end));
        key = read && read->is_string() ? read->get<std::string>() : key;
    }
    path.remove_prefix(end < path.size() ? end + 1 : path.size());
    return key;
}

}  // namespace

std::string info_text(const json& info)
{
    constexpr std::size_t width = 11;
    const std::array<std::pair<std::string, std::string>, 5> lines{{
        {"Cardea",
         shown_member(info, "version") + ", process " + shown_member(info, "process") + ", started " +
             shown_member(info, "started")},
        {"Listeners", listeners_line(info)},
        {"Agents", agents_line(info)},
        {"Load", load_line(info)},
        {"Files", files_line(info)},
    }};
    std::string out;
    for (auto [name, text] : lines) {
        name.resize(width, ' ');
        out += model::printable(name + text) + "\n";
    }
    return out + "\n" + model::printable(attention_lines(info), /*lines=*/true);
}

std::string calls_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"ID", "STATUS", "CALLS/MIN", "FAILED", "P99", "WHY"}};
    for (const auto& agent : part_of(found, "agents")) {
        rows.push_back(
            {shown_member(agent, "id"),
             shown_member(agent, "status"),
             short_number(agent, "calls_per_minute"),
             with_unit(short_number(agent, "failed_ratio", 100), " %"),
             with_unit(short_number(agent, "p99_ms"), " ms"),
             shown_member(agent, "why")}
        );
    }
    return rows.size() == 1 ? "No agents.\n" : model::shown_table(rows);
}

std::string edges_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"CALLER", "PROVIDER", "AGENT", "CALLS", "FAILED", "REFUSED", "LAST"}};
    for (const auto& each : part_of(found, "edges")) {
        const auto principal = shown_member(each, "principal");
        const auto agent = shown_member(each, "caller");
        auto caller = principal.empty() ? "(no credential)" : principal;
        if (!agent.empty()) {
            caller.insert(0, agent + " (").append(")");
        }
        rows.push_back(
            {std::move(caller),
             shown_member(each, "provider"),
             shown_member(each, "agent"),
             shown_member(each, "calls"),
             shown_member(each, "failed"),
             shown_member(each, "refused"),
             shown_member(each, "last")}
        );
    }
    if (rows.size() == 1) {
        return "No calls since the start.\n";
    }
    const auto shown = std::to_string(rows.size() - 1);
    const auto total = shown_member(found, "total");
    const auto rest = total == shown ? std::string{} : "These are " + shown + " of " + total + ".\n";
    return model::shown_table(rows) + rest;
}

std::string replicas_table(const json& found)
{
    constexpr std::size_t enough = 12;  // of a hash, to tell two apart
    std::vector<std::vector<std::string>> rows{{"NAME", "ID", "VERSION", "CONFIGURATION", "APPLIED", "SILENT", "URL"}};
    for (const auto& each : part_of(found, "replicas")) {
        rows.push_back(
            {shown_member(each, "name") + (part_of(each, "self") == true ? " *" : ""),
             shown_member(each, "id"),
             shown_member(each, "version"),
             shown_member(each, "configuration").substr(0, enough),
             shown_member(each, "applied"),
             with_unit(shown_member(each, "silent_seconds"), " s"),
             shown_member(each, "url")}
        );
    }
    return rows.size() == 1 ? "The store of this gateway is not shared.\n" : model::shown_table(rows);
}

std::string reload_text(const json& report)
{
    const auto& agents = part_of(report, "agents");
    const auto lists = [](const json& of, std::string_view word) {
        std::string out;
        for (const auto& each : of) {
            out += "  " + std::string{word} + " " + (each.is_string() ? each.get<std::string>() : core::to_text(each)) +
                   "\n";
        }
        return out;
    };
    const auto count = [&](std::string_view key) { return std::to_string(part_of(agents, key).size()); };
    std::string out = "Reloaded; agents: " + count("added") + " added, " + count("changed") + " changed, " +
                      count("removed") + " removed, " + shown_member(agents, "unchanged") + " unchanged.\n";
    out += lists(part_of(agents, "added"), "added agent");
    for (const auto& each : part_of(agents, "changed")) {
        std::string keys;
        for (const auto& key : part_of(each, "keys")) {
            add(keys, ", ", key.is_string() ? key.get<std::string>() : core::to_text(key));
        }
        out += "  changed agent " + shown_member(each, "id") + ": " + keys + "\n";
    }
    out += lists(part_of(agents, "removed"), "removed agent");
    out += lists(part_of(report, "settings"), "changed setting");
    out += lists(part_of(report, "needs_restart"), "needs a restart:");
    return model::printable(out + lists(part_of(report, "warnings"), "warning:"), /*lines=*/true);
}

json dump_of(const json& configuration)
{
    auto out = json::object();
    for (const auto& each : part_of(configuration, "values")) {
        const auto path = shown_member(each, "path");
        auto* at = &out;
        for (std::string_view rest = path; !rest.empty();) {
            if (!at->is_object()) {
                *at = json::object();
            }
            at = &(*at)[take_key(rest)];
        }
        *at = {{"value", part_of(each, "value")}, {"origin", shown_member(each, "origin")}};
    }
    return out;
}

}  // namespace gateway::cli
