// Any JSON text as the params of a request, in a dialect and for an operation that the first byte chooses. What a gateway that
// notifies callers itself promises: after the edit no reader, however careless with names, finds a URL of the caller's where a
// configuration can be; the edit is JSON; and what is without a configuration is refused or left as it is.
#include "a2a/dialect/push_edit.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using core::json;
using tests::require;

constexpr std::string_view ours = "https://gateway.test/";

constexpr std::array<std::string_view, 3> holders{
    "pushnotificationconfig",
    "pushnotification",
    "taskpushnotificationconfig"
};

std::string careless(const std::string& name)
{
    constexpr std::size_t longest = 64;  // nobody takes a longer name for one of these
    auto out = name.size() > longest ? std::string{} : core::folded(name);
    std::erase(out, '_');
    return out;
}

bool holds(const std::string& name)
{
    return std::ranges::find(holders, careless(name)) != holders.end();
}

void add_urls(const json& config, std::vector<std::string>& to)
{
    if (!config.is_object()) {
        return;
    }
    for (const auto& [name, value] : config.items()) {
        if (careless(name) == "url" && value.is_string()) {
            to.push_back(value.get<std::string>());
        }
    }
}

void add_held(const json& holder, std::vector<std::string>& to)
{
    if (!holder.is_object()) {
        return;
    }
    for (const auto& [name, value] : holder.items()) {
        if (holds(name)) {
            add_urls(value, to);
        }
    }
}

// Every URL that some reader could take for a caller's.
std::vector<std::string> urls_in(const json& params, a2a::operation what, bool flat)
{
    std::vector<std::string> all;
    if (!params.is_object()) {
        return all;
    }
    if (what == a2a::operation::create_push) {
        add_held(params, all);
        if (flat) {
            add_urls(params, all);
        }
        return all;
    }
    for (const auto& [name, value] : params.items()) {
        if (careless(name) == "configuration") {
            add_held(value, all);
        }
    }
    return all;
}

void check(a2a::dialect from, a2a::operation what, std::string_view text)
{
    const auto found = a2a::find_requested_push(from, what, text);
    if (!found) {
        require(!found.error().why.empty(), "a refusal says why", text);
        return;
    }
    std::vector<a2a::push_replacement> with;
    for (const auto& each : *found) {
        with.push_back({each, '"' + std::string{ours} + '"', {}, {}});
    }
    const auto edited = a2a::with_push_configs(text, with);
    require(!with.empty() || edited == text, "what has no configuration stays as it is", text);
    const auto document = core::parse_json(edited, {.bytes = edited.size() + 1});
    require(document.has_value(), "an edit is JSON", edited);
    const bool flat = from.version == a2a::generation::v1;
    for (const auto& url : urls_in(*document, what, flat)) {
        require(url == ours, "no URL of the caller's is left", url, edited);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (text.empty()) {
        return 0;
    }
    const auto params = text.substr(1);
    const auto read = a2a::read_notification(params, {});
    require(!read || read->kind != a2a::event_kind::unknown, "a notification is of a kind", params);
    if (!core::parse_json(params, {.bytes = params.size() + 1})) {
        return 0;  // it would not have passed the scan of the request
    }
    constexpr std::array operations{a2a::operation::send, a2a::operation::stream, a2a::operation::create_push};
    const auto choice = static_cast<unsigned char>(text.front());
    const a2a::dialect from{
        (choice & 1U) != 0 ? a2a::generation::v1 : a2a::generation::v03,
        (choice & 2U) != 0 ? a2a::binding::rest : a2a::binding::jsonrpc
    };
    check(from, operations[(choice >> 2U) % operations.size()], params);
    return 0;
}
