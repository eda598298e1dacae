// Any message as a server's list under any filter, of which the first five lines are a pattern to allow, one to deny, a name,
// its other name, and a description: what callers get is what an edit of the parsed document gives, and each name that they see
// leads back to the server's. The rest, as a request, goes on under a name that the filter shows, or not at all.
#include "core/json/ambiguity.hpp"
#include "core/json/json.hpp"
#include "core/utf8.hpp"
#include "mcp/calls/list_edit.hpp"
#include "mcp/calls/name_filter.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using tests::require;

namespace {

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const auto first = core::first_code_point(text);
        if (first.value == core::replacement_point && first.bytes == 1) {
            return false;
        }
        text.remove_prefix(first.bytes);
    }
    return true;
}

core::mcp_filter take_filter(std::string_view& text)
{
    core::mcp_filter filter;
    if (const auto pattern = take_line(text); !pattern.empty()) {
        filter.allow.emplace_back(pattern);
    }
    if (const auto pattern = take_line(text); !pattern.empty()) {
        filter.deny.emplace_back(pattern);
    }
    const std::string name{take_line(text)};
    const std::string other{take_line(text)};
    filter.names.emplace_back(name, other);
    if (const auto description = take_line(text); !description.empty()) {
        filter.descriptions.emplace_back(other, description);
    }
    return filter;
}

// What is known of a list: where it stands, and what names an entry.
struct list_words {
    mcp::list_kind list;
    const char* member;
    const char* key;
};

constexpr auto lists = std::to_array<list_words>({
    {mcp::list_kind::tools, "tools", "name"},
    {mcp::list_kind::prompts, "prompts", "name"},
    {mcp::list_kind::resources, "resources", "uri"},
    {mcp::list_kind::templates, "resourceTemplates", "uriTemplate"},
});

void edit_document(nlohmann::json& document, const mcp::name_filter& filter, const list_words& words)
{
    if (!document.contains("result") || !document["result"].is_object() || !document["result"].contains(words.member) ||
        !document["result"][words.member].is_array()) {
        return;
    }
    auto kept = nlohmann::json::array();
    std::set<std::string> seen;
    for (auto& entry : document["result"][words.member]) {
        if (!entry.is_object() || !entry.contains(words.key) || !entry[words.key].is_string()) {
            continue;
        }
        const auto name = entry[words.key].get<std::string>();
        const auto shown = filter.exposed(name);
        if (!shown || !seen.emplace(*shown).second) {
            continue;
        }
        entry[words.key] = std::string{*shown};
        if (const auto description = filter.description(*shown)) {
            entry["description"] = std::string{*description};
        }
        kept.push_back(entry);
    }
    document["result"][words.member] = kept;
}

void check_list(const mcp::name_filter& filter, const list_words& words, std::string_view message)
{
    const auto edit = mcp::edit_list(filter, words.list, message);
    if (!edit) {
        require(edit.error().code == core::errc::upstream_protocol, "a refusal has one code", message);
        return;
    }
    const auto again = mcp::edit_list(mcp::name_filter{}, words.list, edit->text);
    require(again.has_value() && again->text == edit->text, "what callers get is a list", message, edit->text);
    // A name twice in one object is one that the document does not have.
    const auto parsed = core::parse_json(message, {.bytes = message.size()});
    if (!parsed || core::ambiguity(message)) {
        return;
    }
    auto expected = nlohmann::json::parse(message);
    edit_document(expected, filter, words);
    const auto got = nlohmann::json::parse(edit->text, nullptr, false);
    require(got == expected, "callers get what an edit of the document gives", message, edit->text);
}

void check_names(const mcp::name_filter& filter, std::string_view name)
{
    if (const auto shown = filter.exposed(name)) {
        require(filter.original(*shown) == name, "a name that callers see leads to the server's", name, *shown);
    }
    if (const auto original = filter.original(name)) {
        require(filter.exposed(*original) == name, "the server's name is seen as what leads to it", name, *original);
    }
}

void check_call(const core::mcp_filter& filter, std::string_view body)
{
    const auto read = mcp::read_incoming(body);
    if (read.problem) {
        return;
    }
    core::mcp_server server;
    server.tools = server.prompts = server.resources = filter;
    const mcp::name_filters filters{server};
    const auto edit = mcp::admit(filters, read.message, body);
    const auto target = mcp::target_of(read.message.method);
    if (!target || *target == mcp::routed::task) {
        return;
    }
    std::string room;
    const auto name = read.message.text(*target, body, room);
    const auto expected = name ? filters.tools.original(*name) : std::nullopt;
    require(edit.has_value() == expected.has_value(), "only what the filter shows is admitted", body);
    if (!edit) {
        return;
    }
    std::vector<mcp::text_edit> edits;
    if (*edit) {
        edits.push_back(**edit);
    }
    const auto sent = mcp::edited(body, edits);
    const auto again = mcp::read_incoming(sent);
    std::string other_room;
    require(!again.problem, "an admitted call is read again", body, sent);
    require(again.message.text(*target, sent, other_room) == expected, "a call has the server's name", body, sent);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view text{reinterpret_cast<const char*>(data), size};
    auto words = take_filter(text);
    // Texts that are not UTF-8 do not come from a configuration.
    for (const auto& texts : {words.names, words.descriptions}) {
        for (const auto& [name, other] : texts) {
            if (!is_utf8(name) || !is_utf8(other)) {
                return 0;
            }
        }
    }
    const mcp::name_filter filter{words};
    for (const auto& each : lists) {
        check_list(filter, each, text);
    }
    check_names(filter, text);
    check_names(filter, words.names.front().first);
    check_names(filter, words.names.front().second);
    check_call(words, text);
    return 0;
}
