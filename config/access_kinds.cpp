#include "config/access_kinds.hpp"

#include "config/access_table.hpp"
#include "config/problem.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <utility>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_pattern = "an agent's id, in which * is any text";
constexpr std::string_view expected_host = "a host such as sts.eu-west-1.amazonaws.com, perhaps with a port";

core::result<std::string> parse_algorithm(std::string_view text)
{
    if (std::ranges::find(token_algorithms, text) == token_algorithms.end()) {
        return invalid(text.empty() ? "is empty" : "is not an algorithm with a public key");
    }
    return std::string{text};
}

// The characters of a scope (RFC 6749 section 3.3).
core::result<std::string> parse_scope_prefix(std::string_view text)
{
    constexpr std::size_t longest = 256;
    if (text.size() > longest || !core::is_scope(text)) {
        return invalid(text.empty() ? "is empty" : "has a character that scopes do not have, or over 256 of them");
    }
    return std::string{text};
}

// An issuer is compared as it is written, so nothing in it is changed.
core::result<std::string> parse_issuer_url(std::string_view text)
{
    const auto url = parse_http_url(text);
    if (!url) {
        return url.error();
    }
    if (!is_secure(*url)) {
        return invalid("is not safe from changes on its way");
    }
    return *url == text ? url : invalid("has capitals in its host");
}

// The id of a directory, in lower case, as `tid` has it in tokens; they never have its name.
core::result<std::string> parse_tenant(std::string_view text)
{
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    bool fits = text.size() == form.size();
    for (std::size_t i = 0; fits && i < text.size(); ++i) {
        fits = form[i] == 'x' ? core::hex_value(text[i]) >= 0 : text[i] == form[i];
    }
    if (!fits) {
        return invalid(text.empty() ? "is empty" : "is not the id of a directory");
    }
    return core::in_lower_case(text);
}

core::result<std::string> parse_hash(std::string_view text)
{
    constexpr std::size_t digits = 64;
    auto hash = core::in_lower_case(text);
    if (hash.size() != digits || hash.find_first_not_of(core::hex_digits) != std::string::npos) {
        return invalid(text.empty() ? "is empty" : "is not a SHA-256");
    }
    return hash;
}

// The host as the URL of a token has it, byte for byte.
core::result<std::string> parse_sts_host(std::string_view text)
{
    const auto colon = text.find(':');
    const auto port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
    if (text.empty()) {
        return invalid("is empty");
    }
    if (!valid_host(text.substr(0, colon)) || (!port.empty() && !parse_endpoint(text))) {
        return invalid("is not a host");
    }
    if (text != core::in_lower_case(text)) {
        return invalid("has capitals");
    }
    return std::string{text};
}

std::vector<std::string> read_id_patterns(const field& f, problem_list& problems)
{
    std::vector<std::string> patterns;
    for (const auto& element : read_elements(f, expected_pattern, emptiness::refused, problems)) {
        auto text = read_line(element, expected_pattern, problems);
        if (text && !is_id_pattern(*text)) {
            refuse(element, "is not a pattern of agents' ids", expected_pattern, problems);
        } else if (text) {
            patterns.push_back(std::move(*text));
        }
    }
    return patterns;
}

std::string listed_algorithms()
{
    std::string text;
    for (const auto each : token_algorithms) {
        text += (text.empty() ? "" : ", ") + std::string{each};
    }
    return text;
}

// Texts of which `read` reads a list, or one that stands for a list.
using texts_reader = std::vector<std::string> (*)(const field&, emptiness, problem_list&);

value_kind<std::vector<std::string>> elements(emptiness empty, texts_reader read)
{
    return {
        {"text, or a list of texts", schema::texts},
        [=](const field& f, const reading& with) { return std::optional{read(f, empty, with.problems)}; },
        [](const std::vector<std::string>& list) { return json(list); }
    };
}

// Words that `parse` accepts, or one of them.
value_kind<std::vector<std::string>> parsed_elements(value_form form, std::string expected, text_parser parse)
{
    return {
        std::move(form),
        [expected, parse](const field& f, const reading& with) {
            std::vector<std::string> parsed;
            for (const auto& element : read_elements(f, expected, emptiness::refused, with.problems)) {
                if (auto text = read_parsed(element, expected, parse, with.problems)) {
                    parsed.push_back(std::move(*text));
                }
            }
            return std::optional{std::move(parsed)};
        },
        [](const std::vector<std::string>& list) { return json(list); }
    };
}

// Text that `parse` accepts; the form says `described`, and problems expect `expected`.
value_kind<std::string> checked_text(value_form form, std::string_view expected, text_parser parse)
{
    auto kind = parsed_text(std::move(form), parse);
    kind.missing = expected;
    kind.parse = [expected, parse](const field& f, const reading& with) {
        return read_parsed(f, expected, parse, with.problems);
    };
    return kind;
}

// A hash is masked too: it may be the key itself.
value_kind<std::string> masked_hash(value_form form, std::string_view expected, text_parser parse)
{
    auto kind = checked_text(std::move(form), expected, parse);
    kind.parse = [expected, parse](field f, const reading& with) {
        f.secret = true;
        return read_parsed(f, expected, parse, with.problems);
    };
    kind.print = [](const std::string& hash) { return hash.empty() ? json{} : json(core::masked); };
    return kind;
}

}  // namespace

value_kind<std::string> short_text(std::string_view noun)
{
    auto kind = line("text", "");
    kind.missing = noun;
    kind.parse = [noun](const field& f, const reading& with) { return read_short_text(f, noun, with.problems); };
    return kind;
}

value_kind<std::string> user_name()
{
    auto kind = short_text("a name");
    kind.parse = [](const field& f, const reading& with) {
        auto name = read_short_text(f, "a name", with.problems);
        if (name && name->find(':') != std::string::npos) {
            refuse(f, "has a colon", "a name", with.problems);
        }
        return name;
    };
    return kind;
}

value_kind<std::vector<std::string>> texts(emptiness empty)
{
    return elements(empty, read_texts);
}

value_kind<std::vector<std::string>> scopes(emptiness empty)
{
    return elements(empty, read_scopes);
}

value_kind<std::vector<std::string>> audiences()
{
    auto kind = texts(emptiness::refused);
    kind.missing = "the `aud` of its tokens";
    return kind;
}

value_kind<std::vector<std::string>> id_patterns()
{
    return elements(emptiness::refused, [](const field& f, emptiness /*empty*/, problem_list& problems) {
        return read_id_patterns(f, problems);
    });
}

value_kind<std::vector<std::string>> algorithms()
{
    const auto algorithms_schema = [] {
        const auto one = schema::names_of(token_algorithms);
        return json{{"anyOf", {one, schema::list_of(one)}}};
    };
    const auto all = listed_algorithms();
    return parsed_elements({"one or a list of " + all, algorithms_schema}, all, parse_algorithm);
}

value_kind<std::vector<std::string>> sts_hosts()
{
    return parsed_elements({"text, or a list of texts", schema::texts}, std::string{expected_host}, parse_sts_host);
}

value_kind<std::vector<core::claim>> claims(emptiness empty)
{
    return {
        {"a map from names to values or lists of values", [] { return schema::map_of(schema::texts()); }},
        [empty](const field& f, const reading& with) { return std::optional{read_claims(f, empty, with.problems)}; },
        shown_claims
    };
}

value_kind<std::string> scope_prefix()
{
    constexpr std::string_view expected = "what stands in front of a scope, such as api://cardea/";
    return checked_text({"text", schema::any_text}, expected, parse_scope_prefix);
}

value_kind<std::string> directory_id()
{
    constexpr std::string_view expected = "the id of the directory, such as 8eaef023-2b34-4da1-9baa-8bc8c9d6a490";
    return checked_text({"text", schema::any_text}, expected, parse_tenant);
}

value_kind<std::string> issuer_url()
{
    constexpr std::string_view expected = "the https URL of the issuer, or an http URL of a loopback host";
    return checked_text({"an https URL", schema::url}, expected, parse_issuer_url);
}

value_kind<std::string> secure_url()
{
    return {
        {"an https URL", schema::url, masked_part::nothing, std::string{expected_secure_url}},
        [](const field& f, const reading& with) { return std::optional{read_secure_url(f, with.problems)}; },
        [](const std::string& url) { return url.empty() ? json{} : json(shown_url(url)); }
    };
}

value_kind<std::string> hash()
{
    return masked_hash(
        {"64 hexadecimal digits", [] { return schema::or_variable(schema::any_text_like("^[0-9A-Fa-f]{64}$")); }},
        expected_key_hash,
        parse_hash
    );
}

value_kind<core::wall_time> time()
{
    static constexpr std::string_view pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$";
    return {
        {"2027-01-01 or 2027-01-01T12:00:00Z", [] { return schema::or_variable(schema::text_like(pattern)); }},
        [](const field& f, const reading& with) {
            constexpr std::string_view expected =
                "a date such as 2027-01-01, or a time in UTC such as 2027-01-01T12:00:00Z";
            return read_parsed(f, expected, parse_time, with.problems);
        },
        [](const core::wall_time& at) { return json(time_text(at)); }
    };
}

value_kind<std::string> client_authorities_file()
{
    static constexpr std::string_view expected = "the path of a PEM file with the authorities of clients";
    auto kind = line("a path", expected);
    kind.missing = expected;
    kind.parse = [](const field& f, const reading& with) {
        auto path = read_line(f, expected, with.problems);
        const auto usable = path && with.tls.authorities ? with.tls.authorities(*path) : core::result<>{};
        if (!usable) {
            refuse(f, usable.error().detail, expected, with.problems);
        }
        return path;
    };
    return kind;
}

}  // namespace config
