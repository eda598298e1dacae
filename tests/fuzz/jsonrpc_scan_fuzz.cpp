// The scan of JSON-RPC bodies against a second reader: what it accepts, the document parser accepts too (apart from the
// two kinds of valid text that it refuses), with the same method, id and parameters; what it calls no JSON, the parser
// calls no JSON; it finds the same with and without vector instructions; its views lie within the body. Run with
// -max_len=4096 at most: an object can then not have more members than the document parser takes.
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "core/json/jsonrpc_server.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

void require(bool holds, const char* promise)
{
    if (!holds) {
        std::fputs(promise, stderr);
        std::abort();
    }
}

bool within(std::string_view part, std::string_view body)
{
    return part.empty() || (part.data() >= body.data() && part.data() + part.size() <= body.data() + body.size());
}

bool same(const core::scan_outcome& a, const core::scan_outcome& b)
{
    return a.problem == b.problem && a.why == b.why && a.call.method.data() == b.call.method.data() &&
           a.call.method.size() == b.call.method.size() && a.call.method_escaped == b.call.method_escaped &&
           a.call.id.data() == b.call.id.data() && a.call.id.size() == b.call.id.size() &&
           a.call.params.data() == b.call.params.data() && a.call.params.size() == b.call.params.size();
}

bool out_of_range_or_half_a_pair(std::string_view text)
{
    constexpr int number_overflow = 406;
    try {
        (void)core::json::parse(text);
    } catch (const core::json::exception& refusal) {
        return refusal.id == number_overflow ||
               std::string_view{refusal.what()}.find("surrogate") != std::string_view::npos;
    }
    return false;
}

void check_call(const core::jsonrpc_call& call, const core::json& document)
{
    const auto* method = core::string_member(document, "method");
    require(method != nullptr && *method == core::unescape_json(call.method), "the method is the parser's\n");
    require(call.method_escaped || *method == call.method, "a method without escapes stands for itself\n");
    const auto* id = core::member(document, "id");
    require((id == nullptr) == call.id.empty(), "an id is found where there is one\n");
    if (id != nullptr) {
        const auto again = core::parse_json(call.id);
        require(again.has_value() && *again == *id, "the raw id is the parser's\n");
    }
    const auto* params = core::member(document, "params");
    require((params == nullptr) == call.params.empty(), "parameters are found where there are some\n");
    if (params != nullptr) {
        const auto again = core::parse_json(call.params);
        require(again.has_value() && *again == *params, "the raw parameters are the parser's\n");
    }
}

void check_server(std::string_view body)
{
    const auto parsed = core::parse_rpc(body);
    core::batch_answer batch;
    std::string answer;
    for (const auto& item : parsed.items) {
        if (const auto* refusal = std::get_if<core::rpc_refusal>(&item)) {
            answer = refusal->answer;
        } else {
            const auto& request = std::get<core::rpc_request>(item);
            answer = request.notification() ? std::string{} : core::make_result(request.id, request.params);
        }
        if (parsed.batch && !answer.empty()) {
            batch.begin(answer);
        }
    }
    if (parsed.batch) {
        answer = batch.take();
    }
    require(answer.empty() || core::count_members(answer).has_value(), "an answer is JSON\n");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view body{reinterpret_cast<const char*>(data), size};
    const auto found = core::scan_jsonrpc(body);
    require(same(found, core::scan_jsonrpc_bytewise(body)), "vector instructions change nothing\n");
    require(
        within(found.call.method, body) && within(found.call.id, body) && within(found.call.params, body),
        "views lie within the body\n"
    );
    const bool is_json = found.problem != core::errc::parse_error;
    require(is_json == core::count_members(body).has_value(), "every reader of ours finds the same to be JSON\n");
    const auto document = core::parse_json(body, {.bytes = size});
    require(is_json || document.has_error(), "what the parser accepts is JSON\n");
    require(!is_json || document.has_value() || out_of_range_or_half_a_pair(body), "what is JSON the parser accepts\n");
    if (!found.problem && document) {
        check_call(found.call, *document);
    }
    check_server(body);
    return 0;
}
