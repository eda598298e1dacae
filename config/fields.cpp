#include "config/fields.hpp"

#include "config/schema.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <utility>

namespace config {
namespace {

constexpr std::string_view kind_of(node::kind k)
{
    switch (k) {
        case node::kind::null:
            return "has no value";
        case node::kind::scalar:
            return "is a single value";
        case node::kind::list:
            return "is a list";
        case node::kind::map:
            return "is a map";
    }
    return "has no value";
}

std::string quoted(std::string_view text)
{
    constexpr std::size_t longest = 40;
    std::string shown{text.substr(0, longest)};
    std::ranges::replace_if(
        shown,
        [](char c) { return core::is_control(c) || static_cast<unsigned char>(c) > 0x7F; },
        '?'
    );
    return '"' + shown + (text.size() > longest ? "...\"" : "\"");
}

}  // namespace

field member(const node& map, std::size_t i, std::string_view path)
{
    const auto& value = map.items[i];
    const auto& key = map.keys[i];
    return {join(path, key.text), &value, value.is == node::kind::null ? key.at : value.at, false};
}

void refuse(const field& f, std::string_view predicate, std::string_view expected, problem_list& problems)
{
    const bool shown =
        f.value->is == node::kind::scalar && !f.secret && !f.value->from_outside && !f.value->text.empty();
    problems.add(
        f,
        (shown ? config::quoted(f.value->text) + ' ' : "") + std::string{predicate} + "; expected " +
            std::string{expected}
    );
}

const std::string* read_text(const field& f, std::string_view expected, problem_list& problems)
{
    if (f.value->unusable) {
        return nullptr;
    }
    if (f.value->is != node::kind::scalar) {
        problems.add(f, std::string{kind_of(f.value->is)} + "; expected " + std::string{expected});
        return nullptr;
    }
    return &f.value->text;
}

const node* read_map(const field& f, std::string_view expected, problem_list& problems)
{
    static const node nothing = [] {
        node n;
        n.is = node::kind::map;
        return n;
    }();
    if (f.value->is == node::kind::null) {
        return &nothing;
    }
    if (f.value->is != node::kind::map) {
        if (!f.value->unusable) {
            problems.add(f, std::string{kind_of(f.value->is)} + "; expected " + std::string{expected});
        }
        return nullptr;
    }
    return f.value;
}

std::vector<field> read_list(const field& f, std::string_view expected, problem_list& problems)
{
    std::vector<field> elements;
    if (f.value->is != node::kind::list) {
        if (!f.value->unusable && f.value->is != node::kind::null) {
            problems.add(f, std::string{kind_of(f.value->is)} + "; expected " + std::string{expected});
        }
        return elements;
    }
    for (std::size_t i = 0; i < f.value->items.size(); ++i) {
        const auto& item = f.value->items[i];
        // YAML has a missing element begin at what follows, which may be beyond the end of the file.
        const auto at = item.is == node::kind::null ? f.at : item.at;
        elements.push_back({f.path + '[' + std::to_string(i) + ']', &item, at, f.secret});
    }
    return elements;
}

members
read_members(const node& map, std::string_view path, const std::vector<std::string_view>& known, problem_list& problems)
{
    members given;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const auto& key = map.keys[i];
        auto value = member(map, i, path);
        if (std::find(known.begin(), known.end(), key.text) == known.end()) {
            problems.add(key.at, value.path, unknown_key(key.text, known));
        } else {
            given.emplace(key.text, std::move(value));
        }
    }
    return given;
}

const field* find_field(const members& given, std::string_view key)
{
    const auto found = given.find(key);
    return found == given.end() ? nullptr : &found->second;
}

std::optional<core::duration>
read_duration(const field& f, core::duration least, core::duration most, problem_list& problems)
{
    const auto value = read_parsed(f, "a duration such as 500ms, 5s, 5m or 1h", parse_duration, problems);
    if (value && (*value < least || *value > most)) {
        refuse(f, "is out of range", to_text(least) + " to " + to_text(most), problems);
        return {};
    }
    return value;
}

std::optional<std::uint64_t>
read_size(const field& f, std::string_view expected, size_range range, problem_list& problems)
{
    const auto value = read_parsed(f, expected, parse_size, problems);
    if (value && (*value < range.least || *value > range.most)) {
        refuse(f, "is out of range", size_text(range.least) + " to " + size_text(range.most), problems);
        return {};
    }
    return value;
}

std::optional<std::uint64_t>
read_count(const field& f, std::string_view expected, size_range range, problem_list& problems)
{
    const auto value = read_parsed(f, expected, parse_count, problems);
    if (value && (*value < range.least || *value > range.most)) {
        refuse(f, "is out of range", expected, problems);
        return {};
    }
    return value;
}

std::optional<double> read_share(const field& f, share_range range, problem_list& problems)
{
    const auto expected = "a number, " + share_text(range.least) + " to " + share_text(range.most);
    const auto value = read_parsed(f, expected, parse_share, problems);
    if (value && (*value < range.least || *value > range.most)) {
        refuse(f, "is out of range", expected, problems);
        return {};
    }
    return value;
}

std::optional<bool> read_switch(const field& f, problem_list& problems)
{
    return read_parsed(f, "true or false", parse_switch, problems);
}

std::optional<std::string> read_url(const field& f, problem_list& problems, std::string_view expected)
{
    field quiet = f;
    quiet.secret = true;  // who puts a password into a URL does not want it on the screen
    return read_parsed(
        quiet,
        expected,
        [](const std::string& text) { return parse_http_url(text, query::allowed); },
        problems
    );
}

std::optional<core::secret> read_proxy(const field& f, problem_list& problems)
{
    field quiet = f;
    quiet.secret = true;
    return read_parsed(quiet, expected_proxy, parse_proxy, problems);
}

std::optional<core::secret> read_proxy_file(const field& f, const secret_reader& files, problem_list& problems)
{
    const auto text = read_named_file(f, "the path of a file with the URL of a proxy", files, problems);
    auto proxy = text ? std::optional{parse_proxy(*text)} : std::nullopt;
    if (proxy && !*proxy) {
        problems.add(f, "is a file whose text " + proxy->error().detail + "; expected " + std::string{expected_proxy});
    }
    return proxy && *proxy ? std::optional{std::move(**proxy)} : std::nullopt;
}

std::optional<std::string> read_line(const field& f, std::string_view expected, problem_list& problems)
{
    const auto* text = read_text(f, expected, problems);
    if (text == nullptr) {
        return {};
    }
    if (text->empty() || std::ranges::any_of(*text, core::is_control)) {
        refuse(f, text->empty() ? "is empty" : "has a control character", expected, problems);
        return {};
    }
    return *text;
}

std::optional<std::string>
read_named_file(const field& f, std::string_view expected, const secret_reader& files, problem_list& problems)
{
    const auto path = read_line(f, expected, problems);
    if (!path) {
        return {};
    }
    auto text = files ? files(*path) : core::gateway_error(core::errc::config_invalid, "cannot be read here");
    if (!text) {
        refuse(f, text.error().detail, expected, problems);
        return {};
    }
    return std::move(*text);
}

}  // namespace config
