#include "core/redaction.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace core {
namespace {

// Behind the first `mark`; empty: there is none.
std::string_view behind(std::string_view text, char mark)
{
    const auto at = text.find(mark);
    return at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
}

bool is_lower(char c) noexcept
{
    return c >= 'a' && c <= 'z';
}

// `/srv/data`, `./notes`; a credential in base64 that begins with a slash is not taken for one, and neither is a command line, a
// query or an assignment: `./server --token x`, `/sse?key=x`.
bool is_path(std::string_view text)
{
    if (text.find_first_of(" \t\r\n=?&;,|<>$`'\"") != std::string_view::npos) {
        return false;
    }
    if (text.starts_with("./") || text.starts_with("../") || text.starts_with("~/")) {
        return true;
    }
    if (text.size() < 3 || text[0] != '/' || !is_letter(text[1])) {
        return false;
    }
    const auto first = text.substr(2, std::min(text.find('/', 2), text.size()) - 2);
    return !first.empty() && std::ranges::all_of(first, is_lower);
}

// `--transport`; what is written together, such as `-pPASSWORD`, `--key=x` or `--key x`, is not only a name.
bool is_option_name(std::string_view text)
{
    const auto is_of_name = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
    return text.starts_with("--") ? std::ranges::all_of(text, is_of_name) : text.size() == 2 && text[0] == '-';
}

bool announces_secret(std::string_view option)
{
    const auto lower = in_lower_case(option);
    constexpr std::array<std::string_view, 8> words{"auth", "bearer", "cred", "key", "pass", "pwd", "secret", "token"};
    return option.starts_with('-') &&
           std::ranges::any_of(words, [&](auto word) { return lower.find(word) != std::string::npos; });
}

// These programs take first the program to run: `npx -y PACKAGE`, `python3 -m MODULE`.
bool runs_another(std::string_view program)
{
    constexpr std::array<std::string_view, 10> launchers{
        "bun",
        "bunx",
        "deno",
        "node",
        "npx",
        "pipx",
        "python",
        "python3",
        "uv",
        "uvx",
    };
    const auto slash = program.rfind('/');
    const auto name = slash == std::string_view::npos ? program : program.substr(slash + 1);
    return std::ranges::find(launchers, name) != launchers.end();
}

// `server-everything`, `@scope/server@1.2.3`.
bool is_package(std::string_view text)
{
    return !text.empty() && (is_lower(text[0]) || text[0] == '@') && std::ranges::all_of(text, [](char c) {
        return is_lower(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '/' || c == '@';
    });
}

// The password in `scheme://user:password@host`; empty: there is none.
std::string_view password_in(std::string_view address)
{
    const auto begin = address.find("://");
    if (begin == std::string_view::npos) {
        return {};
    }
    const auto authority = address.substr(begin + 3, address.find('/', begin + 3) - begin - 3);
    return behind(authority.substr(0, std::min(authority.rfind('@'), authority.size())), ':');
}

// The parts of an argument that may be a credential, beside the whole: `--key=VALUE`, `Name: VALUE`, `Name: Bearer VALUE`, and a password.
std::vector<std::string_view> parts_of(std::string_view argument)
{
    std::vector<std::string_view> found{behind(argument, '=')};
    if (const auto password = password_in(argument); argument.find("://") != std::string_view::npos) {
        found.push_back(password);
    } else if (const auto value = behind(argument, ':'); !value.empty()) {
        found.push_back(value.substr(std::min(value.find_first_not_of(' '), value.size())));
    }
    if (const auto blank = argument.rfind(' '); blank != std::string_view::npos) {
        found.push_back(argument.substr(blank + 1));
    }
    return found;
}

struct span {
    std::size_t begin;
    std::size_t end;
};

}  // namespace

redaction::redaction(const std::vector<std::string>& values)
{
    for (const auto& value : values) {
        add(value);
        for (std::string_view rest = value; !rest.empty();) {
            const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
            add(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    std::ranges::sort(values_, [](const auto& a, const auto& b) {
        return std::pair{b.size(), a} < std::pair{a.size(), b};
    });
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    reach_ = values_.empty() ? 0 : values_.front().size() - 1;
}

void redaction::add(std::string_view value)
{
    if (value.size() >= shortest) {
        values_.emplace_back(value);
    }
}

std::string redaction::apply(std::string_view text, std::size_t most) const
{
    most = std::min(most, text.size());
    const auto seen = text.substr(0, most + std::min(reach_, text.size() - most));
    std::vector<span> found;
    for (const auto& value : values_) {
        for (auto at = seen.find(value); at < most; at = seen.find(value, at + 1)) {
            found.push_back({at, at + value.size()});
        }
    }
    std::ranges::sort(found, {}, &span::begin);
    std::string out;
    std::size_t done = 0;
    for (const auto& each : found) {
        if (each.begin >= done) {
            out.append(text.substr(done, each.begin - done)).append(masked);
        }
        done = std::max(done, each.end);
    }
    return done < most ? out.append(text.substr(done, most - done)) : out;
}

// Neither names of options nor paths are credentials, nor the program that a launcher is to run. Without these what a server
// says of its start, such as which package or folder is not there, could not be read.
std::vector<bool> harmless_arguments(std::string_view program, const std::vector<std::string>& arguments)
{
    std::vector<bool> harmless;
    harmless.reserve(arguments.size());
    bool launches = runs_another(program);
    bool announced = false;
    for (const std::string_view each : arguments) {
        const bool is_option = each.starts_with('-');
        const bool is_program = launches && !is_option && is_package(each);
        harmless.push_back(!announced && (is_option_name(each) || is_path(each) || is_program));
        launches = launches && is_option;
        // `-token`, too, although it may be one letter with its value.
        announced = each.find_first_of("= ") == std::string_view::npos && announces_secret(each);
    }
    return harmless;
}

redaction
redaction_of(const mcp_server& server, const std::vector<std::pair<std::string, secret>>& headers, std::string_view url)
{
    std::vector<std::string> values;
    const auto add = [&](std::string_view value) { values.emplace_back(value); };
    for (const auto& [name, value] : server.environment) {
        add(value.reveal());
    }
    for (const auto& [name, value] : headers) {
        add(value.reveal());
        add(behind(value.reveal(), ' '));
    }
    const auto harmless = harmless_arguments(server.command, server.arguments);
    for (std::size_t i = 0; i < server.arguments.size(); ++i) {
        if (!harmless[i]) {
            add(server.arguments[i]);
            std::ranges::for_each(parts_of(server.arguments[i]), add);
        }
    }
    for (auto query = behind(url, '?'); !query.empty(); query = behind(query, '&')) {
        add(query);
        add(behind(query.substr(0, query.find('&')), '='));
    }
    return redaction{values};
}

}  // namespace core
