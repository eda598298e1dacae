#include "mcp/bundle/opening.hpp"

#include "core/json/json_writer.hpp"
#include "core/utf8.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/legacy_messages.hpp"

#include <algorithm>

namespace mcp {
namespace {

// The capabilities of all members together.
struct joined_capabilities {
    bool tools = false;
    bool prompts = false;
    bool resources = false;
    bool subscribe = false;
    bool completions = false;
    bool logging = false;
    bool tasks = false;

    void add_all() { tools = prompts = resources = subscribe = completions = logging = true; }

    void add(const server_facts& facts, era client)
    {
        const auto declared = members_of(facts.capabilities);
        const auto has = [&declared](std::string_view name) { return !declared.object(name).empty(); };
        tools |= facts.offers[index_of(list_kind::tools)];
        prompts |= facts.offers[index_of(list_kind::prompts)];
        resources |= facts.offers[index_of(list_kind::resources)] || facts.offers[index_of(list_kind::templates)];
        completions |= has("completions");
        logging |= has("logging");
        const bool reaches = client == era::legacy || facts.speaks == era::modern;
        subscribe |= reaches && members_of(declared.object("resources")).find("subscribe") == "true";
    }
};

joined_capabilities joined(std::span<const opening_member> members, const opening_words& words, era client)
{
    joined_capabilities all;
    all.tools = words.lists_tools;
    for (const auto& each : members) {
        if (each.facts == nullptr) {
            all.add_all();
        } else {
            all.add(*each.facts, client);
        }
        all.tasks |= each.has_tasks && client == era::modern;
    }
    return all;
}

void write_object(core::json_writer& out, std::string_view name, std::string_view members)
{
    out.name(name);
    out.open('{');
    out.raw(members);
    out.close('}');
}

void write_capabilities(core::json_writer& out, const joined_capabilities& all)
{
    constexpr std::string_view changes = R"("listChanged":true)";
    out.name("capabilities");
    out.open('{');
    if (all.tools) {
        write_object(out, "tools", changes);
    }
    if (all.prompts) {
        write_object(out, "prompts", changes);
    }
    if (all.resources) {
        write_object(out, "resources", all.subscribe ? R"("subscribe":true,"listChanged":true)" : changes);
    }
    if (all.completions) {
        write_object(out, "completions", {});
    }
    if (all.logging) {
        write_object(out, "logging", {});
    }
    if (all.tasks) {
        out.name("extensions");
        out.open('{');
        write_object(out, tasks_extension, {});
        out.close('}');
    }
    out.close('}');
}

std::string instructions_of(std::span<const opening_member> members, const opening_words& words)
{
    if (!words.instructions.empty()) {
        return std::string{words.instructions};
    }
    std::string all;
    for (const auto& each : members) {
        if (each.facts == nullptr || each.facts->instructions.empty() || all.size() > longest_bundle_instructions) {
            continue;
        }
        all.append(all.empty() ? "## " : "\n\n## ").append(each.title.empty() ? each.id : each.title);
        all.append("\n\n").append(each.facts->instructions);
    }
    all.resize(core::cut_utf8(all, longest_bundle_instructions).size());
    return all;
}

void write_unavailable(core::json_writer& out, std::span<const opening_member> members)
{
    if (std::ranges::none_of(members, &opening_member::unavailable)) {
        return;
    }
    out.name("cardea/unavailable");
    out.open('[');
    for (const auto& each : members) {
        if (each.unavailable) {
            out.value(each.id);
        }
    }
    out.close(']');
}

}  // namespace

std::string bundle_info(const opening_words& words)
{
    std::string info;
    core::json_writer out{info, '{'};
    out.member("name", std::string{"cardea/"}.append(words.bundle));
    out.member_if_any("title", words.title);
    out.member("version", words.version);
    out.close('}');
    return info;
}

void append_initialize_result(
    std::string& out,
    std::string_view asked,
    std::span<const opening_member> members,
    const opening_words& words
)
{
    core::json_writer result{out, '{'};
    result.member("protocolVersion", agreed_version(asked));
    write_capabilities(result, joined(members, words, era::legacy));
    result.raw_member("serverInfo", bundle_info(words));
    result.member_if_any("instructions", instructions_of(members, words));
    if (std::ranges::any_of(members, &opening_member::unavailable)) {
        result.name("_meta");
        result.open('{');
        write_unavailable(result, members);
        result.close('}');
    }
    result.close('}');
}

void append_discover_result(std::string& out, std::span<const opening_member> members, const opening_words& words)
{
    core::json_writer result{out, '{'};
    result.member("resultType", "complete");
    result.name("supportedVersions");
    result.open('[');
    for (const auto each : modern_versions) {
        result.value(each);
    }
    result.close(']');
    write_capabilities(result, joined(members, words, era::modern));
    result.member_if_any("instructions", instructions_of(members, words));
    result.member("ttlMs", 0);
    result.member("cacheScope", "private");
    result.name("_meta");
    result.open('{');
    result.raw_member("io.modelcontextprotocol/serverInfo", bundle_info(words));
    write_unavailable(result, members);
    result.close('}');
    result.close('}');
}

}  // namespace mcp
