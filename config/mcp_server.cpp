#include "config/mcp_server.hpp"

#include "config/agent_parts.hpp"
#include "config/agent_table.hpp"
#include "config/json_value.hpp"
#include "config/mcp_program.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/redaction.hpp"
#include "core/secret.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace config {
namespace {

using namespace std::string_view_literals;
using core::mcp_transport;

constexpr std::string_view expected_transport = "a map with a url or a command";
constexpr std::string_view expected_types = "stdio, streamable-http or sse";

// Blanks are in the paths of programs, never in names that are looked for in PATH.
bool is_whole_line(std::string_view command)
{
    const auto blank = command.find_first_of(" \t");
    return blank != command.npos && command.substr(0, blank).find('/') == command.npos;
}

core::json hide_values(const node& value)
{
    auto hidden = to_json(value);
    if (value.is == node::kind::scalar) {
        hidden = core::masked;
    } else {
        std::size_t i = 0;
        for (auto& item : hidden) {
            item = hide_values(value.items[i++]);
        }
    }
    return hidden;
}

// A command may be a whole line with options.
std::string first_word(const std::string& command)
{
    const auto blank = command.find_first_of(" \t\r\n");
    return blank == std::string::npos ? command : command.substr(0, blank) + ' ' + core::masked;
}

core::json shown_arguments(const node& value, std::string_view program)
{
    auto shown = hide_values(value);
    if (value.is != node::kind::list) {
        return shown;
    }
    std::vector<std::string> texts;
    texts.reserve(value.items.size());
    for (const auto& each : value.items) {
        texts.push_back(each.text);
    }
    const auto harmless = core::harmless_arguments(program, texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto& item = value.items[i];
        if (harmless[i] && item.is == node::kind::scalar && !item.from_outside) {
            shown[i] = texts[i];
        }
    }
    return shown;
}

// A member of a transport, or of a package, as it may be shown: only members that cannot hold a credential keep their value.
// `program` gets the `args`; empty: none of them is known to be harmless.
core::json shown_member(std::string_view name, const node& value, std::string_view program = {})
{
    constexpr auto harmless =
        std::to_array<std::string_view>({"type", "cwd", "memory", "cpus", "network", "name", "registryType", "version"}
        );
    if (value.is == node::kind::scalar && !value.from_outside) {
        if (name == "command") {
            return first_word(value.text);
        }
        if (name == "url") {
            return shown_url(value.text);
        }
        if (std::find(harmless.begin(), harmless.end(), name) != harmless.end()) {
            return to_json(value);
        }
    }
    if (name == "args" && !program.empty()) {
        return shown_arguments(value, program);
    }
    if (name != "package" || value.is != node::kind::map) {
        return hide_values(value);
    }
    auto shown = core::json::object();
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
        append_member(shown, value.keys[i].text, shown_member(value.keys[i].text, value.items[i]));
    }
    return shown;
}

class server_reader {
public:
    server_reader(const members& given, const std::string& path, place at, problem_list& problems)
        : given_{given},
          path_{path},
          at_{at},
          problems_{problems}
    {
    }

    mcp_parts read()
    {
        if (const auto* f = find_field(given_, "url")) {
            parts_.url = read_url(*f, problems_).value_or("");
        }
        read_reach();
        return std::move(parts_);
    }

private:
    void read_reach()
    {
        const auto* transport = find_field(given_, "transport");
        const auto* command = find_field(given_, "command");
        if (transport != nullptr && command != nullptr) {
            problems_.add(*command, "stands beside " + transport->path + "; expected one of the two");
        } else if (transport != nullptr) {
            take_transport(*transport);
        } else if (command != nullptr) {
            take_command(*command);
        } else if (given_.contains("url")) {
            take_type(short_form("url"));
        } else {
            problems_.add(at_, path_, "has neither a url nor a transport; expected one of the two");
        }
        if (const auto* type = find_field(given_, "type"); type != nullptr && transport != nullptr) {
            problems_.add(*type, "stands beside " + transport->path + "; expected one of the two");
        }
        for (const auto* key : {"args", "env", "cwd"}) {
            const auto* f = find_field(given_, key);
            if (f != nullptr && command == nullptr) {
                problems_.add(*f, "stands without " + path_ + ".command; expected both");
            }
        }
        if (const auto* f = find_field(given_, "headers")) {
            take_headers(*f);
        }
    }

    void take_transport(const field& f)
    {
        const auto* map = read_map(f, "a map", problems_);
        members given;
        if (map != nullptr) {
            given = read_members(*map, f.path, {transport_keys.begin(), transport_keys.end()}, problems_);
        }
        parts_.shown = core::json::object();
        const auto* command = find_field(given, "command");
        const auto program = command == nullptr ? std::string_view{} : std::string_view{command->value->text};
        for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
            append_member(parts_.shown, map->keys[i].text, shown_member(map->keys[i].text, map->items[i], program));
        }
        if (!given.contains("url") && !given.contains("command") && !given.contains("package")) {
            if (f.value->is == node::kind::map) {
                refuse(f, "has neither a url nor a command", expected_transport, problems_);
            }
            return;
        }
        take_type(given);
        if (const auto* url = find_field(given, "url")) {
            if (!parts_.url.empty()) {
                problems_.add(f.at, f.path + ".url", "stands beside " + path_ + ".url; expected one of the two");
            }
            parts_.url = read_url(*url, problems_).value_or("");
        }
        take_program(given);
        if (const auto* headers = find_field(given, "headers")) {
            take_headers(*headers);
        }
    }

    void take_type(const members& given)
    {
        const bool program = given.contains("command");
        const bool url = given.contains("url");
        auto& transport = parts_.server.transport;
        transport = program ? mcp_transport::stdio : url ? mcp_transport::streamable_http : mcp_transport::unsupported;
        const auto* type = find_field(given, "type");
        const auto* text = type == nullptr ? nullptr : read_text(*type, expected_types, problems_);
        if (text == nullptr) {
            return;
        }
        const auto* const found = std::find_if(transport_types.begin(), transport_types.end(), [&](const auto& each) {
            return each.name == *text;
        });
        if (found == transport_types.end()) {
            refuse(*type, text->empty() ? "is empty" : "is not a transport", expected_types, problems_);
            return;
        }
        const bool stdio = found->value == mcp_transport::stdio;
        if (stdio && !program && !given.contains("package")) {
            refuse(*type, "needs a command", expected_types, problems_);
        } else if (!stdio && !url) {
            refuse(*type, "needs a url", expected_types, problems_);
        } else if (program || url) {
            transport = found->value;
        }
    }

    void take_program(const members& given)
    {
        auto& server = parts_.server;
        const auto* command = find_field(given, "command");
        if (command == nullptr) {
            return;
        }
        if (!parts_.url.empty()) {
            problems_.add(*command, "stands beside a url; expected one of the two");
        }
        server.command = read_line(*command, "a command", problems_).value_or("");
        if (is_whole_line(server.command)) {
            auto line = *command;
            line.secret = true;
            refuse(line, "is a whole line", "the program alone, with its arguments in args", problems_);
        }
        if (const auto* f = find_field(given, "args")) {
            for (const auto& element : read_list(*f, "a list of arguments", problems_)) {
                if (auto text = read_argument(element, problems_)) {
                    server.arguments.push_back(std::move(*text));
                }
            }
        }
        if (const auto* f = find_field(given, "env")) {
            server.environment = read_environment(*f, problems_);
        }
        if (const auto* f = find_field(given, "cwd")) {
            server.directory = read_line(*f, "a directory", problems_).value_or("");
        }
    }

    // The short form of a transport of type stdio.
    void take_command(const field& f)
    {
        const auto given = short_form("command");
        parts_.shown = {{"type", "stdio"}, {"command", shown_member("command", *f.value)}};
        for (const auto* name : {"args", "env", "cwd"}) {
            if (const auto* more = find_field(given, name)) {
                parts_.shown[name] = shown_member(name, *more->value, f.value->text);
            }
        }
        take_type(given);
        take_program(given);
    }

    // The keys of a transport that stand in the agent itself.
    members short_form(std::string_view reached_by) const
    {
        members given;
        for (const auto key : {reached_by, "args"sv, "env"sv, "cwd"sv, "type"sv}) {
            if (const auto* f = find_field(given_, key)) {
                given.emplace(key, *f);
            }
        }
        return given;
    }

    void take_headers(const field& f)
    {
        if (!parts_.headers.empty()) {
            problems_.add(f, "stands beside the headers of the transport; expected one of the two");
            return;
        }
        parts_.headers = read_headers(f, problems_, header_use::mcp);
        if (parts_.url.empty()) {
            problems_.add(f, "stands without a url; expected both");
        }
    }

    const members& given_;
    const std::string& path_;
    place at_;
    problem_list& problems_;
    mcp_parts parts_;
};

using core::json;
using pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view expected_filter = "a map with allow, deny, rename and describe";

struct pair_words {
    std::string_view map;
    std::string_view value;
    std::size_t longest;
};

pairs read_pairs(const field& f, const pair_words& words, problem_list& problems)
{
    pairs read;
    const auto* map = read_map(f, words.map, problems);
    if (map == nullptr) {
        return read;
    }
    if (map->keys.size() > most_filter_names) {
        problems.add(f, "has more than " + std::to_string(most_filter_names) + " names");
        return read;
    }
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        const auto value = member(*map, i, f.path);
        const auto* text = read_text(value, words.value, problems);
        if (text == nullptr) {
            continue;
        }
        if (text->empty() || text->size() > words.longest) {
            refuse(
                value,
                text->empty() ? "is empty" : "is longer than " + std::to_string(words.longest) + " bytes",
                words.value,
                problems
            );
        } else {
            read.emplace_back(map->keys[i].text, *text);
        }
    }
    return read;
}

void check_names(const field& f, const pairs& names, problem_list& problems)
{
    std::set<std::string_view> exposed;
    for (const auto& [name, other] : names) {
        if (!exposed.insert(other).second) {
            problems.add(f, "gives two names the name `" + other + "`; expected another one");
        }
    }
}

json shown_pairs(const pairs& shown)
{
    auto map = json::object();
    for (const auto& [name, value] : shown) {
        map[name] = value;
    }
    return map;
}

bool is_forwardable(std::string_view name)
{
    constexpr auto refused = std::to_array<std::string_view>({"authorization", "cookie", "origin", "content-encoding"});
    const auto lower = core::in_lower_case(name);
    return std::ranges::find(refused, lower) == refused.end() && !lower.starts_with("mcp-") &&
           !is_reserved(name, header_use::calls) && !is_reserved(name, header_use::mcp);
}

// 43 digits of base64 have 32 bytes and two bits, which are 0.
bool is_session_key(std::string_view text)
{
    constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
    constexpr std::string_view last_digits = "AEIMQUYcgkosw048";
    const auto is_base64 = [](char c) {
        return core::is_letter(c) || core::is_digit(c) || c == '+' || c == '/' || c == '-' || c == '_';
    };
    if (text.size() == 64 && text.find_first_not_of(hexadecimal) == std::string_view::npos) {
        return true;
    }
    text.remove_suffix(text.ends_with('=') ? 1 : 0);
    return text.size() == 43 && std::ranges::all_of(text, is_base64) &&
           last_digits.find(text.back()) != std::string_view::npos;
}

}  // namespace

mcp_parts read_mcp_server(const members& given, const std::string& path, place at, problem_list& problems)
{
    return server_reader{given, path, at, problems}.read();
}

void take_mcp_keys(members& given, problem_list& problems)
{
    std::erase_if(given, [&](const auto& each) {
        const auto& f = each.second;
        const bool taken = only_of_mcp(*find_agent_setting(each.first));
        if (taken) {
            problems.add(f, "is for MCP servers; expected protocol: mcp, or a url alone");
        }
        return taken;
    });
}

std::vector<std::string> read_name_patterns(const field& f, problem_list& problems)
{
    std::vector<std::string> patterns;
    const auto elements = read_list(f, "a list of patterns such as read_*", problems);
    if (elements.size() > most_filter_patterns) {
        problems.add(f, "has more than " + std::to_string(most_filter_patterns) + " patterns");
        return patterns;
    }
    for (const auto& each : elements) {
        if (auto pattern = read_line(each, "a name, in which * is any text", problems)) {
            patterns.push_back(std::move(*pattern));
        }
    }
    return patterns;
}

core::mcp_filter read_mcp_filter(const field& f, problem_list& problems)
{
    core::mcp_filter filter;
    if (f.value->is == node::kind::list) {
        filter.allow = read_name_patterns(f, problems);
        return filter;
    }
    const auto* map = read_map(f, expected_filter, problems);
    if (map == nullptr) {
        return filter;
    }
    const auto given = read_members(*map, f.path, {"allow", "deny", "rename", "describe"}, problems);
    if (const auto* allow = find_field(given, "allow")) {
        filter.allow = read_name_patterns(*allow, problems);
    }
    if (const auto* deny = find_field(given, "deny")) {
        filter.deny = read_name_patterns(*deny, problems);
    }
    if (const auto* names = find_field(given, "rename")) {
        filter.names = read_pairs(*names, {"a map of names", "the name for callers", longest_exposed_name}, problems);
        check_names(*names, filter.names, problems);
    }
    if (const auto* texts = find_field(given, "describe")) {
        constexpr pair_words words{"a map of descriptions", "a description", longest_exposed_description};
        filter.descriptions = read_pairs(*texts, words, problems);
    }
    return filter;
}

json shown_mcp_filter(const core::mcp_filter& filter)
{
    json shown;
    if (!filter.allow.empty()) {
        shown["allow"] = filter.allow;
    }
    if (!filter.deny.empty()) {
        shown["deny"] = filter.deny;
    }
    if (!filter.names.empty()) {
        shown["rename"] = shown_pairs(filter.names);
    }
    if (!filter.descriptions.empty()) {
        shown["describe"] = shown_pairs(filter.descriptions);
    }
    return shown;
}

std::vector<core::secret> read_session_keys(const field& f, const secret_reader& files, problem_list& problems)
{
    constexpr std::string_view expected =
        "the path of a file with 32 bytes as hex or base64, such as openssl rand -hex 32 prints";
    std::vector<core::secret> keys;
    const auto elements = read_list(f, "a list of files with keys", problems);
    if (elements.size() > most_session_keys) {
        problems.add(f, "has more than " + std::to_string(most_session_keys) + " keys");
        return keys;
    }
    for (const auto& each : elements) {
        auto text = read_named_file(each, expected, files, problems);
        if (!text) {
            continue;
        }
        if (is_session_key(*text)) {
            keys.emplace_back(std::move(*text));
        } else {
            problems.add(each, "names a file that has no key; expected " + std::string{expected});
        }
    }
    return keys;
}

std::vector<std::string> read_forwarded_headers(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "the name of a header field such as X-Tenant";
    std::vector<std::string> names;
    const auto elements = read_list(f, "a list of header fields", problems);
    if (elements.size() > most_forwarded_headers) {
        problems.add(f, "has more than " + std::to_string(most_forwarded_headers) + " names");
        return names;
    }
    for (const auto& each : elements) {
        const auto* name = read_text(each, expected, problems);
        if (name == nullptr) {
            continue;
        }
        if (!core::is_token(*name) || name->find('_') != std::string::npos) {
            refuse(
                each,
                "is not the name of a header field, or has a '_', with which none goes on",
                expected,
                problems
            );
        } else if (!is_forwardable(*name)) {
            refuse(each, "is a credential, or a field of HTTP, MCP or the gateway", expected, problems);
        } else {
            names.push_back(*name);
        }
    }
    return names;
}

}  // namespace config
