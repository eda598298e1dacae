// Any bytes as a request of a client of the modern era and as the answer of a server of the legacy one: what goes on is the same
// document but for the members that the translation takes away or adds, and its parts stand where they are said to stand.
#include "core/json/json.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using mcp::client_method;
using tests::require;

namespace {

// Nothing: no document that our reader of documents takes.
core::result<core::json> document_of(std::string_view text)
{
    return core::parse_json(text, {.bytes = text.size(), .depth = 64, .members = text.size()});
}

// In any order of members.
bool same(const core::json& before, const core::json& after)
{
    return nlohmann::json(before) == nlohmann::json(after);
}

void check_request(std::string_view text)
{
    const auto read = mcp::read_incoming(text);
    if (read.problem) {
        return;
    }
    const mcp::legacy_request made{read.message, text};
    const auto view = made.view();
    auto before = document_of(text);
    const auto after = document_of(view.text);
    require(before.has_value() == after.has_value(), "both are documents or neither is", text);
    const auto again = mcp::read_incoming(view.text);
    require(!again.problem && again.message.method == read.message.method, "it is the same request", text);
    require(again.message.raw(mcp::routed::id, view.text) == view.id, "the id is found", text);
    require(again.message.raw(mcp::routed::params, view.text) == view.params, "the params are found", text);
    require(
        again.message.raw(mcp::routed::progress_token, view.text) == view.progress_token,
        "the token is found",
        text
    );
    if (!before) {
        return;
    }
    if (before->contains("params") && (*before)["params"].contains("_meta") &&
        (*before)["params"]["_meta"].is_object()) {
        for (const auto* const name : {"protocolVersion", "clientCapabilities", "clientInfo", "logLevel"}) {
            (*before)["params"]["_meta"].erase(std::string{"io.modelcontextprotocol/"} + name);
        }
    }
    require(same(*before, *after), "nothing else changes", text);
}

void check_answer(std::string_view text, client_method asked)
{
    const auto translated = mcp::modern_answer(asked, std::string{text});
    const auto read = mcp::read_message(text, {.bytes = text.size()});
    if (!read || (read->kind != mcp::message_kind::result && read->kind != mcp::message_kind::failure)) {
        return;
    }
    auto before = document_of(text);
    const auto after = document_of(translated);
    require(before.has_value() == after.has_value(), "both are documents or neither is", text);
    if (!before) {
        return;
    }
    if (before->contains("result") && (*before)["result"].is_object()) {
        auto& result = (*before)["result"];
        result.emplace("resultType", "complete");
        if (asked == client_method::tools_list) {
            result.emplace("ttlMs", 0);
            result.emplace("cacheScope", "private");
        }
    }
    if (read->kind == mcp::message_kind::failure && read->failure.code == -32002) {
        (*before)["error"]["code"] = -32602;
    }
    require(same(*before, *after), "nothing else changes", text);
    require(mcp::modern_answer(asked, translated) == translated, "a modern answer stays", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_request(text);
    check_answer(text, client_method::tools_list);
    check_answer(text, client_method::tools_call);
    return 0;
}
