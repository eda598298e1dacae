// Any bytes as a request, of JSON-RPC or of HTTP+JSON: what an agent gets is JSON at a target that asks for the same,
// and a slow translator agrees. The first byte chooses the dialects, the second the operation. HTTP+JSON: verb, target
// and body on a line each.
#include "a2a/dialect/request.hpp"
#include "a2a/dialect/request_fields.hpp"
#include "a2a/dialect/walk.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/support/call_differential.hpp"
#include "tests/support/slow_dialect.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

using tests::require;

namespace {

constexpr std::array dialects{
    a2a::dialect{a2a::generation::v03, a2a::binding::jsonrpc},
    a2a::dialect{a2a::generation::v1, a2a::binding::jsonrpc},
    a2a::dialect{a2a::generation::v03, a2a::binding::rest},
    a2a::dialect{a2a::generation::v1, a2a::binding::rest},
};

// Translations nest deeper by two at most, and readers of ours go down to 64.
constexpr unsigned depth = 60;

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

bool is_json(std::string_view text)
{
    core::scan_limits limits;
    limits.depth = depth + 2;
    return core::count_members(text, limits).has_value();
}

void check(const a2a::incoming_request& in, a2a::dialect to)
{
    a2a::request_options options;
    options.tenant = "t";
    options.limits.depth = depth;
    a2a::outgoing_request out;
    const auto how = a2a::translate_request(in, to, options, out);
    if (!how) {
        require(!how.error().why.empty(), "a refusal has a reason", in.payload);
        return;
    }
    require(out.body.empty() || is_json(out.body), "a body is JSON", in.payload, out.body);
    if (to.over == a2a::binding::jsonrpc) {
        require(out.target.empty(), "JSON-RPC has no target", out.target);
        const auto call = core::scan_jsonrpc(out.body);
        require(!call.problem, "a call is one", in.payload, out.body);
        require(call.call.method == a2a::name(a2a::method_for(how->sent, to.version)), "by its name", out.body);
        return;
    }
    const auto again = a2a::read_rest_target(out.verb, out.target, to.version);
    require(again.has_value() && again->what == how->sent, "a target asks for the same", in.payload, out.target);
}

// As documents say it: without members that are given twice.
void compare_call(a2a::incoming_request in, a2a::dialect to)
{
    const auto read = core::parse_json(in.payload, {.bytes = in.payload.size(), .depth = depth, .members = 1000});
    const bool blank = in.payload.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!read && !blank) {
        return;
    }
    const auto whole = blank ? std::string{} : core::to_text(*read);
    in.payload = whole;
    const auto difference = tests::disagreement_on_request(in, to);
    require(difference.empty(), "both translators say the same of a call", whole, difference);
}

// The same of what sends a message.
void compare(std::string_view text, a2a::body_shape from, a2a::body_shape to)
{
    const auto read = core::parse_json(text, {.bytes = text.size(), .depth = depth, .members = 1000});
    if (!read || from == to) {
        return;
    }
    const auto whole = core::to_text(*read);
    const auto expected = tests::slow_dialect{from, to, false}.send_params(nlohmann::json::parse(whole));
    std::string made;
    a2a::walk w{from, to, a2a::origin_side::caller, made};
    a2a::request_fields fields;
    bool no_history = false;
    bool good = fields.read_params(w, a2a::operation::send, whole);
    if (good) {
        core::json_writer writer{made, '{'};
        if (to == a2a::body_shape::v1) {
            writer.raw_member_if_any("tenant", fields.take(a2a::field::tenant));
        }
        good = a2a::write_send_members(w, writer, fields, no_history);
        writer.close('}');
    }
    require(good == expected.has_value(), "both translators accept it or neither does", whole, made);
    require(!good || nlohmann::json::parse(made) == *expected, "both translators say the same", whole, made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) {
        return 0;
    }
    std::string_view text{reinterpret_cast<const char*>(data) + 2, size - 2};
    const auto to = dialects.at((data[0] >> 2U) & 3U);
    a2a::incoming_request in;
    in.from = dialects.at(data[0] & 3U);
    in.what = static_cast<a2a::operation>(data[1] % a2a::operation_count);
    in.id = "7";
    if (in.from.over == a2a::binding::jsonrpc) {
        in.payload = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
        // The scan of the whole call has checked them.
        if (in.payload.empty() || is_json(in.payload)) {
            check(in, to);
            compare_call(in, to);
        }
    } else {
        const auto verb = take_line(text);
        const auto target = a2a::read_rest_target(verb, take_line(text), in.from.version);
        if (target) {
            in.what = target->what;
            in.target = &*target;
            in.payload = text;
            check(in, to);
            compare_call(in, to);
        }
    }
    compare(text, a2a::shape_of(in.from), a2a::shape_of(to));
    return 0;
}
