// A tool in the first line, and any message as a list of its server after it. A fingerprint does not depend on how a tool is written, its
// shape does not depend on its description, callers get nothing of the list but the approved tool, and what the store has is read as it was
// written.
#include "core/json/canonical_json.hpp"
#include "core/json/json.hpp"
#include "mcp/calls/list_edit.hpp"
#include "mcp/pins/definition.hpp"
#include "mcp/pins/pin_ledger.hpp"
#include "mcp/pins/pinned_server.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

using tests::require;

namespace {

void check_print(std::string_view raw, const mcp::tool_print& print)
{
    auto tool = core::parse_json(raw, {.bytes = raw.size(), .members = 10000});
    require(tool.has_value() && tool->is_object(), "what has a fingerprint is an object", raw);
    const auto written = core::canonical_json(*tool);
    const auto again = mcp::print_of_tool(written);
    require(again && *again == print, "a fingerprint does not depend on how a tool is written", raw, written);
    const auto counted = core::to_text(mcp::counted_tool(*tool));
    const auto lean = mcp::print_of_tool(counted);
    require(lean && *lean == print, "members that do not count do not change the fingerprint", raw, counted);
    const auto* description = core::member(*tool, "description");
    if (description == nullptr || description->is_string() || description->is_null()) {
        (*tool)["description"] = "Another \n text.";
        const auto reworded = mcp::print_of_tool(core::to_text(*tool));
        require(reworded && reworded->shape == print.shape, "a shape does not depend on words", raw);
    }
}

void check_list(const mcp::pinned_server& pins, const std::string& approved, std::string_view message)
{
    const auto edit = mcp::edit_list({}, pins, message, nullptr);
    if (!edit) {
        require(edit.error().code == core::errc::upstream_protocol, "a refusal has one code", message);
        return;
    }
    const auto result = mcp::members_of(edit->text).object("result");
    const auto tools = mcp::members_of(result).find("tools");
    if (mcp::is_array(tools)) {
        require(
            tools.find('{') == tools.npos || tools.find(approved) != tools.npos,
            "callers get the approved form alone",
            message,
            edit->text
        );
    }
}

void check_ledger(const mcp::listed_item& tool, std::string_view message)
{
    mcp::server_lists lists;
    lists.server.instructions = message;
    lists.lists[mcp::index_of(mcp::list_kind::tools)] = {tool};
    mcp::pin_ledger ledger;
    mcp::pin_terms terms;
    terms.mode = core::pin_mode::enforce;
    ledger.take_lists(lists, terms);
    lists.lists[mcp::index_of(mcp::list_kind::tools)] = {{tool.key, std::string{message}}, {"other", tool.raw}};
    ledger.take_lists(lists, terms);
    ledger.take_tool({"third", std::string{message}}, terms);
    const auto text = ledger.text();
    const auto read = mcp::pin_ledger::read(text);
    require(read && read->text() == text, "the store is read as it was written", text);
    require(read->shown(true) == ledger.shown(true), "and shows the same", text);
    static_cast<void>(mcp::pin_ledger::read(message));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::string tool{text.substr(0, text.find('\n'))};
    const auto message = text.substr(std::min(text.size(), tool.size() + 1));
    static_cast<void>(mcp::print_of_card(message, message.size()));
    const auto print = mcp::print_of_tool(tool);
    const auto read = print ? mcp::raw_object::read(tool) : core::result<mcp::raw_object>{print.error()};
    const auto name = read ? read->text("name") : std::string{};
    if (name.empty() || message.empty()) {
        return 0;
    }
    check_print(tool, *print);
    mcp::approved_server approved;
    approved.seen = true;
    approved.tools[name].variants = {{print->shape, tool}};
    check_list(mcp::pinned_server{std::move(approved), {}}, tool, message);
    if (core::check_json(message, {.bytes = message.size()})) {
        check_ledger({name, tool}, message);
    }
    return 0;
}
