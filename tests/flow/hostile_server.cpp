// An MCP server over stdio that breaks what it is told to break: hostile_server HABIT [PIDS [NUMBER]]. PIDS is a file that gets a
// line with its process id at each start. Apart from its habit it answers as a server of 2025-06-18 with one tool.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <thread>

namespace {

// A message of the gateway, as far as it matters here: ids are numbers, and methods have no escapes.
struct question {
    std::string id;  // empty: a notification or an answer
    std::string method;
    std::string text;
};

std::string between(std::string_view text, std::string_view before, std::string_view end)
{
    const auto at = text.find(before);
    if (at == std::string_view::npos) {
        return {};
    }
    text.remove_prefix(at + before.size());
    return std::string{text.substr(0, text.find_first_of(end))};
}

// False: our output is closed, or nobody reads it any more.
bool put(int where, std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto written = ::write(where, bytes.data(), bytes.size());
        if (written < 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool say(const std::string& line)
{
    return put(STDOUT_FILENO, line + '\n');
}

std::string result(const std::string& id, const std::string& what)
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + what + "}";
}

const std::string greeting =
    R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hostile","version":"1"}})";

std::string tool(std::string_view name)
{
    return R"({"name":")" + std::string{name} + R"(","inputSchema":{"type":"object"}})";
}

std::string tools(const std::string& list, const std::string& more = "")
{
    return R"({"tools":[)" + list + "]" + more + "}";
}

// Where each walk over the lists leaves a line.
std::string& walks()
{
    static std::string path;
    return path;
}

void answer(const question& asked)
{
    if (asked.method == "initialize") {
        say(result(asked.id, greeting));
    } else if (asked.method == "tools/list") {
        std::ofstream{walks(), std::ios::app} << "1\n";
        say(result(asked.id, tools(tool("kept"))));
    } else if (asked.method == "ping") {
        say(result(asked.id, "{}"));
    } else if (!asked.id.empty() && !asked.method.empty()) {
        say(R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":-32601,"message":"no"}})");
    }
}

// Until the end of our input.
void serve(const std::function<void(const question&)>& how)
{
    for (std::string line; std::getline(std::cin, line);) {
        how({between(line, R"("id":)", ",}"), between(line, R"("method":")", "\""), line});
    }
}

[[noreturn]] void sleep_forever()
{
    for (;;) {
        ::pause();
    }
}

std::string repeated(std::string_view what, std::size_t times)
{
    std::string all;
    all.reserve(what.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        all += what;
    }
    return all;
}

// What is no answer of the protocol, and was to be one.
void refuse_to_be_right(const question& asked, std::size_t number)
{
    const std::string wrong[] = {
        "[" + result(asked.id, greeting) + "]",
        result(asked.id, repeated("[", 1000) + repeated("]", 1000)),
        R"({"jsonrpc":"2.0","id":)" + asked.id + "}",
        result("\"\"", greeting),
        result("null", "{}"),
        R"({"jsonrpc":"1.0","id":)" + asked.id + R"(,"result":{}})",
        result(asked.id, "\"\xff\""),
        result(asked.id, R"({"tools":[{"name":")" + std::string(2'000'000, 'x') + R"("}]})"),
    };
    asked.method == "tools/list" ? void(say(wrong[number])) : answer(asked);
}

// Everything that is not even an answer to what is asked, and the answer twice.
void be_noisy(const question& asked)
{
    using namespace std::string_literals;
    for (const auto& each : {
             "Server listening on stdio"s,
             "\xff\xfe\xc3\x28"s,
             "\0{\"jsonrpc\"\0"s,
             repeated("[", 100'000),
             repeated(R"({"a":)", 100'000),
             R"({"jsonrpc":"2.0","id":987654321,"result":)" + repeated("[", 1000) + repeated("]", 1000) + "}",
             result("987654321", "{}"),
             result("\"of another\"", greeting),
             result(asked.id + "e1", greeting),
             result("-1", "{}"),
             result("[" + asked.id + "]", "{}"),
             R"({"jsonrpc":"2.0","method":7})"s,
             R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":999,"progress":1}})"s,
             ""s,
         }) {
        say(each);
    }
    answer(asked);
    answer(asked);
}

// Writes the same again and again, and answers meanwhile.
void flood(const std::string& line)
{
    std::thread writer{[&] {
        std::string block;
        while (block.size() < 16 * 1024) {
            block += line + '\n';
        }
        while (put(STDOUT_FILENO, block)) {
        }
    }};
    writer.detach();
    serve(answer);
    ::_exit(0);
}

// So that the flood begins once the session stands.
void flood_when_ready(const std::string& line)
{
    for (std::string asked; std::getline(std::cin, asked);) {
        const question read{between(asked, R"("id":)", ",}"), between(asked, R"("method":")", "\""), asked};
        answer(read);
        if (read.method == "tools/list") {
            return flood(line);
        }
    }
}

// A child in a session of its own, which holds our output and does `what`.
void with_escaped(const std::function<void()>& what)
{
    std::cout.flush();
    if (::fork() == 0) {
        ::setsid();
        what();
        sleep_forever();
    }
}

// Whoever is traced cannot be reaped by its parent before its tracer allows it.
void be_traced(const std::string& tracers)
{
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    const auto traced = ::getpid();
    int ready[2];
    if (::pipe(ready) != 0) {
        return;
    }
    with_escaped([&] {
        const bool traces = ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0;
        std::ofstream{tracers, std::ios::app} << (traces ? ::getpid() : 0) << '\n';
        put(ready[1], "x");
    });
    char byte = 0;
    [[maybe_unused]] const auto got = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::close(ready[1]);
}

void send_pages(const question& asked, const std::string& cursor)
{
    static int page = 0;
    if (asked.method != "tools/list") {
        return answer(asked);
    }
    const auto name = "t" + std::to_string(++page);
    say(result(asked.id, tools(tool(name), R"(,"nextCursor":")" + (cursor.empty() ? name : cursor) + '"')));
}

void send_tools(const question& asked, std::size_t count, std::size_t description)
{
    if (asked.method != "tools/list") {
        return answer(asked);
    }
    std::string all;
    const auto words = std::string(description, 'x');
    for (std::size_t i = 0; i < count; ++i) {
        all += (i == 0 ? "" : ",") + (R"({"name":"tool-)" + std::to_string(i)) + R"(","description":")" + words + "\"}";
    }
    say(result(asked.id, tools(all)));
}

// What it does before it is asked anything, in the order of the letters; `number` is the test's.
std::map<std::string_view, std::function<void(const std::string& pids, std::size_t number)>> habits_of_writers()
{
    const auto answers = [](auto, auto) { serve(answer); };
    return {
        {"none", answers},
        {"noise", [](auto, auto) { serve(be_noisy); }},
        {"unfit", [](auto, std::size_t number) { serve([&](const auto& asked) { refuse_to_be_right(asked, number); }); }
        },
        {"garbage", [](auto, auto) { serve([](const question&) { say("no JSON"); }); }},
        {"half_line",
         [](auto, auto) {
             put(STDOUT_FILENO, R"({"jsonrpc":"2.0","id":)");
             sleep_forever();
         }},
        {"half_line_and_end", [](auto, auto) { put(STDOUT_FILENO, R"({"jsonrpc":"2.0","id":)"); }},
        {"long_line",
         [](auto, std::size_t megabytes) {
             const std::string block(1'000'000, 'x');
             for (std::size_t i = 0; i < megabytes && put(STDOUT_FILENO, block); ++i) {
             }
             say("");
             serve(answer);
         }},
        {"complaints",
         [](auto, std::size_t megabytes) {
             const auto block = repeated(std::string(999, 'x') + '\n', 1000);
             for (std::size_t i = 0; i < megabytes && put(STDERR_FILENO, block); ++i) {
             }
             serve(answer);
         }},
        {"changes",
         [](auto, auto) { flood_when_ready(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"); }},
        {"noise_flood", [](auto, auto) { flood_when_ready("no JSON"); }},
        {"requests",
         [](auto, auto) { flood_when_ready(R"({"jsonrpc":"2.0","id":"s1","method":"roots/list","params":{}})"); }},
        {"pings", [](auto, auto) { flood_when_ready(R"({"jsonrpc":"2.0","id":7,"method":"ping"})"); }},
        {"pages", [](auto, auto) { serve([](const auto& asked) { send_pages(asked, {}); }); }},
        {"same_page", [](auto, auto) { serve([](const auto& asked) { send_pages(asked, "again"); }); }},
        {"tools", [](auto, std::size_t count) { serve([&](const auto& asked) { send_tools(asked, count, 10); }); }},
        {"wordy_tools",
         [](auto, std::size_t count) { serve([&](const auto& asked) { send_tools(asked, count, 5000); }); }},
    };
}

std::map<std::string_view, std::function<void(const std::string& pids, std::size_t number)>> habits_of_processes()
{
    return {
        {"mute", [](auto, auto) { serve([](const question&) {}); }},
        {"exit_when_greeted",
         [](auto, auto) {
             serve([](const question& asked) {
                 answer(asked);
                 ::_exit(0);
             });
         }},
        {"deaf",
         [](auto, auto) {
             std::string asked;
             while (asked.find("tools/list") == std::string::npos && std::getline(std::cin, asked)) {
                 answer({between(asked, R"("id":)", ",}"), between(asked, R"("method":")", "\""), asked});
             }
             const auto id = std::string(1000, 'i');
             const auto line = R"({"jsonrpc":"2.0","id":")" + id + R"(","method":"sampling/createMessage"})";
             while (say(line)) {
             }
         }},
        {"silent",
         [](auto, auto) {
             serve([](const question& asked) {
                 answer(asked);
                 if (asked.method == "tools/list") {
                     ::close(STDOUT_FILENO);
                     sleep_forever();
                 }
             });
         }},
        {"stubborn",
         [](auto, auto) {
             std::signal(SIGTERM, SIG_IGN);
             serve(answer);
             sleep_forever();
         }},
        {"escape",
         [](const std::string& pids, auto) {
             with_escaped([&] { std::ofstream{pids + ".escaped", std::ios::app} << ::getpid() << '\n'; });
             serve(answer);
         }},
        {"fork",
         [](const std::string& pids, auto) {
             for (int i = 0; i < 3; ++i) {
                 if (::fork() == 0) {
                     std::ofstream{pids + ".forked", std::ios::app} << ::getpid() << '\n';
                     sleep_forever();
                 }
             }
             serve(answer);
         }},
        {"traced",
         [](const std::string& pids, auto) {
             be_traced(pids + ".tracers");
             serve(answer);
         }},
    };
}

}  // namespace

int main(int count, char** arguments)
{
    const std::string habit = count > 1 ? arguments[1] : "none";
    const std::string pids = count > 2 ? arguments[2] : "/dev/null";
    const std::size_t number = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 0;
    std::ofstream{pids, std::ios::app} << ::getpid() << '\n';
    walks() = count > 2 ? pids + ".walks" : "/dev/null";
    for (const auto& all : {habits_of_writers(), habits_of_processes()}) {
        if (const auto found = all.find(habit); found != all.end()) {
            found->second(pids, number);
            return 0;
        }
    }
    std::cerr << "no such habit: " << habit << '\n';
    return 2;
}
