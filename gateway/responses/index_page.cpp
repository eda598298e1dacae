#include "gateway/responses/index_page.hpp"

#include "core/ascii.hpp"
#include "core/json/json_writer.hpp"

#include <algorithm>
#include <string>

namespace gateway::responses {
namespace {

constexpr std::string_view product = "Cardea";
constexpr std::string_view purpose = "a gateway for A2A agents and MCP servers";
constexpr std::string_view documentation = "docs/reference.md";

bool wants_json(const net::http1::request_head& asked)
{
    return std::any_of(asked.fields.begin(), asked.fields.end(), [](const net::http1::field& line) {
        return core::equal_ignoring_case(line.name, "Accept") &&
               core::find_ignoring_case(line.value, "application/json") != std::string_view::npos;
    });
}

void pad(std::string& out, std::string_view text, std::size_t width)
{
    out += text;
    out.append(width + 2 - text.size(), ' ');
}

std::string as_text(std::string_view version, std::span<const index_route> routes)
{
    std::size_t methods = 0;
    std::size_t paths = 0;
    for (const auto& each : routes) {
        methods = std::max(methods, each.method.size());
        paths = std::max(paths, each.path.size());
    }
    std::string out{product};
    if (!version.empty()) {
        (out += ' ') += version;
    }
    ((out += ", ") += purpose) += "\n\n";
    for (const auto& each : routes) {
        pad(out, each.method, methods);
        pad(out, each.path, paths);
        (out += each.purpose) += '\n';
    }
    ((out += "\nDocumentation: ") += documentation) += " of Cardea\n";
    return out;
}

std::string as_json(std::string_view version, std::span<const index_route> routes)
{
    std::string text;
    core::json_writer out{text, '{'};
    out.member("name", product);
    out.member_if_any("version", version);
    out.member("description", purpose);
    out.member("documentation", documentation);
    out.name("routes");
    out.open('[');
    for (const auto& each : routes) {
        out.open('{');
        out.member("method", each.method);
        out.member("path", each.path);
        out.member("purpose", each.purpose);
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return text;
}

}  // namespace

answer
index_answer(const net::http1::request_head& asked, std::string_view version, std::span<const index_route> routes)
{
    const bool json = wants_json(asked);
    answer out;
    out.content_type = json ? "application/json" : "text/plain; charset=utf-8";
    out.fields = "Cache-Control: no-store\r\nVary: Accept\r\n";
    out.body = json ? as_json(version, routes) : as_text(version, routes);
    return out;
}

}  // namespace gateway::responses
