#include "mcp/bundle/answers.hpp"

#include "core/base64.hpp"
#include "core/json/json_writer.hpp"
#include "core/utf8.hpp"
#include "mcp/bridge/agent_tools.hpp"
#include "mcp/calls/list_edit.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/legacy_messages.hpp"

#include <algorithm>
#include <array>

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

std::vector<std::string> unavailable_of(std::span<const opening_member> members)
{
    std::vector<std::string> ids;
    for (const auto& each : members) {
        if (each.unavailable) {
            ids.emplace_back(each.id);
        }
    }
    return ids;
}

// `info`: raw serverInfo of the modern era; empty: none.
void write_meta(core::json_writer& result, std::string_view info, std::span<const std::string> unavailable)
{
    if (info.empty() && unavailable.empty()) {
        return;
    }
    result.name("_meta");
    result.open('{');
    result.raw_member_if_any("io.modelcontextprotocol/serverInfo", info);
    if (!unavailable.empty()) {
        result.name("cardea/unavailable");
        result.open('[');
        for (const auto& id : unavailable) {
            result.value(id);
        }
        result.close(']');
    }
    result.close('}');
}

// The last entry of a page, and where it was, for the case that it has gone.
struct page_end {
    bundle_catalog::place was;
    std::string_view as;
    std::string_view own;
};

constexpr char cursor_break = '\0';

std::string cursor_of(list_kind list, const page_end& end)
{
    std::string text;
    for (const auto number : {index_of(list), end.was.member, end.was.index}) {
        text.append(std::to_string(number)) += cursor_break;
    }
    return core::base64url(text.append(end.as).append(1, cursor_break).append(end.own));
}

core::error unknown_cursor()
{
    return core::caller_error(core::errc::invalid_params, "a cursor that no page of this list had");
}

// The place behind the last entry. One that has gone leaves its place to the next one, and so does a member.
core::result<bundle_catalog::place> start_behind(std::string_view cursor, list_kind list, const bundle_catalog& catalog)
{
    const auto text = core::from_base64url(cursor);
    if (!text) {
        return unknown_cursor();
    }
    std::array<std::string_view, 4> fields;  // and the name behind them
    std::string_view rest = *text;
    for (auto& field : fields) {
        const auto end = rest.find(cursor_break);
        if (end == std::string_view::npos) {
            return unknown_cursor();
        }
        field = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    const auto of_list = integer_of<std::size_t>(fields[0]);
    const auto member = integer_of<std::size_t>(fields[1]);
    const auto index = integer_of<std::size_t>(fields[2]);
    const auto as = fields[3];
    if (of_list != index_of(list) || !member || !index || rest.empty()) {
        return unknown_cursor();
    }
    const auto& members = catalog.members();
    const auto found = std::ranges::find(members, as, [](const auto& each) -> std::string_view { return each->as(); });
    if (found == members.end()) {
        return bundle_catalog::place{*member, 0};
    }
    const auto place = (*found)->place_of(list, rest);
    return bundle_catalog::place{static_cast<std::size_t>(found - members.begin()), place ? *place + 1 : *index};
}

}  // namespace

std::string bundle_info(std::string_view bundle, std::string_view version)
{
    std::string info;
    core::json_writer out{info, '{'};
    out.member("name", std::string{"cardea/"}.append(bundle));
    out.member("version", version);
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
    result.raw_member("serverInfo", bundle_info(words.bundle, words.version));
    result.member_if_any("instructions", instructions_of(members, words));
    write_meta(result, {}, unavailable_of(members));
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
    write_meta(result, bundle_info(words.bundle, words.version), unavailable_of(members));
    result.close('}');
}

core::result<> append_page(
    std::string& out,
    const bundle_catalog& catalog,
    const page_question& question,
    const bundle_sight& sight,
    const page_additions& additions
)
{
    bundle_catalog::place start;
    if (question.cursor) {
        const auto behind = start_behind(*question.cursor, question.list, catalog);
        if (!behind) {
            return behind.error();
        }
        start = *behind;
    }
    core::json_writer result{out, '{'};
    result.name(list_member(question.list));
    result.open('[');
    const auto begin = out.size();
    out += question.cursor ? std::string_view{} : additions.front;
    std::optional<page_end> last;  // which a cursor names; the front is none
    std::string next;
    catalog.walk(question.list, sight, start, [&](bundle_catalog::place at, const shown_entry& entry) {
        const auto used = out.size() - begin;
        if (last && used + entry.raw.size() > largest_bundle_page) {
            next = cursor_of(question.list, *last);
            return false;
        }
        out.append(used > 0 ? "," : "").append(entry.raw);
        last = {at, catalog.members()[at.member]->as(), entry.own};
        return true;
    });
    result.close(']');
    result.member_if_any("nextCursor", next);
    const bool modern = question.speaks == era::modern;
    if (modern) {
        result.member("resultType", "complete");
        result.member("ttlMs", 0);
        result.member("cacheScope", "private");
    }
    write_meta(result, modern ? additions.server_info : std::string_view{}, additions.unavailable);
    result.close('}');
    return {};
}

}  // namespace mcp
