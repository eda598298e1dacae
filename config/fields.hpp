// Single values out of the document: each of these reads one, or reports why not and what was expected.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/url.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace config {

// A value, the path of its key, and where to point: the value, or its key if the value is missing.
struct field {
    std::string path;
    const node* value = nullptr;
    place at;
    bool secret = false;  // its text is never shown
};

// The i-th member of a map whose own path is `path`.
field member(const node& map, std::size_t i, std::string_view path);

// The text of a scalar. `expected` completes "…; expected <expected>".
const std::string* read_text(const field& f, std::string_view expected, problem_list& problems);

// Reports "<the value> <predicate>; expected <expected>". The value is quoted unless it may be a secret.
void refuse(const field& f, std::string_view predicate, std::string_view expected, problem_list& problems);

// The value that `parse` returns for the text: a core::result whose detail is a predicate. Nothing: it is reported.
template <class Parse>
auto read_parsed(const field& f, std::string_view expected, Parse parse, problem_list& problems)
{
    const auto* text = read_text(f, expected, problems);
    auto value = text == nullptr ? std::nullopt : std::optional{parse(*text)};
    if (value && !*value) {
        refuse(f, value->error().detail, expected, problems);
    }
    return value && *value ? std::optional{std::move(**value)} : std::nullopt;
}

// The credentials in a file (config/file.hpp: read_secret_file), or why not as a predicate.
using secret_reader = std::function<core::result<std::string>(const std::string& path)>;

// The content of the named file, which is a secret: no problem shows it. Without a reader, no file can be read.
std::optional<std::string>
read_named_file(const field& f, std::string_view expected, const secret_reader& files, problem_list& problems);

// A map, or nothing (reported). No value at all (`cards:`) is an empty map.
const node* read_map(const field& f, std::string_view expected, problem_list& problems);

// The members of a map by their keys.
using members = std::map<std::string, field, std::less<>>;

// Those of `map` whose key is among `known`; the others are reported. `path` is the map's own.
members read_members(
    const node& map,
    std::string_view path,
    const std::vector<std::string_view>& known,
    problem_list& problems
);

// Null: it is not given.
const field* find_field(const members& given, std::string_view key);

struct size_range {
    std::uint64_t least;
    std::uint64_t most;
};

std::optional<core::duration>
read_duration(const field& f, core::duration least, core::duration most, problem_list& problems);
// Bytes. `expected` is what to say of text that is no size.
std::optional<std::uint64_t>
read_size(const field& f, std::string_view expected, size_range range, problem_list& problems);
// A number. `expected` says which.
std::optional<std::uint64_t>
read_count(const field& f, std::string_view expected, size_range range, problem_list& problems);
struct share_range {
    double least;
    double most;
};
std::optional<double> read_share(const field& f, share_range range, problem_list& problems);
std::optional<bool> read_switch(const field& f, problem_list& problems);
// With a query, if it has one.
std::optional<std::string> read_url(
    const field& f,
    problem_list& problems,
    std::string_view expected = "an http or https URL such as http://10.0.0.7:9000/path"
);

// A proxy, or the file with one. Never shown.
std::optional<core::secret> read_proxy(const field& f, problem_list& problems);
std::optional<core::secret> read_proxy_file(const field& f, const secret_reader& files, problem_list& problems);

// The elements of a list, or nothing (reported). No value at all is an empty list.
std::vector<field> read_list(const field& f, std::string_view expected, problem_list& problems);

// Text without control characters, not empty.
std::optional<std::string> read_line(const field& f, std::string_view expected, problem_list& problems);

}  // namespace config
