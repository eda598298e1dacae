#include "tests/unit/a2a/dialect/wire_text.hpp"

#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <doctest/doctest.h>

namespace tests {
namespace {

constexpr std::string_view call_id = "\"call-7\"";

outcome refused(const a2a::refusal& why)
{
    outcome made;
    made.code = why.code;
    made.member = why.member;
    return made;
}

// `{"jsonrpc":"2.0","id":<id>,` is taken off, so that what stays is the row's form.
std::string without_envelope(std::string_view text)
{
    const auto prefix = std::string{"{\"jsonrpc\":\"2.0\",\"id\":"}.append(call_id).append(",");
    REQUIRE(text.starts_with(prefix));
    return "{" + std::string{text.substr(prefix.size())};
}

std::string with_envelope(std::string_view row)
{
    const auto members = row.substr(row.find('{') + 1);
    return std::string{"{\"jsonrpc\":\"2.0\",\"id\":3,"}.append(members);
}

outcome taken(
    const boost::system::result<a2a::translated_answer, a2a::refusal>& done,
    const a2a::exchange& how,
    std::string text
)
{
    if (!done) {
        CHECK(text.empty());
        return refused(done.error());
    }
    outcome made;
    made.text = how.caller.over == a2a::binding::jsonrpc ? without_envelope(text) : std::move(text);
    made.lost = done->lost;
    made.facts = done->facts;
    made.how = how;
    return made;
}

}  // namespace

a2a::dialect dialect_called(std::string_view name)
{
    const auto version = name.starts_with("1.0/") ? a2a::generation::v1 : a2a::generation::v03;
    const auto over = name.ends_with("/rest") ? a2a::binding::rest : a2a::binding::jsonrpc;
    return {version, over};
}

std::string compact(std::string_view json)
{
    std::string out;
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string && c == '\\') {
            out += c;
            out += json[++i];
            continue;
        }
        in_string = in_string != (c == '"');
        if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) {
            out += c;
        }
    }
    return out;
}

std::string_view member_of(std::string_view object, std::string_view name)
{
    std::string_view found;
    core::json_cursor<core::wide_bytes> cursor{object, 64};
    cursor.skip_space();
    REQUIRE(cursor.peek() == '{');
    REQUIRE(cursor.object([&](std::string_view raw, bool, std::string_view value) {
        found = raw == name ? value : found;
        return true;
    }));
    return found;
}

std::string text_of(std::string_view raw)
{
    return raw.size() < 2 ? std::string{} : core::unescape_json(raw.substr(1, raw.size() - 2));
}

outcome translated_request(
    a2a::dialect caller,
    a2a::dialect agent,
    a2a::operation what,
    std::string_view row,
    const a2a::request_options& options
)
{
    a2a::incoming_request in;
    in.from = caller;
    in.what = what;
    in.id = call_id;
    a2a::rest_target target;
    const auto path = text_of(member_of(row, "target"));
    if (caller.over == a2a::binding::rest) {
        auto read = a2a::read_rest_target(text_of(member_of(row, "verb")), path, caller.version);
        REQUIRE(read.has_value());
        CHECK(read->what == what);
        target = *read;
        in.target = &target;
        in.payload = member_of(row, "body");
    } else {
        in.payload = member_of(row, "params");
    }
    a2a::outgoing_request out;
    const auto how = a2a::translate_request(in, agent, options, out);
    if (!how) {
        return refused(how.error());
    }
    outcome made;
    made.lost = out.lost;
    made.how = *how;
    if (agent.over == a2a::binding::jsonrpc) {
        const auto call = without_envelope(out.body);
        CHECK(text_of(member_of(call, "method")) == a2a::name(a2a::method_for(how->sent, agent.version)));
        const auto params = std::string{member_of(call, "params")};
        made.text = params.empty() ? "{}" : "{\"params\":" + params + "}";
    } else {
        made.text.append("{\"verb\":\"").append(out.verb).append("\",\"target\":\"").append(out.target).append("\"");
        made.text.append(out.body.empty() ? "" : ",\"body\":").append(out.body).append("}");
    }
    return made;
}

outcome translated_answer(const a2a::exchange& how, std::string_view row, a2a::error_profile profile)
{
    std::string body;
    a2a::agent_answer in;
    if (how.agent.over == a2a::binding::jsonrpc) {
        body = with_envelope(row);
    } else {
        body = member_of(row, "body");
        in.status = static_cast<unsigned>(std::stoul(std::string{member_of(row, "status")}));
    }
    in.body = body;
    a2a::answer_options options;
    options.id = call_id;
    options.profile = profile;
    std::string out;
    const auto done = a2a::translate_answer(how, in, options, out);
    auto made = taken(done, how, out);
    if (done && how.caller.over == a2a::binding::rest) {
        made.text = "{\"status\":" + std::to_string(done->status) + ",\"body\":" + made.text + "}";
    }
    return made;
}

outcome translated_event(const a2a::exchange& how, std::string_view row)
{
    const auto data = how.agent.over == a2a::binding::jsonrpc ? with_envelope(row) : std::string{row};
    a2a::answer_options options;
    options.id = call_id;
    std::string out;
    const auto done = a2a::translate_event(how, data, options, out);
    return taken(done, how, out);
}

}  // namespace tests
