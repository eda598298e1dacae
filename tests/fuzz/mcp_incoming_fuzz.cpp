// Any bytes as what a client posts: it is JSON where our other readers find JSON, each place that is found holds what another
// parser finds there, a replaced place changes nothing else, and any header is judged. The first line is the header: version,
// method, name and Accept between commas.
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using mcp::incoming;
using mcp::routed;
using tests::require;

namespace {

std::string_view take(std::string_view& text, char end)
{
    const auto taken = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), taken.size() + 1));
    return taken;
}

struct expected_place {
    routed member;
    std::array<const char*, 3> path;  // from the message; null: ends earlier
};

constexpr auto expected_places = std::to_array<expected_place>({
    {routed::jsonrpc, {"jsonrpc"}},
    {routed::id, {"id"}},
    {routed::method, {"method"}},
    {routed::params, {"params"}},
    {routed::result, {"result"}},
    {routed::failure, {"error"}},
    {routed::name, {"params", "name"}},
    {routed::uri, {"params", "uri"}},
    {routed::task, {"params", "taskId"}},
    {routed::augmented, {"params", "task"}},
    {routed::arguments, {"params", "arguments"}},
    {routed::meta, {"params", "_meta"}},
    {routed::request_state, {"params", "requestState"}},
    {routed::input_responses, {"params", "inputResponses"}},
    {routed::request_id, {"params", "requestId"}},
    {routed::version, {"params", "protocolVersion"}},
    {routed::capabilities, {"params", "capabilities"}},
    {routed::client_info, {"params", "clientInfo"}},
    {routed::level, {"params", "level"}},
    {routed::cursor, {"params", "cursor"}},
    {routed::reference, {"params", "ref"}},
    {routed::listen_to, {"params", "notifications"}},
    {routed::progressed_token, {"params", "progressToken"}},
    {routed::delivery, {"params", "delivery"}},
    {routed::meta_version, {"params", "_meta", "io.modelcontextprotocol/protocolVersion"}},
    {routed::meta_capabilities, {"params", "_meta", "io.modelcontextprotocol/clientCapabilities"}},
    {routed::meta_client_info, {"params", "_meta", "io.modelcontextprotocol/clientInfo"}},
    {routed::meta_level, {"params", "_meta", "io.modelcontextprotocol/logLevel"}},
    {routed::progress_token, {"params", "_meta", "progressToken"}},
    {routed::related_task, {"params", "_meta", "io.modelcontextprotocol/related-task"}},
    {routed::reference_type, {"params", "ref", "type"}},
    {routed::reference_name, {"params", "ref", "name"}},
    {routed::reference_uri, {"params", "ref", "uri"}},
    {routed::webhook, {"params", "delivery", "url"}},
});

static_assert(expected_places.size() == mcp::routed_members);

void check_place(
    const incoming& message,
    const expected_place& expected,
    const core::json& document,
    std::string_view body
)
{
    const auto* found = &document;
    for (const auto* name : expected.path) {
        found = name == nullptr || found == nullptr ? found : core::member(*found, name);
    }
    const auto raw = message.raw(expected.member, body);
    require(raw.empty() == (found == nullptr), "a member is found where there is one", body, raw);
    if (found == nullptr) {
        return;
    }
    const auto value = core::parse_json(raw, {.bytes = raw.size()});
    require(value.has_value() && *value == *found, "a place holds the value of the other parser", body, raw);
    std::string room;
    const auto text = message.text(expected.member, body, room);
    const auto* string = found->get_ptr<const std::string*>();
    require(text.has_value() == (string != nullptr), "a text is a string", body, raw);
    require(!text || *text == *string, "a text is that of the other parser", body, raw);
}

void check_message(const incoming& message, std::string_view body)
{
    const auto whole = message.whole.of(body);
    const auto document = core::parse_json(whole, {.bytes = whole.size()});
    if (!document) {
        return;  // half a surrogate pair, a number beyond a double, very wide
    }
    for (const auto& each : expected_places) {
        check_place(message, each, *document, body);
    }
    const bool call = document->contains("method");
    require(call == (message.kind != mcp::incoming_kind::answer), "what has a method is no answer", body);
    require(
        !call || document->contains("id") == (message.kind == mcp::incoming_kind::request),
        "what has an id is a request",
        body
    );
}

// A body with other bytes at one place is read as before, but for that place.
void check_edit(const incoming& message, std::string_view body)
{
    for (const auto member : {routed::id, routed::name, routed::uri, routed::progress_token, routed::reference_name}) {
        if (message[member].empty()) {
            continue;
        }
        const std::vector<mcp::text_edit> edits{{message[member], R"("new \u0031")"}};
        const auto copy = mcp::edited(body, edits);
        const auto again = mcp::read_incoming(copy);
        require(!again.problem, "an edited body is read", body, copy);
        for (const auto& other : expected_places) {
            const bool holds_it = other.member == member || other.member == routed::params ||
                                  other.member == routed::meta || other.member == routed::reference;
            const auto raw = again.message.raw(other.member, copy);
            require(
                holds_it || raw == message.raw(other.member, body),
                "an edit leaves other places alone",
                body,
                copy
            );
        }
        require(again.message.raw(member, copy) == edits.front().text, "an edit is found again", body, copy);
    }
}

mcp::head_fields head_of(std::string_view line)
{
    mcp::head_fields head;
    for (auto* const field : {&head.version, &head.method, &head.name}) {
        if (const auto value = take(line, ','); !value.empty()) {
            field->add(value);
        }
    }
    head.accept.add(line);
    return head;
}

void check_head(std::string_view line, const mcp::incoming_body& read, std::string_view body)
{
    auto head = head_of(line);
    const auto refused = mcp::check_post(head, read, body);
    require(
        !refused || refused->data.empty() || core::parse_json(refused->data).has_value(),
        "what a client is told is JSON",
        line
    );
    require(!refused || !refused->why.empty(), "a refusal has a reason", line);
    require(refused || (!read.problem && head.accept.any()), "what is malformed is refused", body);
    if (!refused && mcp::era_of_post(head, read) == mcp::era::modern &&
        read.message.kind == mcp::incoming_kind::request) {
        std::string room;
        require(head.version.value == "2026-07-28", "a modern request that goes on has a known version", line, body);
        require(
            mcp::header_text(head.method.value) == read.message.text(routed::method, body, room),
            "a modern request that goes on has the method in its header",
            line,
            body
        );
    }
    if (const auto text = mcp::header_text(line)) {
        require(mcp::header_text(mcp::header_value(*text)) == text, "a text survives its field", line);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view body{reinterpret_cast<const char*>(data), size};
    const auto line = take(body, '\n');
    const auto read = mcp::read_incoming(body);
    const bool is_json = read.problem != core::errc::parse_error;
    require(is_json == core::count_members(body).has_value(), "every reader of ours finds the same to be JSON", body);
    require(!read.problem || !read.why.empty(), "a problem has a reason", body);
    check_head(line, read, body);
    if (read.problem) {
        return 0;
    }
    check_message(read.message, body);
    check_edit(read.message, body);
    // JSON-RPC's own reader takes it too, if it is a call.
    if (read.message.kind != mcp::incoming_kind::answer) {
        const auto scanned = core::scan_jsonrpc(body);
        require(!scanned.problem, "a call is one for the scan of JSON-RPC", body, scanned.why);
        require(scanned.call.id == read.message.raw(routed::id, body), "both find the same id", body);
    }
    return 0;
}
