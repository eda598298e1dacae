#include "a2a/dialect/request.hpp"

#include "a2a/dialect/request_fields.hpp"
#include "a2a/dialect/request_params.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"

#include <algorithm>
#include <utility>

namespace a2a {
namespace {

// The operation that the agent is asked for: a configuration without its id is the first of the list.
operation sent_for(operation asked, const request_fields& fields, dialect to) noexcept
{
    const bool whole = asked != operation::get_push || !fields.peek(field::config_id).empty() ||
                       to == dialect{generation::v03, binding::jsonrpc};
    return whole ? asked : operation::list_push;
}

bool read(walk& w, const incoming_request& in, const request_options& options, request_fields& fields)
{
    if (in.from.over == binding::jsonrpc) {
        return fields.read_params(w, in.what, in.payload);
    }
    if (in.target == nullptr) {
        return w.fail("has no target");
    }
    if (!in.payload.empty()) {
        core::json_cursor<core::wide_bytes> cursor{in.payload, options.limits.depth};
        cursor.skip_space();
        if (cursor.peek() != '\0' && (!cursor.value() || !cursor.finish())) {
            return w.fail_with(rpc_code::parse_error, "is not JSON");
        }
    }
    const auto first = in.payload.find_first_not_of(" \t\r\n");
    const auto body = first == std::string_view::npos ? std::string_view{} : in.payload.substr(first);
    return fields.read_rest(w, *in.target, body);
}

bool write_call(walk& w, request_fields& fields, exchange& how, std::string_view id)
{
    w.out += "{\"jsonrpc\":\"2.0\",";
    if (!id.empty()) {
        w.out.append("\"id\":").append(id).append(",");
    }
    w.out.append("\"method\":\"").append(name(method_for(how.sent, how.agent.version))).append("\",\"params\":");
    const auto params = w.out.size();
    if (!write_params(w, fields, how)) {
        return false;
    }
    // The one method of 0.3 that has none (specification 0.3.0 section 7.10).
    if (how.sent == operation::extended_card && how.agent.version == generation::v03) {
        w.out.resize(params - std::string_view{",\"params\":"}.size());
    }
    w.out += '}';
    return true;
}

// The largest int32, which is what all generations have for a length.
constexpr std::string_view longest_history = "2147483647";

refusal refused(int code, std::string_view why)
{
    return {code, {}, why};
}

}  // namespace

translation<exchange>
translate_request(const incoming_request& in, dialect to, const request_options& options, outgoing_request& out)
{
    out.target.clear();
    out.body.clear();
    out.lost = 0;
    if (in.what == operation::none) {
        return refused(rpc_code::method_not_found, "names no method of A2A");
    }
    if (in.payload.size() > options.limits.bytes) {
        return refused(rpc_code::invalid_request, "is larger than the limit");
    }
    const bool old = in.from.version == generation::v03 || to.version == generation::v03;
    if (in.what == operation::list && old) {
        return refused(rpc_code::unsupported_operation, "lists tasks, which 0.3 cannot do");
    }
    walk w{shape_of(in.from), shape_of(to), origin_side::caller, out.body};
    request_fields fields;
    exchange how{.caller = in.from, .agent = to, .asked = in.what};
    bool good = read(w, in, options, fields);
    if (good) {
        std::string tenant;
        if (!options.tenant.empty() && fields.peek(field::tenant).empty() && to.version == generation::v1) {
            core::append_json_string(tenant, options.tenant);
            fields.set(field::tenant, std::move(tenant));
        }
        if (options.whole_history && fields.peek(field::history_length).empty()) {
            fields.set(field::history_length, std::string{longest_history});
        }
        how.sent = sent_for(in.what, fields, to);
        how.first_config = how.sent != in.what;
        out.verb = to.over == binding::jsonrpc ? "POST" : route_for(how.sent, to.version).verb;
        good = to.over == binding::jsonrpc ? write_call(w, fields, how, in.id) : write_rest(w, fields, how, out.target);
    }
    out.lost = w.lost;
    if (good && out.target.size() > options.limits.target) {
        good = w.fail("makes a target of HTTP+JSON that is longer than the limit");
    }
    if (!good) {
        return w.take_failure();
    }
    return how;
}

}  // namespace a2a
