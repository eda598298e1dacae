#include "core/json/jsonrpc_server.hpp"

#include "core/error.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <optional>
#include <utility>

namespace core {
namespace {

std::string_view id_or_null(std::string_view id)
{
    return id.empty() ? "null" : id;
}

void append_envelope(std::string& out, std::string_view id)
{
    out += R"({"jsonrpc":"2.0","id":)";
    out += id_or_null(id);
}

void append_agent(std::string& out, std::string_view agent)
{
    if (!agent.empty()) {
        out += R"(,"agent":)";
        append_json_string(out, agent);
    }
}

// Up to and with the string code that `data` begins with; `}}}` or more members may follow.
std::string error_up_to_data_code(std::string_view id, errc code, std::string_view said = {})
{
    std::string out;
    append_envelope(out, id);
    out += R"(,"error":{"code":)";
    out += std::to_string(jsonrpc_code(code));
    out += R"(,"message":)";
    append_json_string(out, said.empty() ? message(code) : said);
    out += R"(,"data":{"code":)";
    append_json_string(out, name(code));
    return out;
}

// The recursion is as deep as the limited parse allowed.
std::size_t members_of(const json& value)
{
    std::size_t members = value.is_object() ? value.size() : 0;
    if (value.is_structured()) {
        for (const auto& inner : value) {
            members += members_of(inner);
        }
    }
    return members;
}

// nlohmann keeps one of two members of the same name, so the document then has fewer than the text.
bool has_duplicates(std::string_view text, const json& value)
{
    const auto written = count_members(text);
    return written.has_error() || *written != members_of(value);
}

result<json> parse_params(std::string_view text)
{
    if (text.empty()) {
        return json{};
    }
    auto params = parse_json(text, {.bytes = text.size()});
    if (!params) {
        return caller_error(errc::invalid_params, params.error().detail);
    }
    if (has_duplicates(text, *params)) {
        return caller_error(errc::invalid_request, "a member stands twice");
    }
    return params;
}

// Nothing for a notification that cannot be carried out: it has no answer either.
std::optional<rpc_item> parse_item(std::string_view text, unsigned depth)
{
    const auto scanned = scan_jsonrpc(text, {.depth = depth, .refuse_case_twins = false});
    const auto& call = scanned.call;
    if (scanned.problem) {
        return rpc_refusal{make_error(call.id, *scanned.problem)};
    }
    auto params = parse_params(call.params);
    if (!params) {
        if (call.id.empty() && params.error().code == errc::invalid_params) {
            return std::nullopt;
        }
        return rpc_refusal{make_error(call.id, params.error().code)};
    }
    return rpc_request{.method = unescape_json(call.method), .params = std::move(*params), .id = std::string(call.id)};
}

rpc_parsed refuse(errc code)
{
    rpc_parsed parsed;
    parsed.items.emplace_back(rpc_refusal{make_error({}, code)});
    return parsed;
}

rpc_parsed parse_batch(std::string_view body, const rpc_limits& limits)
{
    const auto elements = scan_elements(body, limits.batch, {.depth = limits.depth});
    if (!elements) {
        return refuse(elements.error().code);
    }
    if (elements->count == 0 || elements->count > limits.batch) {
        return refuse(errc::invalid_request);
    }
    rpc_parsed parsed{.items = {}, .batch = true};
    for (const auto element : elements->raw) {
        if (auto item = parse_item(element, limits.depth)) {
            parsed.items.push_back(std::move(*item));
        }
    }
    return parsed;
}

}  // namespace

rpc_parsed parse_rpc(std::string_view body, rpc_limits limits)
{
    const auto first = body.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && body[first] == '[') {
        return parse_batch(body, limits);
    }
    rpc_parsed parsed;
    if (auto item = parse_item(body, limits.depth)) {
        parsed.items.push_back(std::move(*item));
    }
    return parsed;
}

std::string begin_result(std::string_view id)
{
    std::string out;
    append_envelope(out, id);
    out += R"(,"result":)";
    return out;
}

std::string make_result(std::string_view id, const json& result)
{
    return make_result_of_text(id, to_text(result));
}

std::string make_result_of_text(std::string_view id, std::string_view result)
{
    auto out = begin_result(id);
    out += result;
    out += '}';
    return out;
}

std::string make_error(std::string_view id, errc code, const json& data)
{
    auto out = error_up_to_data_code(id, code);
    if (data.is_object()) {
        for (const auto& member : data.items()) {
            if (member.key() != "code") {
                out += ',';
                append_json_string(out, member.key());
                out += ':';
                out += to_text(member.value());
            }
        }
    }
    out += "}}}";
    return out;
}

// Not by the string's own reserve(), which takes twice as much as it has rather than a little more.
void batch_answer::reserve(std::size_t bytes)
{
    if (bytes > text_.capacity()) {
        std::string larger;
        larger.reserve(bytes);
        larger += text_;
        text_ = std::move(larger);
    }
}

void batch_answer::begin(std::string_view answer)
{
    text_ += text_.empty() ? '[' : ',';
    text_ += answer;
}

std::string batch_answer::take()
{
    if (!text_.empty()) {
        text_ += ']';
    }
    return std::move(text_);
}

std::string jsonrpc_error_body(std::string_view id, errc code, std::string_view agent, std::string_view said)
{
    auto out = error_up_to_data_code(id, code, said);
    append_agent(out, agent);
    out += retryable(code) ? R"(,"retryable":true}}})" : R"(,"retryable":false}}})";
    return out;
}

std::string http_error_body(errc code, std::string_view agent, std::string_view said)
{
    std::string out = R"({"error":{"code":)";
    append_json_string(out, name(code));
    out += R"(,"message":)";
    append_json_string(out, said.empty() ? message(code) : said);
    append_agent(out, agent);
    out += retryable(code) ? R"(,"retryable":true}})" : R"(,"retryable":false}})";
    return out;
}

}  // namespace core
