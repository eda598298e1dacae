#include "config/access_values.hpp"

#include "config/json_value.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/log.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_texts = "text, or a list of texts";
constexpr std::string_view expected_scopes = "a scope such as cardea:read, or a list of scopes";
constexpr std::string_view expected_value = "a value, or a list of values";

// Digits alone, as many as there are in `text`.
std::optional<int> number(std::string_view text)
{
    int value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool digits = !text.empty() && core::is_digit(text.front());
    return digits && failed == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

// `text` has the form that `form` has, in which `9` stands for a digit.
bool has_form(std::string_view text, std::string_view form)
{
    bool same = text.size() == form.size();
    for (std::size_t i = 0; same && i < text.size(); ++i) {
        same = form[i] == '9' ? core::is_digit(text[i]) : text[i] == form[i];
    }
    return same;
}

int part(std::string_view text, std::size_t begin, std::size_t size)
{
    return number(text.substr(begin, size)).value_or(0);
}

// A truth value as JSON has it, however YAML lets it be written. Anything else as it is written: `007` is not 7.
std::string claim_text(const node& value)
{
    const auto typed = to_json(value);
    return typed.is_boolean() ? core::to_text(typed) : value.text;
}

core::result<std::string> parse_secure_url(std::string_view text)
{
    auto url = parse_http_url(text, query::allowed);
    if (url && !is_secure(*url)) {
        return core::gateway_error(core::errc::config_invalid, "is not safe from changes on its way");
    }
    return url;
}

}  // namespace

std::optional<std::string> read_short_text(const field& f, std::string_view expected, problem_list& problems)
{
    auto text = read_line(f, expected, problems);
    if (text && text->size() > longest_text) {
        refuse(f, "is longer than " + std::to_string(longest_text) + " bytes", expected, problems);
        return {};
    }
    return text;
}

std::vector<field> read_elements(const field& f, std::string_view expected, emptiness empty, problem_list& problems)
{
    if (f.value->is == node::kind::scalar) {
        return {f};
    }
    const bool nothing = f.value->is == node::kind::null;
    if (empty == emptiness::refused && !f.value->unusable &&
        (nothing || (f.value->is == node::kind::list && f.value->items.empty()))) {
        refuse(f, nothing ? "has no value" : "is empty", expected, problems);
        return {};
    }
    auto elements = read_list(f, expected, problems);
    if (elements.size() > most_elements) {
        problems.add(f, "has more than " + std::to_string(most_elements) + " elements");
        elements.clear();
    }
    return elements;
}

std::vector<std::string> read_texts(const field& f, emptiness empty, problem_list& problems)
{
    std::vector<std::string> texts;
    for (const auto& element : read_elements(f, expected_texts, empty, problems)) {
        if (auto text = read_short_text(element, "text", problems)) {
            texts.push_back(std::move(*text));
        }
    }
    return texts;
}

std::vector<std::string> read_scopes(const field& f, emptiness empty, problem_list& problems)
{
    std::vector<std::string> scopes;
    for (const auto& element : read_elements(f, expected_scopes, empty, problems)) {
        auto scope = read_short_text(element, expected_scopes, problems);
        if (scope && scope->find(' ') != std::string::npos) {
            refuse(element, "has a blank", expected_scopes, problems);
        } else if (scope) {
            scopes.push_back(std::move(*scope));
        }
    }
    return scopes;
}

std::vector<core::claim> read_claims(const field& f, emptiness empty, problem_list& problems)
{
    constexpr std::string_view expected = "a map from names of claims to values";
    std::vector<core::claim> claims;
    const auto* map =
        empty == emptiness::allowed ? read_map(f, expected, problems) : read_given_map(f, expected, problems);
    if (map == nullptr) {
        return claims;
    }
    if (map->keys.empty() && empty == emptiness::refused) {
        refuse(f, "is empty", expected, problems);
    }
    if (map->keys.size() > most_elements) {
        problems.add(f, "has more than " + std::to_string(most_elements) + " claims");
        return claims;
    }
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        const auto& name = map->keys[i];
        const auto values = member(*map, i, f.path);
        if (name.text.empty() || name.text.size() > longest_text) {
            problems.add(name.at, values.path, "is not the name of a claim; expected 1 to 256 bytes");
        }
        for (const auto& element : read_elements(values, expected_value, emptiness::refused, problems)) {
            if (read_short_text(element, expected_value, problems)) {
                claims.emplace_back(name.text, claim_text(*element.value));
            }
        }
    }
    return claims;
}

core::json shown_claims(const std::vector<core::claim>& claims)
{
    auto shown = core::json::object();
    for (const auto& [name, value] : claims) {
        shown[name].push_back(value);
    }
    return shown;
}

bool is_secure(std::string_view url)
{
    const auto parts = core::http_url::parse(url);
    return parts && (parts->secure || is_loopback({parts->host, 0}));
}

std::string read_secure_url(field f, problem_list& problems)
{
    f.secret = true;  // its query may be one
    return read_parsed(f, expected_secure_url, parse_secure_url, problems).value_or("");
}

bool is_id_pattern(std::string_view text)
{
    constexpr std::size_t longest = 128;
    return text.size() <= longest && std::ranges::all_of(text, [](char c) {
               return core::is_letter(c) || core::is_digit(c) || c == '.' || c == '_' || c == '-' || c == '*';
           });
}

const node* read_given_map(const field& f, std::string_view expected, problem_list& problems)
{
    if (f.value->is == node::kind::null && !f.value->unusable) {
        refuse(f, "has no value", expected, problems);
        return nullptr;
    }
    return read_map(f, expected, problems);
}

core::result<core::wall_time> parse_time(std::string_view text)
{
    using namespace std::chrono;
    const bool date = has_form(text, "9999-99-99");
    if (!date && !has_form(text, "9999-99-99T99:99:99Z")) {
        return invalid("is not a date, and not a time in UTC");
    }
    const year_month_day day{
        year{part(text, 0, 4)},
        month{static_cast<unsigned>(part(text, 5, 2))},
        std::chrono::day{static_cast<unsigned>(part(text, 8, 2))}
    };
    const auto hour = date ? 0 : part(text, 11, 2);
    const auto minute = date ? 0 : part(text, 14, 2);
    const auto second = date ? 0 : part(text, 17, 2);
    if (!day.ok() || hour > 23 || minute > 59 || second > 59) {
        return invalid("is not in the calendar");
    }
    if (day.year() < year{1970} || day.year() > year{2200}) {
        return invalid("is not between 1970 and 2200");
    }
    return core::wall_time{sys_days{day} + hours{hour} + minutes{minute} + seconds{second}};
}

std::string time_text(core::wall_time time)
{
    std::string text;
    core::append_timestamp(text, time);
    const auto fraction = text.rfind('.');
    return fraction == std::string::npos ? text : text.substr(0, fraction) + 'Z';
}

access_members::access_members(const field& f, const node& map, access_map kind, const reading& with)
    : path_{f.path},
      at_{f.at},
      kind_{kind},
      with_{with},
      given_{read_members(map, f.path, keys_of(kind), with.problems)}
{
}

const field* access_members::require(std::string_view key, std::string_view expected) const
{
    const auto* f = find(key);
    if (f == nullptr) {
        problems().add(at_, join(path_, key), "is missing; expected " + std::string{expected});
    }
    return f;
}

bool access_members::require_one(std::string_view first, std::string_view second, std::string_view expected) const
{
    const auto* one = find(first);
    const auto* other = find(second);
    if (one != nullptr && other != nullptr) {
        problems().add(*other, "stands beside " + one->path + "; expected one of the two");
    } else if (one == nullptr && other == nullptr) {
        require(first, std::string{expected} + ", or `" + std::string{second} + '`');
    }
    return (one == nullptr) != (other == nullptr);
}

}  // namespace config
