// A server's message, a blank line, and a client's message in which `@` stands for a task that was handed out to it; a byte in front says
// what the first one answers. Nobody but its client opens what was sealed, nobody names a task that was not handed out to him, and of a
// list only the client's own tasks stay, also for a second reader, who reads what has gone on as a document.
#include "mcp/calls/handed_out.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using nlohmann::json;
using tests::require;

namespace {

const mcp::session_ids& seals()
{
    static const std::vector<core::secret> keys{core::secret{std::string(32, 'k')}};
    static const mcp::session_ids all{jose::text_sealer{keys}};
    return all;
}

mcp::handed_out_to client(std::string_view principal)
{
    return {&seals(), {"a", "https://mcp.example/x", "keys", principal}};
}

const auto ada = client("ada");
const auto bob = client("bob");

bool is_ada_s(std::string_view task)
{
    return task.starts_with('a');
}

void check_task(const json& object, std::string_view member, bool own, std::string_view message)
{
    const auto id = object.is_object() ? object.find(member) : object.end();
    if (!object.is_object() || id == object.end() || !id->is_string()) {
        return;
    }
    const auto& text = id->get_ref<const std::string&>();
    require(
        !seals().open_handed_out(mcp::handed_out::task, text, bob.binding),
        "what is sealed for one client does not open for another one",
        message
    );
    const auto task = seals().open_handed_out(mcp::handed_out::task, text, ada.binding);
    require(!own || (task && is_ada_s(*task)), "a list shows the client's own tasks", message);
}

void check_sealed(std::string_view message, mcp::handing what)
{
    const auto sealed = mcp::seal_handed_out(message, ada, what, is_ada_s);
    if (!sealed || !sealed->text || sealed->text->empty()) {
        return;
    }
    const auto& text = *sealed->text;
    const auto shown = json::parse(text, nullptr, /*allow_exceptions=*/false);
    require(shown.is_discarded() == !json::accept(message), "a text stays JSON", message, text);
    if (!shown.is_object() || !shown.contains("result") || !shown["result"].is_object()) {
        return;
    }
    const auto& result = shown["result"];
    check_task(result, "taskId", false, text);
    check_task(result.value("task", json{}), "taskId", false, text);
    if (what == mcp::handing::task_list && result.contains("tasks")) {
        for (const auto& each : result["tasks"]) {
            require(each.is_object() && each.contains("taskId"), "a list shows tasks by their ids", message, text);
            check_task(each, "taskId", true, text);
        }
    }
}

std::string with_tasks(std::string_view body, std::string_view id)
{
    std::string text;
    for (const char byte : body) {
        text += byte == '@' ? std::string{id} : std::string{byte};
    }
    return text;
}

void check_opened(std::string_view written)
{
    constexpr std::string_view task = "t-1";
    const auto body = with_tasks(written, seals().seal_handed_out(mcp::handed_out::task, task, ada.binding));
    const auto read = mcp::read_incoming(body);
    if (read.problem) {
        return;
    }
    for (const bool has_tasks : {false, true}) {
        const auto hers = mcp::open_handed_out(read.message, body, ada, has_tasks);
        if (hers) {
            for (const auto& named : hers->tasks) {
                require(named == task, "a client names what was handed out to it", body, named);
            }
            const auto sent = mcp::edited(body, hers->edits);
            require(json::accept(sent) == json::accept(body), "a text stays JSON", body, sent);
        }
        const auto his = mcp::open_handed_out(read.message, body, bob, has_tasks);
        require(!his || (his->tasks.empty() && his->edits.empty()), "another client names none of them", body);
        require(!his || !hers || hers->tasks.empty() || has_tasks, "what is hers is refused to him", body);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 1) {
        return 0;
    }
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    const auto end = std::min(text.find("\n\n"), text.size());
    check_sealed(text.substr(0, end), static_cast<mcp::handing>(data[0] % 5));
    check_opened(text.substr(std::min(end + 2, text.size())));
    return 0;
}
