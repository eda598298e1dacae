// Any text as a message of a server: what is read is read the same from its compact form, its id comes back in an answer
// digit for digit, and what the gateway answers is a message itself, on one line.
#include "core/json/json.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

using mcp::message_kind;
using tests::require;

namespace {

void check_answer(const mcp::message& request)
{
    const auto answer = mcp::answer_to(request);
    require(answer.find_first_of("\r\n") == std::string::npos, "an answer is one line", answer);
    const auto read = mcp::read_message(answer);
    require(read.has_value(), "an answer is a message", answer);
    const auto expected = request.method == "ping" ? message_kind::result : message_kind::failure;
    require(read->kind == expected && read->id == mcp::compact(request.id), "an answer has the request's id", answer);
}

// `7`, `7.0`, `7e0` and `"7"`, also with zeros before.
bool spells(std::string_view id, std::uint64_t number)
{
    if (id.starts_with('"')) {
        id = id.substr(1, id.size() - 2);
    }
    id.remove_prefix(std::min(id.find_first_not_of('0'), id.size()));
    const auto digits = number == 0 ? std::string{} : std::to_string(number);
    const auto rest = id.starts_with(digits) ? id.substr(digits.size()) : "x";
    return rest.find_first_not_of(".eE+-0") == std::string_view::npos &&
           (rest.empty() || std::strtod(std::string{id}.c_str(), nullptr) == static_cast<double>(number));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto read = mcp::read_message(text);
    if (!read) {
        require(read.error().code == core::errc::upstream_protocol, "a refusal has one code");
        return 0;
    }
    const auto line = mcp::compact(text);
    require(line.find_first_of("\r\n") == std::string::npos, "the compact form is one line", line);
    require(mcp::compact(line) == line, "the compact form of itself is itself", line);
    const auto again = mcp::read_message(line);
    require(again.has_value(), "the compact form is read", text, line);
    require(again->kind == read->kind && again->answered() == read->answered(), "the compact form is the same", text);
    require(again->params.empty() == read->params.empty(), "the compact form has the same params", text);
    require(again->failure.code == read->failure.code, "the compact form has the same code", text);

    const bool answer = read->kind == message_kind::result || read->kind == message_kind::failure;
    require(answer == read->method.empty(), "only what is asked has a method", text);
    require(!read->answered() || spells(read->id, *read->answered()), "an id of ours is spelled so", text);
    if (answer) {
        const auto named = mcp::answer_with_id(text, *read, "\"x\"");
        const auto other = mcp::read_message(named);
        require(other.has_value() && other->id == "\"x\"", "an answer gets another id", text, named);
        require(other->kind == read->kind, "an answer with another id is of its kind", text, named);
    }
    if (read->kind == message_kind::request) {
        check_answer(*read);
    }
    // Another reader of JSON agrees that this is a document, as far as it takes numbers and widths like these.
    if (const auto usable = mcp::usable(text, 64)) {
        require(core::parse_json(*usable)->is_object(), "another reader sees an object", *usable);
    }
    return 0;
}
