// Any two names (the first two lines) and any message in a bundle: names differ and fit, whatever the order; URIs and ids lead back; what
// clients get of a message is what an edit of the parsed document gives, also where the message is said not to be worth reading; and cursors
// and subscriptions are served or refused.
#include "core/ascii.hpp"
#include "core/json/ambiguity.hpp"
#include "core/json/json.hpp"
#include "mcp/bundle/answers.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/bundle/listen_split.hpp"
#include "mcp/bundle/names.hpp"
#include "mcp/bundle/origins.hpp"
#include "mcp/bundle/result_edit.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using tests::require;

namespace {

using document = nlohmann::json;

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

void check_names(std::string_view one, std::string_view two)
{
    const auto joined = mcp::joined_name("m", one);
    std::vector<mcp::name_claim> claims{{"m", one}, {"n", one}, {"", joined}};
    if (one != two) {
        claims.push_back({"m", two});
    }
    for (const std::size_t longest : {24U, 48U}) {
        const auto names = mcp::settled_names(claims, longest);
        std::set<std::string> all;
        for (const auto& each : names) {
            const bool fits = std::ranges::all_of(each.exposed, [](char c) {
                return core::is_letter(c) || core::is_digit(c) || c == '_' || c == '-';
            });
            require(fits && each.exposed.size() <= longest, "a name fits", each.exposed);
            require(each.exposed.empty() || all.insert(each.exposed).second, "names differ", each.exposed);
        }
        auto turned = claims;
        std::ranges::reverse(turned);
        auto others = mcp::settled_names(turned, longest);
        std::ranges::reverse(others);
        for (std::size_t i = 0; i < names.size(); ++i) {
            require(names[i].exposed == others[i].exposed, "names do not depend on an order", names[i].exposed);
        }
    }
}

void check_uris(std::string_view one, std::string_view two)
{
    for (const std::string_view scheme : {"m", "a-b", ""}) {
        const auto exposed = mcp::exposed_uri(scheme, one);
        require(mcp::own_uri(scheme, exposed) == one, "a URI leads back", one, exposed);
        if (const auto own = mcp::own_uri(scheme, two)) {
            require(core::equal_ignoring_case(mcp::exposed_uri(scheme, *own), two), "a URI is exposed", two, *own);
        }
    }
    const bool plain = one.find_first_of("{}") == std::string_view::npos && one.size() <= 1024;
    require(!plain || mcp::may_expand_to(one, one), "a template without expressions is its URI", one);
    mcp::may_expand_to(one, two);
}

void expose(document& object, const char* name)
{
    if (object.is_object() && object.contains(name) && object[name].is_string()) {
        object[name] = mcp::exposed_uri("m", object[name].get<std::string>());
    }
}

void each(document& object, const char* name, void (*change)(document&))
{
    if (object.is_object() && object.contains(name) && object[name].is_array()) {
        std::ranges::for_each(object[name], change);
    }
}

void inside(document& object, const char* name, void (*change)(document&))
{
    if (object.is_object() && object.contains(name)) {
        change(object[name]);
    }
}

void expose_meta(document& meta)
{
    inside(meta, "ui", [](document& ui) { expose(ui, "resourceUri"); });
    expose(meta, "ui/resourceUri");
    expose(meta, "openai/outputTemplate");
}

void expose_resource(document& resource)
{
    expose(resource, "uri");
    inside(resource, "_meta", expose_meta);
}

void expose_blocks(document& blocks);

void expose_block(document& block)
{
    const bool typed = block.is_object() && block.contains("type") && block["type"].is_string();
    const auto type = typed ? block["type"].get<std::string>() : std::string{};
    if (type == "resource_link") {
        expose(block, "uri");
    }
    if (type == "resource") {
        inside(block, "resource", expose_resource);
    }
    inside(block, "content", expose_blocks);
    inside(block, "_meta", expose_meta);
}

void expose_blocks(document& blocks)
{
    if (blocks.is_array()) {
        std::ranges::for_each(blocks, expose_block);
    } else {
        expose_block(blocks);
    }
}

void expose_prompt(document& message)
{
    inside(message, "content", expose_blocks);
    inside(message, "_meta", expose_meta);
}

void expose_result(document& result)
{
    inside(result, "content", expose_blocks);
    each(result, "contents", expose_resource);
    each(result, "messages", expose_prompt);
    inside(result, "inputRequests", [](document& questions) {
        if (questions.is_object()) {
            for (auto& question : questions) {
                inside(question, "params", [](document& params) {
                    each(params, "messages", expose_prompt);
                    inside(params, "result", expose_result);
                });
            }
        }
    });
    inside(result, "result", expose_result);
    inside(result, "task", expose_result);
    inside(result, "_meta", expose_meta);
}

void expose_one(document& message)
{
    inside(message, "result", expose_result);
    inside(message, "params", [](document& params) {
        each(params, "messages", expose_prompt);
        inside(params, "result", expose_result);
    });
    if (message.is_object() && message.contains("method") && message["method"] == "notifications/resources/updated") {
        inside(message, "params", [](document& params) { expose(params, "uri"); });
    }
}

void check_edit(std::string_view text)
{
    const auto got = mcp::exposed_message(text, {.scheme = "m"});
    mcp::exposed_message(text, {.scheme = "m", .tasks = true});
    const auto parsed = core::parse_json(text, {.bytes = text.size()});
    if (!parsed || core::ambiguity(text)) {
        return;
    }
    auto expected = document::parse(text);
    if (expected.is_array()) {
        std::ranges::for_each(expected, expose_one);
    } else {
        expose_one(expected);
    }
    const auto edited = document::parse(got.value_or(std::string{text}), nullptr, false);
    require(edited == expected, "clients get what an edit of the document gives", text, got.value_or("nothing"));
    require(got || expected == document::parse(text), "what changes is edited", text);
}

void check_origins(std::string_view text)
{
    if (const auto origin = mcp::origin_of(text)) {
        require(mcp::origin_of(mcp::raw_id_of(*origin)) == origin, "an id leads back", text);
        require(core::check_json(origin->id).has_value(), "an id is JSON", text, origin->id);
    }
    if (const auto origin = mcp::origin_of_event(text)) {
        require(mcp::event_id_of(*origin) == text, "an id of an event is the only one", text);
    }
    const auto named = mcp::with_origin(text, "member", "session");
    require(
        !named || core::check_json(*named, {.bytes = named->size()}).has_value() || !core::check_json(text),
        "a named message is JSON",
        text,
        named.value_or("")
    );
    const auto read = mcp::read_incoming(text);
    if (const auto returned = read.problem ? std::nullopt : mcp::returned_to(read.message, text)) {
        const auto sent = mcp::edited(text, {&returned->edit, 1});
        require(!mcp::read_incoming(sent).problem, "a returned message is one", text, sent);
    }
}

void check_lists(std::string_view one, std::string_view two, std::string_view text)
{
    mcp::server_lists lists;
    const auto item = mcp::read_list_item(text, mcp::list_kind::tools, false);
    if (item.problem.empty() && !item.key.empty()) {
        lists.lists[mcp::index_of(mcp::list_kind::tools)].push_back({item.key, item.raw});
    }
    std::string resource{R"({"uri":)"};
    core::append_json_string(resource, one);
    if (!one.empty()) {
        lists.lists[mcp::index_of(mcp::list_kind::resources)].push_back({std::string{one}, resource + "}"});
        lists.lists[mcp::index_of(mcp::list_kind::templates)].push_back({std::string{one}, R"({"uriTemplate":""})"});
    }
    const auto none = std::make_shared<const mcp::name_filters>();
    const auto member = [&](std::string as) {
        return std::make_shared<const mcp::member_catalog>(&lists, none, none, mcp::member_terms{std::move(as), 24});
    };
    const mcp::bundle_catalog bundle{{member("m"), member("")}};
    const mcp::bundle_sight everything;
    std::string page;
    const auto first = mcp::append_page(page, bundle, {}, everything);
    require(first && core::check_json(page, {.bytes = page.size()}).has_value(), "a page is JSON", page);
    for (std::size_t m = 0; m < 2; ++m) {
        if (const auto* const entry = bundle.at(m, mcp::list_kind::tools, 0)) {
            const auto found = bundle.find_named(mcp::list_kind::tools, entry->exposed, everything);
            require(
                found.to == mcp::reach::one && found.member == m,
                "a listed name leads to its member",
                entry->exposed
            );
            require(mcp::text_of(entry->key.of(entry->raw)) == entry->exposed, "an entry has its name", entry->raw);
        }
    }
    std::string other;
    const auto written = mcp::append_page(other, bundle, {.cursor = two}, everything);
    require(written.has_value() != other.empty(), "a refused page writes nothing", two, other);
    const auto found = bundle.find_uri(two, everything);
    require(two.empty() || found.to != mcp::reach::none, "a member without a prefix has any URI", two);
    if (const auto split = mcp::split_listen(text, bundle, everything)) {
        for (const auto& each : split->members) {
            require(!each.resources.empty(), "a member that is asked has resources", text);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto one = take_line(text);
    const auto two = take_line(text);
    check_names(one, two);
    check_uris(one, two);
    check_edit(text);
    check_origins(text);
    check_origins(two);
    check_lists(one, two, text);
    return 0;
}
