#include "gateway/mcp/shared/shared_answers.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/modern_answer.hpp"

namespace gateway::mcp::shared {
namespace {

std::string extensions_of(std::string_view raw)
{
    const auto all = ::mcp::members_of(raw);
    std::string kept = "{";
    for (const auto& each : all.members()) {
        if (each.name != "io.modelcontextprotocol/tasks") {
            ::mcp::append_member(kept, each.name, each.value);
        }
    }
    ::mcp::close(kept, '}');
    return kept;
}

// Without tasks of either era.
std::string capabilities_of(const ::mcp::server_facts& server)
{
    const auto all = ::mcp::members_of(server.capabilities);
    std::string kept = "{";
    for (const auto& each : all.members()) {
        if (each.name == "extensions") {
            ::mcp::append_member(kept, each.name, extensions_of(each.value));
        } else if (each.name != "tasks") {
            ::mcp::append_member(kept, each.name, each.value);
        }
    }
    ::mcp::close(kept, '}');
    return kept;
}

}  // namespace

std::string_view common_version(std::string_view asked, std::string_view spoken) noexcept
{
    const bool older = asked < spoken;  // they are dates
    return ::mcp::era_of(asked) == ::mcp::era::legacy && older ? asked : spoken;
}

std::string initialize_answer(std::string_view id, std::string_view version, const ::mcp::server_facts& server)
{
    std::string result = "{";
    ::mcp::append_text_member(result, "protocolVersion", version);
    ::mcp::append_member(result, "capabilities", capabilities_of(server));
    ::mcp::append_member(result, "serverInfo", server.info);
    if (!server.instructions.empty()) {
        ::mcp::append_text_member(result, "instructions", server.instructions);
    }
    ::mcp::close(result, '}');
    return answer_with(id, "result", result);
}

std::string discover_answer(std::string_view id, const ::mcp::server_facts& server)
{
    std::string versions = "[";
    for (const auto each : ::mcp::modern_versions) {
        versions.append(1, '"').append(each).append("\",");
    }
    ::mcp::close(versions, ']');
    std::string meta = "{";
    ::mcp::append_member(meta, "io.modelcontextprotocol/serverInfo", server.info);
    ::mcp::close(meta, '}');
    std::string result = "{";
    ::mcp::append_member(result, "supportedVersions", versions);
    ::mcp::append_member(result, "capabilities", capabilities_of(server));
    if (!server.instructions.empty()) {
        ::mcp::append_text_member(result, "instructions", server.instructions);
    }
    ::mcp::append_member(result, "_meta", meta);
    ::mcp::close(result, '}');
    return ::mcp::modern_answer(::mcp::client_method::discover, answer_with(id, "result", result));
}

std::optional<std::string> answer_here(const ::mcp::client_message& request)
{
    if (request.method == "ping" || request.method == "logging/setLevel") {
        return answer_with(request.id, "result", "{}");
    }
    if (request.method.starts_with("tasks/")) {
        return answer_with(request.id, "error", R"({"code":-32601,"message":"A shared session has no tasks"})");
    }
    return std::nullopt;
}

std::string answer_with(std::string_view id, std::string_view member, std::string_view raw)
{
    std::string text = R"({"jsonrpc":"2.0",)";
    ::mcp::append_member(text, "id", id);
    ::mcp::append_member(text, member, raw);
    ::mcp::close(text, '}');
    return text;
}

}  // namespace gateway::mcp::shared
