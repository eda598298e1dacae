#include "config/tls.hpp"

#include "config/agent_table.hpp"
#include "config/values.hpp"

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_file = "the path of a PEM file";
constexpr std::string_view expected_pair = "a map with cert and key";

std::string path_of(const members& given, std::string_view key, problem_list& problems)
{
    const auto* f = find_field(given, key);
    return f == nullptr ? std::string{} : read_line(*f, expected_file, problems).value_or("");
}

// Reports it if the file cannot be used.
void check(const members& given, std::string_view key, const core::result<>& used, problem_list& problems)
{
    if (!used) {
        refuse(*find_field(given, key), used.error().detail, expected_file, problems);
    }
}

// Both or neither, and one for the other.
std::pair<std::string, std::string>
read_pair(const members& given, const tls_checks& checks, bool by_name, problem_list& problems)
{
    auto cert = path_of(given, "cert", problems);
    auto key = path_of(given, "key", problems);
    for (const auto& [one, other] : {std::pair{"cert", "key"}, std::pair{"key", "cert"}}) {
        const auto* f = find_field(given, one);
        if (f != nullptr && find_field(given, other) == nullptr) {
            problems.add(*f, "stands without `" + std::string{other} + "`; expected both");
        }
    }
    if (!cert.empty() && checks.certificate) {
        check(given, "cert", checks.certificate(cert, by_name), problems);
    }
    if (!cert.empty() && !key.empty() && checks.key) {
        check(given, "key", checks.key(cert, key), problems);
    }
    return {std::move(cert), std::move(key)};
}

std::vector<std::string> read_names(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "a DNS name such as a.example.com or *.example.com";
    std::vector<std::string> names;
    for (const auto& element : read_list(f, "a list of DNS names", problems)) {
        const auto text = read_line(element, expected, problems);
        if (!text) {
            continue;
        }
        const bool wild = text->starts_with("*.");
        if (valid_host(std::string_view{*text}.substr(wild ? 2 : 0))) {
            names.push_back(*text);
        } else {
            refuse(element, "is not a DNS name", expected, problems);
        }
    }
    return names;
}

std::optional<certificate_files> read_one(const field& f, bool first, const tls_checks& checks, problem_list& problems)
{
    const auto* map = read_map(f, expected_pair, problems);
    if (map == nullptr) {
        return std::nullopt;
    }
    const auto given = read_members(*map, f.path, {"cert", "key", "names"}, problems);
    if (!given.contains("cert") && !given.contains("key")) {
        refuse(f, "has neither cert nor key", expected_pair, problems);
        return std::nullopt;
    }
    certificate_files files;
    if (const auto* names = find_field(given, "names")) {
        files.names = read_names(*names, problems);
    }
    std::tie(files.cert, files.key) = read_pair(given, checks, !first && files.names.empty(), problems);
    return files;
}

}  // namespace

std::vector<certificate_files> read_certificates(const field& f, const tls_checks& checks, problem_list& problems)
{
    constexpr std::string_view expected = "a map with cert and key, or a list of these";
    if (f.value->is == node::kind::null || (f.value->is == node::kind::list && f.value->items.empty())) {
        refuse(f, f.value->is == node::kind::null ? "has no value" : "is empty", expected, problems);
        return {};
    }
    std::vector<field> each{f};
    if (f.value->is != node::kind::map) {
        each = read_list(f, expected, problems);
    }
    std::vector<certificate_files> all;
    for (const auto& one : each) {
        if (auto files = read_one(one, all.empty(), checks, problems)) {
            all.push_back(std::move(*files));
        }
    }
    return all;
}

void read_agent_tls(const field& f, const tls_checks& checks, core::agent& into, problem_list& problems)
{
    const auto* map = read_map(f, "a map with ca_file, or cert and key", problems);
    if (map == nullptr) {
        return;
    }
    const auto given = read_members(*map, f.path, keys_below("tls"), problems);
    into.ca_file = path_of(given, "ca_file", problems);
    if (!into.ca_file.empty() && checks.authorities) {
        check(given, "ca_file", checks.authorities(into.ca_file), problems);
    }
    std::tie(into.cert_file, into.key_file) = read_pair(given, checks, false, problems);
}

}  // namespace config
