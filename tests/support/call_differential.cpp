#include "tests/support/call_differential.hpp"

#include "core/url.hpp"
#include "tests/support/slow_calls.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace tests {
namespace {

using nlohmann::json;

constexpr std::string_view id = "\"call-7\"";

// Documents keep neither the digits of long numbers nor the sign of zero, and no bytes that are not UTF-8.
bool is_exact(std::string_view text)
{
    std::size_t digits = 0;
    for (const char c : text) {
        digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
        if (digits > 15 || static_cast<unsigned char>(c) >= 0x80) {
            return false;
        }
    }
    return text.find("-0") == std::string_view::npos;
}

json path_of(std::string_view target)
{
    json segments = json::array();
    auto path = target.substr(0, target.find('?'));
    while (!path.empty()) {
        path.remove_prefix(1);
        const auto end = std::min(path.find('/'), path.size());
        segments.push_back(core::decoded(path.substr(0, end)));
        path.remove_prefix(end);
    }
    return segments;
}

json query_of(std::string_view target)
{
    json all = json::object();
    auto query = target.substr(std::min(target.find('?'), target.size()));
    while (!query.empty()) {
        query.remove_prefix(1);
        const auto pair = query.substr(0, query.find('&'));
        const auto equals = std::min(pair.find('='), pair.size() - 1);
        all[std::string{pair.substr(0, equals)}] = core::decoded(pair.substr(equals + 1));
        query.remove_prefix(pair.size());
    }
    return all;
}

json as_document(const a2a::exchange& how, const a2a::outgoing_request& out)
{
    json made{{"sent", static_cast<int>(how.sent)}, {"first", how.first_config}, {"bare", how.without_history}};
    if (how.agent.over == a2a::binding::jsonrpc) {
        made["body"] = json::parse(out.body).value("params", json{});
        return made;
    }
    made["body"] = out.body.empty() ? json{} : json::parse(out.body);
    made["verb"] = out.verb;
    made["path"] = path_of(out.target);
    made["query"] = query_of(out.target);
    return made;
}

json as_document(const slow_request& slow, a2a::dialect agent)
{
    json made{{"sent", static_cast<int>(slow.sent)}, {"first", slow.first_config}, {"bare", slow.without_history}};
    made["body"] = slow.body ? *slow.body : json{};
    if (agent.over == a2a::binding::rest) {
        made["verb"] = slow.verb;
        made["path"] = slow.path;
        made["query"] = slow.query;
    }
    return made;
}

// Any sentence will do where the slow one has none.
void forget_sentence(json& made, json& expected)
{
    const auto error_in = [](json& answer) -> json* {
        auto* at = &answer;
        for (const char* name : {"body", "error"}) {
            at = at->is_object() && at->contains(name) ? &at->at(name) : at;
        }
        return at->is_object() && at->contains("message") && at->contains("code") ? at : nullptr;
    };
    auto* const said = error_in(made);
    auto* const meant = error_in(expected);
    if (said != nullptr && meant != nullptr && meant->at("message").is_null() && said->at("message").is_string() &&
        !said->at("message").get_ref<const std::string&>().empty()) {
        said->at("message") = nullptr;
    }
}

std::string compared(const std::optional<json>& made, const std::optional<json>& expected)
{
    if (made == expected) {
        return {};
    }
    const auto text = [](const std::optional<json>& of) { return of ? of->dump() : std::string{"refused"}; };
    return "a2a/dialect: " + text(made) + "\nslow:        " + text(expected);
}

}  // namespace

std::string disagreement_on_request(const a2a::incoming_request& in, a2a::dialect agent)
{
    const bool sends = in.what == a2a::operation::send || in.what == a2a::operation::stream;
    const bool old = in.from.version == a2a::generation::v03 || agent.version == a2a::generation::v03;
    const auto query = in.target != nullptr ? in.target->query : std::string_view{};
    if (in.from == agent || sends || (in.what == a2a::operation::list && old) || !is_exact(in.payload) ||
        !is_exact(core::decoded(query))) {
        return {};
    }
    std::optional<json> payload;
    if (!in.payload.empty()) {
        payload = json::parse(in.payload, nullptr, /*allow_exceptions=*/false);
        if (payload->is_discarded()) {
            return {};  // a number that documents cannot hold
        }
    }
    const auto slow = slow_requests{in.from, agent, in.what}.translate(payload ? &*payload : nullptr, in.target);
    auto call = in;
    call.id = id;
    a2a::outgoing_request out;
    const auto how = a2a::translate_request(call, agent, {}, out);
    return compared(
        how ? std::optional{as_document(*how, out)} : std::nullopt,
        slow ? std::optional{as_document(*slow, agent)} : std::nullopt
    );
}

std::string disagreement_on_answer(const a2a::exchange& how, unsigned status, std::string_view body)
{
    const auto asked = how.asked;
    const bool other = asked == a2a::operation::send || a2a::streaming(asked);
    if (how.agent == how.caller || other || !is_exact(body)) {
        return {};
    }
    const auto document = json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) {
        return {};  // a number that documents cannot hold
    }
    a2a::answer_options options;
    options.id = id;
    for (const auto profile : {a2a::error_profile::v1_0_0, a2a::error_profile::v1_0_1}) {
        options.profile = profile;
        std::string text;
        const auto done = a2a::translate_answer(how, {status, body}, options, text);
        std::optional<json> made;
        if (done) {
            made = json::parse(text);
            if (how.caller.over == a2a::binding::jsonrpc) {
                made->erase("jsonrpc");
                made->erase("id");
            } else {
                made = json{{"status", done->status}, {"body", *made}};
            }
        }
        auto expected = slow_answers{how, profile}.translate(status, document);
        if (made && expected) {
            forget_sentence(*made, *expected);
        }
        if (auto difference = compared(made, expected); !difference.empty()) {
            return difference;
        }
    }
    return {};
}

}  // namespace tests
