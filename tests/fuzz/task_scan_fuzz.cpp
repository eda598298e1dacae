// The scan of answers for tasks: it finds the same however the text is cut, and whether it goes on for the context or not; what it tells of a document is in that document, read
// by the document parser; an event of a stream shows what its data shows as a document. And the tasks that a call names: each is a
// text of the call's parameters. Run with -max_len=4096 at most.
#include "a2a/dialect/named_tasks.hpp"
#include "a2a/dialect/task_scan.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using a2a::task_scan;
using shown = std::pair<std::string, std::optional<a2a::task_state>>;

void require(bool holds, const char* promise)
{
    if (!holds) {
        std::fputs(promise, stderr);
        std::abort();
    }
}

class kept_tasks final : public a2a::task_sink {
public:
    void on_task(std::string_view id, std::optional<a2a::task_state> state) override { all.emplace_back(id, state); }
    void on_context(std::string_view id) override { contexts.emplace_back(id); }

    std::vector<shown> all;
    std::vector<std::string> contexts;
};

// What is passed by shows nothing.
void check_passed_by(std::string_view text)
{
    kept_tasks tasks;
    task_scan{task_scan::framing::document, a2a::task_text::until::context}.feed(text, tasks);
    require(tasks.all.empty() || a2a::may_show_task(text, false), "a document that is passed by shows no task\n");
    require(
        tasks.contexts.empty() || a2a::may_show_task(text, true),
        "a document that is passed by shows no context\n"
    );
}

kept_tasks kept(std::string_view body, task_scan::framing how, std::size_t size, a2a::task_text::until end)
{
    task_scan scan{how, end};
    kept_tasks tasks;
    for (std::size_t at = 0; at < body.size(); at += size) {
        scan.feed(body.substr(at, size), tasks);
    }
    return tasks;
}

std::vector<shown> found(std::string_view body, task_scan::framing how, std::size_t size)
{
    return kept(body, how, size, a2a::task_text::until::task).all;
}

// Whether the object has the id and what makes it a task or an update of one.
bool is_shown(const core::json& object, const std::string& id)
{
    const auto has_id = [&](const char* name) {
        const auto at = object.find(name);
        return at != object.end() && at->is_string() && at->get_ref<const std::string&>() == id;
    };
    return object.is_object() && (has_id("id") || has_id("taskId")) &&
           (object.contains("status") || object.contains("artifact"));
}

bool is_shown_in(const core::json& object, const std::string& id)
{
    if (!object.is_object()) {
        return false;
    }
    for (const auto* name : {"task", "statusUpdate", "artifactUpdate"}) {
        if (object.contains(name) && is_shown(object[name], id)) {
            return true;
        }
    }
    return is_shown(object, id);
}

std::size_t members_of(const core::json& value)
{
    std::size_t count = value.is_object() ? value.size() : 0;
    if (value.is_structured()) {
        for (const auto& each : value) {
            count += members_of(each);
        }
    }
    return count;
}

void check_document(std::string_view text, const std::vector<shown>& tasks)
{
    require(tasks.size() <= 1, "a document shows one task at most\n");
    const auto document = core::parse_json(text, {.bytes = text.size()});
    const auto members = core::count_members(text);
    if (!document || !members || members_of(*document) != *members || tasks.empty()) {
        return;  // of a name that stands twice the parser keeps one
    }
    const auto& id = tasks.front().first;
    const bool there =
        is_shown_in(*document, id) || (document->contains("result") && is_shown_in((*document)["result"], id));
    require(there, "a task that is told stands in the document\n");
}

std::vector<std::string> named(std::string_view params)
{
    std::vector<std::string> all;
    a2a::each_named(params, [&all](a2a::named what, std::string_view id) {
        if (what != a2a::named::unclear) {
            all.emplace_back(id);
        }
        return true;
    });
    return all;
}

void check_named(std::string_view text)
{
    if (!core::count_members(text)) {
        return;
    }
    const auto params = text.substr(text.find_first_not_of(" \t\r\n"));  // there is one: it is JSON
    const auto all = named(params);
    for (const auto& id : all) {
        require(id.size() <= params.size(), "a named task is no longer than the text\n");
    }
    if (params.front() != '{') {
        return;
    }
    // With a task in front no text is passed by without being read.
    const auto longer = R"({"taskId":"first",)" + std::string{params.substr(1)};
    if (core::count_members(longer)) {
        auto expected = all;
        expected.insert(expected.begin(), "first");
        require(named(longer) == expected, "a text that is passed by names no task\n");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    for (const auto how : {task_scan::framing::document, task_scan::framing::events}) {
        const auto whole = found(text, how, size + 1);
        for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, size / 2 + 1}) {
            require(found(text, how, piece) == whole, "the cuts change nothing\n");
        }
        const auto further = kept(text, how, size + 1, a2a::task_text::until::context);
        require(further.all == whole, "who reads on for the context is told the same tasks\n");
        require(
            kept(text, how, 3, a2a::task_text::until::context).contexts == further.contexts,
            "the cuts change no context\n"
        );
        if (how == task_scan::framing::document) {
            check_document(text, whole);
            check_passed_by(text);
        }
    }
    if (text.find_first_of("\r\n") == std::string_view::npos) {
        const auto event = "data: " + std::string{text} + "\n\n";
        require(
            found(event, task_scan::framing::events, 5) == found(text, task_scan::framing::document, 5),
            "an event shows what its data shows\n"
        );
    }
    check_named(text);
    return 0;
}
