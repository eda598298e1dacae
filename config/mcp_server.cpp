#include "config/mcp_server.hpp"

#include "config/agent_parts.hpp"
#include "config/json_value.hpp"
#include "config/mcp_program.hpp"
#include "config/mcp_shown.hpp"
#include "config/url.hpp"
#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace config {
namespace {

using namespace std::chrono_literals;
using core::mcp_transport;

constexpr std::string_view expected_transport = "a map with a url or a command";
constexpr std::string_view expected_types = "stdio, streamable-http or sse";

// The keys of a transport; those behind `cwd` describe what the gateway does not run.
constexpr auto transport_keys = std::to_array<std::string_view>(
    {"type", "url", "headers", "command", "args", "env", "cwd", "package", "memory", "cpus", "network"}
);

using members = std::map<std::string_view, field>;

// Each key once; others are reported.
template <std::size_t N>
members gather(const field& f, const std::array<std::string_view, N>& known, problem_list& problems)
{
    members given;
    const auto* map = read_map(f, "a map", problems);
    for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
        const auto& key = map->keys[i];
        auto value = member(*map, i, f.path);
        const auto found = std::find(known.begin(), known.end(), key.text);
        if (found == known.end()) {
            problems.add(key.at, value.path, unknown_key(key.text, {known.begin(), known.end()}));
        } else {
            given.emplace(*found, std::move(value));
        }
    }
    return given;
}

// Blanks are in the paths of programs, never in names that are looked for in PATH.
bool is_whole_line(std::string_view command)
{
    const auto blank = command.find_first_of(" \t");
    return blank != command.npos && command.substr(0, blank).find('/') == command.npos;
}

class server_reader {
public:
    server_reader(const agent_keys& given, const std::string& path, place at, problem_list& problems)
        : given_{given},
          path_{path},
          at_{at},
          problems_{problems}
    {
    }

    mcp_parts read()
    {
        if (const auto* f = find(agent_key::url)) {
            parts_.url = read_url(*f, query::allowed, problems_).value_or("");
        }
        read_reach();
        read_session();
        return std::move(parts_);
    }

private:
    const field* find(agent_key key) const
    {
        const auto found = given_.find(key);
        return found == given_.end() ? nullptr : &found->second;
    }

    void read_reach()
    {
        const auto* transport = find(agent_key::transport);
        const auto* command = find(agent_key::command);
        if (transport != nullptr && command != nullptr) {
            problems_.add(command->at, command->path, "stands beside " + transport->path + "; expected one of the two");
        } else if (transport != nullptr) {
            take_transport(*transport);
        } else if (command != nullptr) {
            take_command(*command);
        } else if (const auto* url = find(agent_key::url)) {
            take_type(short_form({{"url", *url}}));
        } else {
            problems_.add(at_, path_, "has neither a url nor a transport; expected one of the two");
        }
        if (const auto* type = find(agent_key::type); type != nullptr && transport != nullptr) {
            problems_.add(type->at, type->path, "stands beside " + transport->path + "; expected one of the two");
        }
        for (const auto key : {agent_key::args, agent_key::env, agent_key::cwd}) {
            const auto* f = find(key);
            if (f != nullptr && command == nullptr) {
                problems_.add(f->at, f->path, "stands without " + path_ + ".command; expected both");
            }
        }
        if (const auto* f = find(agent_key::headers)) {
            take_headers(*f);
        }
    }

    void take_transport(const field& f)
    {
        const auto given = gather(f, transport_keys, problems_);
        parts_.shown = core::json::object();
        const auto* map = f.value->is == node::kind::map ? f.value : nullptr;
        for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
            append_member(parts_.shown, map->keys[i].text, shown_member(map->keys[i].text, map->items[i]));
        }
        if (!given.contains("url") && !given.contains("command") && !given.contains("package")) {
            if (map != nullptr) {
                refuse(f, "has neither a url nor a command", expected_transport, problems_);
            }
            return;
        }
        take_type(given);
        if (const auto url = given.find("url"); url != given.end()) {
            if (!parts_.url.empty()) {
                problems_.add(f.at, f.path + ".url", "stands beside " + path_ + ".url; expected one of the two");
            }
            parts_.url = read_url(url->second, query::allowed, problems_).value_or("");
        }
        take_program(given);
        if (const auto headers = given.find("headers"); headers != given.end()) {
            take_headers(headers->second);
        }
    }

    void take_type(const members& given)
    {
        const bool program = given.contains("command");
        const bool url = given.contains("url");
        auto& transport = parts_.server.transport;
        transport = program ? mcp_transport::stdio : url ? mcp_transport::streamable_http : mcp_transport::unsupported;
        const auto type = given.find("type");
        const auto* text = type == given.end() ? nullptr : read_text(type->second, expected_types, problems_);
        if (text == nullptr) {
            return;
        }
        constexpr auto names = std::to_array<std::pair<std::string_view, mcp_transport>>(
            {{"stdio", mcp_transport::stdio},
             {"local", mcp_transport::stdio},
             {"sse", mcp_transport::sse},
             {"streamable-http", mcp_transport::streamable_http},
             {"streamable_http", mcp_transport::streamable_http},
             {"streamableHttp", mcp_transport::streamable_http},
             {"http", mcp_transport::streamable_http}}
        );
        const auto* const found =
            std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.first == *text; });
        if (found == names.end()) {
            refuse(type->second, text->empty() ? "is empty" : "is not a transport", expected_types, problems_);
            return;
        }
        const bool stdio = found->second == mcp_transport::stdio;
        if (stdio && !program && !given.contains("package")) {
            refuse(type->second, "needs a command", expected_types, problems_);
        } else if (!stdio && !url) {
            refuse(type->second, "needs a url", expected_types, problems_);
        } else if (program || url) {
            transport = found->second;
        }
    }

    void take_program(const members& given)
    {
        auto& server = parts_.server;
        const auto command = given.find("command");
        if (command == given.end()) {
            return;
        }
        if (!parts_.url.empty()) {
            problems_.add(command->second.at, command->second.path, "stands beside a url; expected one of the two");
        }
        server.command = read_line(command->second, "a command", problems_).value_or("");
        if (is_whole_line(server.command)) {
            auto line = command->second;
            line.secret = true;
            refuse(line, "is a whole line", "the program alone, with its arguments in args", problems_);
        }
        if (const auto f = given.find("args"); f != given.end()) {
            for (const auto& element : read_list(f->second, "a list of arguments", problems_)) {
                if (auto text = read_argument(element, problems_)) {
                    server.arguments.push_back(std::move(*text));
                }
            }
        }
        if (const auto f = given.find("env"); f != given.end()) {
            server.environment = read_environment(f->second, problems_);
        }
        if (const auto f = given.find("cwd"); f != given.end()) {
            server.directory = read_line(f->second, "a directory", problems_).value_or("");
        }
    }

    // The short form of a transport of type stdio.
    void take_command(const field& f)
    {
        const auto given = short_form({{"command", f}});
        parts_.shown = {{"type", "stdio"}, {"command", shown_member("command", *f.value)}};
        for (const auto* name : {"args", "env", "cwd"}) {
            if (const auto more = given.find(name); more != given.end()) {
                parts_.shown[name] = shown_member(name, *more->second.value);
            }
        }
        take_type(given);
        take_program(given);
    }

    // The keys of a transport that stand in the agent itself.
    members short_form(members given) const
    {
        for (const auto& [name, key] :
             {std::pair{"args", agent_key::args},
              std::pair{"env", agent_key::env},
              std::pair{"cwd", agent_key::cwd},
              std::pair{"type", agent_key::type}}) {
            if (const auto* more = find(key)) {
                given.emplace(name, *more);
            }
        }
        return given;
    }

    void take_headers(const field& f)
    {
        if (!parts_.server.headers.empty()) {
            problems_.add(f.at, f.path, "stands beside the headers of the transport; expected one of the two");
            return;
        }
        parts_.server.headers = read_headers(f, problems_, header_use::mcp);
        if (parts_.url.empty()) {
            problems_.add(f.at, f.path, "stands without a url; expected both");
        }
    }

    void read_session()
    {
        auto& server = parts_.server;
        if (const auto* f = find(agent_key::start)) {
            server.start = read_one(*f, std::array{core::mcp_start::eager, core::mcp_start::lazy}, "eager or lazy");
        }
        if (const auto* f = find(agent_key::era)) {
            constexpr std::array eras{core::mcp_era::automatic, core::mcp_era::legacy, core::mcp_era::modern};
            server.era = read_one(*f, eras, "auto, legacy or modern");
            if (server.era == core::mcp_era::modern && server.transport == mcp_transport::sse) {
                problems_.add(
                    f->at,
                    f->path,
                    "stands beside the type sse, which has no modern era; expected auto or legacy"
                );
            }
        }
        if (const auto* f = find(agent_key::walk)) {
            server.walk = read_duration(*f, 0ms, 24h, problems_);
        }
        if (const auto* f = find(agent_key::stale_if_error)) {
            server.stale_if_error = read_switch(*f, problems_).value_or(false);
        }
        if (const auto* f = find(agent_key::max_message)) {
            take_max_message(*f);
        }
        take_times(
            agent_key::timeouts,
            std::array<std::string_view, 3>{"initialize", "request", "ping"},
            {&server.initialize_timeout, &server.request_timeout, &server.ping_interval},
            {1ms, 1ms, 0ms}
        );
        take_times(
            agent_key::restart,
            std::array<std::string_view, 2>{"backoff", "max_backoff"},
            {&server.backoff, &server.max_backoff},
            {10ms, 10ms}
        );
        if (const auto* f = find(agent_key::restart); f != nullptr && server.backoff > server.max_backoff) {
            problems_.add(f->at, f->path, "has a backoff over its max_backoff; expected at most max_backoff");
        }
    }

    template <class Enum, std::size_t N>
    Enum read_one(const field& f, const std::array<Enum, N>& all, std::string_view expected)
    {
        const auto* text = read_text(f, expected, problems_);
        const auto found = text == nullptr ? all.begin() : std::find_if(all.begin(), all.end(), [&](Enum each) {
            return core::name(each) == *text;
        });
        if (found == all.end()) {
            refuse(f, text->empty() ? "is empty" : "is not one of them", expected, problems_);
            return all.front();
        }
        return *found;
    }

    void take_max_message(const field& f)
    {
        constexpr auto least = core::least_mcp_message;
        constexpr auto most = core::most_mcp_message;
        constexpr std::string_view expected = "a size such as 512KiB or 8MiB";
        const auto* text = read_text(f, expected, problems_);
        const auto size = text == nullptr ? core::result<std::uint64_t>{least} : parse_size(*text);
        if (!size) {
            refuse(f, size.error().detail, expected, problems_);
        } else if (*size < least || *size > most) {
            refuse(f, "is out of range", size_text(least) + " to " + size_text(most), problems_);
        } else if (text != nullptr) {
            parts_.server.max_message = *size;
        }
    }

    template <std::size_t N>
    void take_times(
        agent_key key,
        const std::array<std::string_view, N>& names,
        const std::array<core::duration*, N>& into,
        const std::array<core::duration, N>& least
    )
    {
        const auto* f = find(key);
        if (f == nullptr) {
            return;
        }
        const auto given = gather(*f, names, problems_);
        for (std::size_t i = 0; i < N; ++i) {
            if (const auto each = given.find(names[i]); each != given.end()) {
                *into[i] = read_duration(each->second, least[i], 24h, problems_).value_or(*into[i]);
            }
        }
    }

    const agent_keys& given_;
    const std::string& path_;
    place at_;
    problem_list& problems_;
    mcp_parts parts_;
};

constexpr auto mcp_keys = std::to_array<agent_key>(
    {agent_key::transport,
     agent_key::command,
     agent_key::args,
     agent_key::env,
     agent_key::env_file,
     agent_key::cwd,
     agent_key::type,
     agent_key::headers,
     agent_key::start,
     agent_key::era,
     agent_key::timeouts,
     agent_key::walk,
     agent_key::restart,
     agent_key::max_message,
     agent_key::stale_if_error}
);

}  // namespace

mcp_parts read_mcp_server(const agent_keys& given, const std::string& path, place at, problem_list& problems)
{
    return server_reader{given, path, at, problems}.read();
}

void refuse_mcp_keys(const agent_keys& given, problem_list& problems)
{
    for (const auto key : mcp_keys) {
        if (const auto found = given.find(key); found != given.end()) {
            const auto& f = found->second;
            problems.add(f.at, f.path, "is for MCP servers; expected protocol: mcp, or a url alone");
        }
    }
}

}  // namespace config
