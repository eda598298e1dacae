#include "mcp/translation/legacy_answer.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>

namespace mcp {
namespace {

std::string answer(std::string_view id, std::string_view member, std::string_view raw)
{
    std::string out{R"({"jsonrpc":"2.0",)"};
    append_member(out, "id", id);
    append_member(out, member, raw);
    close(out, '}');
    return out;
}

// Both names are required of an `Implementation`.
std::string server_info(const server_facts& facts, std::string_view fallback_name)
{
    if (!facts.name.empty() && !facts.version.empty()) {
        return facts.info;
    }
    std::string out{"{"};
    append_text_member(out, "name", facts.name.empty() ? fallback_name : facts.name);
    append_text_member(out, "version", facts.version.empty() ? "0" : facts.version);
    const auto info = members_of(facts.info);
    for (const auto& each : info.members()) {
        if (each.name != "name" && each.name != "version") {
            append_member(out, each.name, each.value);
        }
    }
    close(out, '}');
    return out;
}

}  // namespace

std::string_view agreed_version(std::string_view asked) noexcept
{
    const auto* const known = std::ranges::find(legacy_versions, asked);
    return known == legacy_versions.end() ? latest(era::legacy) : *known;
}

std::string initialize_answer(
    std::string_view id,
    std::string_view version,
    const server_facts& facts,
    std::string_view fallback_name
)
{
    std::string result{"{"};
    append_text_member(result, "protocolVersion", version);
    append_member(result, "capabilities", facts.capabilities);
    append_member(result, "serverInfo", server_info(facts, fallback_name));
    if (!facts.instructions.empty()) {
        append_text_member(result, "instructions", facts.instructions);
    }
    close(result, '}');
    return answer(id, "result", result);
}

std::string empty_answer(std::string_view id)
{
    return answer(id, "result", "{}");
}

std::string error_answer(std::string_view id, std::int64_t code, std::string_view message)
{
    std::string failure{"{"};
    append_member(failure, "code", std::to_string(code));
    append_text_member(failure, "message", message);
    close(failure, '}');
    return answer(id, "error", failure);
}

}  // namespace mcp
