#include "gateway/cli/card_lint_command.hpp"

#include "config/file.hpp"
#include "config/settings.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/model/call_address.hpp"
#include "gateway/model/terminal_text.hpp"

#include <algorithm>
#include <utility>

namespace gateway::cli {
namespace {

core::result<net::fetch_response> fetch(const std::string& url)
{
    const config::card_settings limits;
    net::fetch_request request;
    request.url = url;
    request.headers.emplace_back("Accept", "application/json");
    request.max_size = limits.max_size;
    request.timeout = limits.timeout;
    request.connect_timeout = config::timeout_settings{}.connect;
    return fetch_once(std::move(request));
}

bool is_url(const std::string& source)
{
    return source.starts_with("http://") || source.starts_with("https://");
}

std::string counted(std::size_t count, const std::string& noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

core::result<std::string> read_card(const std::string& source)
{
    if (!is_url(source)) {
        return config::read_file(source, config::card_settings{}.max_size);
    }
    auto answer = fetch(source);
    if (!answer) {
        auto why = std::move(answer).error();
        why.detail = std::string{core::message(why.code)} + (why.detail.empty() ? "" : " (" + why.detail + ")");
        return why;
    }
    if (answer->status != 200) {
        return core::upstream_error(
            core::errc::upstream_status,
            "answered with status " + std::to_string(answer->status)
        );
    }
    return std::move(answer->body);
}

::a2a::lint_report lint_found_card(const std::string& text, const std::string& source)
{
    auto report = ::a2a::lint_card(text);
    if (!is_url(source) || !report.generation) {
        return report;
    }
    // The agent as if it were registered with the URL above the well-known path.
    core::agent agent;
    agent.url = source.substr(0, source.find("/.well-known/"));
    agent.card_url = source;
    agent.trust = core::card_trust::same_origin;
    const auto card = core::parse_json(text);
    auto address = card ? model::call_address_of(agent, *card, source) : model::call_address{};
    if (address.problem) {
        const auto notes =
            std::ranges::find(report.problems, ::a2a::problem_severity::note, &::a2a::card_problem::severity);
        report.problems.insert(notes, std::move(*address.problem));
    }
    return report;
}

std::string lint_text(const ::a2a::lint_report& report, const std::string& source, bool explain)
{
    using enum ::a2a::problem_severity;
    std::string text;
    for (const auto& each : report.problems) {
        text.append(::a2a::name(each.severity)).append(": ");
        text += each.path.empty() ? "card" : model::printable(each.path);
        text += ": " + model::printable(each.what);
        if (explain && report.generation) {
            text += "\n    " + ::a2a::specification_section(each.path, *report.generation);
        }
        text += '\n';
    }
    text += model::printable(source) + ": ";
    text += report.generation ? "a card of shape " + std::string{::a2a::name(*report.generation)} : "not a card";
    return text + "; " + counted(report.count(error), "error") + ", " + counted(report.count(warning), "warning") +
           ", " + counted(report.count(note), "note") + "\n";
}

}  // namespace gateway::cli
