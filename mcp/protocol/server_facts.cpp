#include "mcp/protocol/server_facts.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace mcp {
namespace {

constexpr std::size_t most_icons = 16;
constexpr std::size_t most_versions = 64;

// The capability that announces such lists.
constexpr std::array<std::pair<list_kind, std::string_view>, list_kinds> list_members{{
    {list_kind::tools, "tools"},
    {list_kind::resources, "resources"},
    {list_kind::templates, "resources"},
    {list_kind::prompts, "prompts"},
}};

core::error refused(std::string_view why)
{
    return core::upstream_error(core::errc::upstream_protocol, std::string{why});
}

core::result<raw_object> read_result(std::string_view raw)
{
    if (raw.size() > longest_handshake) {
        return refused("the result of the handshake is over 256 KiB");
    }
    auto read = raw_object::read(raw);
    if (!read) {
        return refused("the result of the handshake: " + read.error().detail);
    }
    return read;
}

std::vector<std::string> icons_of(std::string_view raw)
{
    std::vector<std::string> found;
    const auto elements = core::scan_elements(raw, most_icons);
    if (!elements) {
        return found;
    }
    for (const auto each : elements->raw) {
        if (const auto icon = raw_object::read(each)) {
            if (auto src = icon->text("src"); !src.empty()) {
                found.push_back(std::move(src));
            }
        }
    }
    return found;
}

void read_info(server_facts& facts, std::string_view raw)
{
    const auto info = raw_object::read(raw);
    auto text = info ? usable(raw, deepest_fact) : info.error();
    if (!text) {
        return;
    }
    facts.info = std::move(*text);
    facts.name = info->text("name");
    facts.title = info->text("title");
    facts.version = info->text("version");
    facts.description = info->text("description");
    facts.website = info->text("websiteUrl");
    facts.icons = icons_of(info->find("icons"));
}

core::result<server_facts> read_common(const raw_object& result, std::string_view info, server_facts facts)
{
    if (const auto raw = result.object("capabilities"); !raw.empty()) {
        const auto capabilities = raw_object::read(raw);
        auto text = capabilities ? usable(raw, deepest_fact) : capabilities.error();
        if (!text) {
            return refused("capabilities: " + text.error().detail);
        }
        facts.capabilities = std::move(*text);
        for (const auto& [list, name] : list_members) {
            const auto said = capabilities->find(name);
            facts.offers[index_of(list)] = is_object(said);
            facts.undeclared[index_of(list)] = !said.empty() && !is_object(said) && said != "null" && said != "false";
        }
        facts.announces = announced_lists(raw);
    }
    if (const auto declared = core::count_members(facts.capabilities); !declared || *declared == 0) {
        facts.undeclared.set(index_of(list_kind::tools));  // such servers have tools, if anything
    }
    facts.instructions = result.text("instructions");
    if (!info.empty()) {
        read_info(facts, info);
    }
    return facts;
}

constexpr std::int64_t header_mismatch = -32020;
constexpr std::int64_t capability_missing = -32021;
constexpr std::int64_t invalid_request = -32600;
constexpr std::size_t longest_words = 4096;  // of an error's, that are searched

struct named_versions {
    bool modern = false;
    bool legacy = false;
};

named_versions versions_in(std::string_view list)
{
    named_versions named;
    const auto elements = core::scan_elements(list, most_versions);
    if (!elements) {
        return named;
    }
    for (const auto each : elements->raw) {
        const auto speaks = era_of(text_of(each).value_or(std::string{}));
        named.modern = named.modern || speaks == era::modern;
        named.legacy = named.legacy || speaks == era::legacy;
    }
    return named;
}

bool mentions(std::string_view text, std::string_view word)
{
    return !std::ranges::search(text.substr(0, longest_words), word, {}, core::lower).empty();
}

}  // namespace

list_set announced_lists(std::string_view capabilities)
{
    list_set announced;
    const auto members = members_of(capabilities);
    for (const auto& [list, name] : list_members) {
        announced[index_of(list)] = members_of(members.object(name)).find("listChanged") == "true";
    }
    return announced;
}

core::result<server_facts> read_initialize_result(std::string_view raw)
{
    const auto result = read_result(raw);
    if (!result) {
        return result.error();
    }
    server_facts facts;
    facts.protocol_version = result->text("protocolVersion");
    if (era_of(facts.protocol_version) != era::legacy) {
        return refused("no version in common: the server answered initialize with " + facts.protocol_version);
    }
    return read_common(*result, result->object("serverInfo"), std::move(facts));
}

core::result<server_facts> read_discover_result(std::string_view raw)
{
    const auto result = read_result(raw);
    if (!result) {
        return result.error();
    }
    server_facts facts;
    facts.speaks = era::modern;
    if (const auto offered = core::scan_elements(result->find("supportedVersions"), most_versions)) {
        const auto named = [&](std::string_view version) {
            return std::ranges::any_of(offered->raw, [&](std::string_view each) { return text_of(each) == version; });
        };
        const auto* found = std::ranges::find_if(modern_versions, named);
        facts.protocol_version = found == modern_versions.end() ? std::string_view{} : *found;
    }
    if (facts.protocol_version.empty()) {
        return refused("no version in common: see supportedVersions of server/discover");
    }
    std::string_view info;
    const auto meta = raw_object::read(result->find("_meta"));
    if (meta) {
        info = meta->object("io.modelcontextprotocol/serverInfo");
    }
    return read_common(*result, info, std::move(facts));
}

era era_of_answer(const message& answer)
{
    if (answer.kind == message_kind::result) {
        if (answer.result.size() > longest_handshake) {
            return era::modern;  // whose handshake refuses it, and says why
        }
        return versions_in(members_of(answer.result).find("supportedVersions")).modern ? era::modern : era::legacy;
    }
    const auto code = answer.failure.code;
    if (answer.kind != message_kind::failure || code > header_mismatch || code < unsupported_version) {
        return era::legacy;
    }
    const bool too_long = answer.failure.data.size() > longest_handshake;
    const auto named = too_long ? named_versions{} : versions_in(members_of(answer.failure.data).find("supported"));
    return named.legacy && !named.modern ? era::legacy : era::modern;
}

bool says_modern_only(std::string_view answer)
{
    const auto code = integer_of<std::int64_t>(members_of(members_of(answer).object("error")).find("code"));
    return code == unsupported_version || code == method_not_found || code == header_mismatch ||
           code == capability_missing;
}

std::optional<era> era_of_http_answer(unsigned status, const message* answer)
{
    const bool silent = (status >= 300 && status < 400) || status >= 500 || status == 401 || status == 403 ||
                        status == 408 || status == 425 || status == 429;
    if (silent) {
        return std::nullopt;
    }
    return answer == nullptr ? era::legacy : era_of_answer(*answer);
}

std::optional<era> other_era(const message& answer, era spoken)
{
    if (answer.kind != message_kind::failure || answer.failure.code == internal_error) {
        return std::nullopt;
    }
    const auto& failure = answer.failure;
    if (spoken == era::legacy) {
        return era_of_answer(answer) == era::modern ? std::optional{era::modern} : std::nullopt;
    }
    if (failure.code >= unsupported_version && failure.code <= header_mismatch) {
        return era_of_answer(answer) == era::legacy ? std::optional{era::legacy} : std::nullopt;
    }
    // The SDKs of the legacy era answer so, with codes that the modern one does not use for that.
    constexpr std::array words{"session", "not initialized", "initialization", "protocol version"};
    const bool code = failure.code == -32000 || failure.code == -32001 || failure.code == invalid_request;
    const bool speaks_of_it =
        std::ranges::any_of(words, [&failure](std::string_view word) { return mentions(failure.text, word); });
    return code && speaks_of_it ? std::optional{era::legacy} : std::nullopt;
}

bool says_session_lost(unsigned status, const message* answer) noexcept
{
    const bool failed = answer != nullptr && answer->kind == message_kind::failure;
    if (status != 400 || !failed) {
        const bool knows_session =
            failed && (answer->failure.code == method_not_found || answer->failure.code == invalid_params);
        return status == 404 && !knows_session;
    }
    const auto& failure = answer->failure;
    const bool private_code = failure.code == -32000 || failure.code == -32001;
    return private_code && (mentions(failure.text, "session") || mentions(failure.text, "not initialized"));
}

}  // namespace mcp
