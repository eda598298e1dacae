// Any bytes as the result of a list of tasks: what is left of it is what a slow reader leaves over documents, and all else of the text
// stays.
#include "a2a/dialect/task_list.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

using tests::require;

namespace {

// Of the ids that a fuzzer makes about half.
bool is_mine(std::string_view id)
{
    return id.size() % 2 == 1;
}

nlohmann::json kept_of(const nlohmann::json& tasks)
{
    auto kept = nlohmann::json::array();
    for (const auto& each : tasks) {
        if (each.is_object() && each.contains("id") && each["id"].is_string() &&
            is_mine(each["id"].get_ref<const std::string&>())) {
            kept.push_back(each);
        }
    }
    return kept;
}

// Whether a member of the objects that matter has another spelling than the usual one, which documents know nothing of.
bool is_odd(const nlohmann::json& object)
{
    if (!object.is_object()) {
        return false;
    }
    for (const auto& [name, value] : object.items()) {
        auto plain = core::folded(name);
        std::erase(plain, '_');
        if ((plain == "id" && name != "id") || (plain == "tasks" && name != "tasks") ||
            (plain == "totalsize" && name != "totalSize")) {
            return true;
        }
    }
    return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    // Without members that are given twice, of which documents keep one.
    const auto read = core::parse_json(text, {.bytes = text.size(), .depth = 60, .members = 1000});
    if (!read) {
        return 0;
    }
    const auto whole = core::to_text(*read);
    const auto made = a2a::kept_tasks(whole, is_mine);
    require(a2a::kept_tasks(made, is_mine) == made, "what is kept is kept", whole, made);
    auto expected = nlohmann::json::parse(whole);
    bool odd = is_odd(expected);
    const auto* const tasks_of = expected.is_object() && expected.contains("tasks") ? &expected["tasks"] : &expected;
    for (const auto& each : *tasks_of) {
        odd = odd || is_odd(each);
    }
    if (odd) {
        return 0;
    }
    if (expected.is_array()) {
        expected = kept_of(expected);
    } else if (expected.is_object()) {
        std::size_t kept = 0;
        if (expected.contains("tasks")) {
            auto& tasks = expected["tasks"];
            tasks = tasks.is_array() ? kept_of(tasks) : nlohmann::json::array();
            kept = tasks.size();
        }
        if (expected.contains("totalSize")) {
            expected["totalSize"] = kept;
        }
    }
    require(nlohmann::json::parse(made) == expected, "both readers keep the same", whole, made);
    return 0;
}
