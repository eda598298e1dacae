#include "mcp/bundle/uris.hpp"

#include "core/ascii.hpp"

#include <cstddef>

namespace mcp {
namespace {

constexpr std::string_view app_scheme = "ui://";
constexpr std::size_t longest_template = 1024;
constexpr std::size_t longest_expansion = 2048;

// The rest behind `scheme` and a `+`. Nothing: the text does not begin with these.
std::optional<std::string_view> behind_scheme(std::string_view scheme, std::string_view text) noexcept
{
    const auto size = scheme.size();
    const bool begins =
        text.size() > size && text[size] == '+' && core::equal_ignoring_case(text.substr(0, size), scheme);
    return begins ? std::optional{text.substr(size + 1)} : std::nullopt;
}

// Takes the literal text before the next expression, and the expression. False: a brace is not closed.
bool take_piece(std::string_view& uri_template, std::string_view& literal, bool& expression) noexcept
{
    const auto brace = uri_template.find('{');
    literal = uri_template.substr(0, brace);
    expression = brace != std::string_view::npos;
    if (!expression) {
        uri_template = {};
        return true;
    }
    const auto end = uri_template.find('}', brace);
    if (end == std::string_view::npos) {
        return false;
    }
    uri_template.remove_prefix(end + 1);
    return true;
}

// Every expression stands for any text.
bool fits_pieces(std::string_view uri_template, std::string_view text) noexcept
{
    bool anchored = true;
    for (;;) {
        std::string_view literal;
        bool expression = false;
        if (!take_piece(uri_template, literal, expression)) {
            return false;
        }
        if (!expression) {
            return anchored ? text == literal : text.ends_with(literal);
        }
        const auto at = anchored ? (text.starts_with(literal) ? 0 : std::string_view::npos) : text.find(literal);
        if (at == std::string_view::npos) {
            return false;
        }
        text.remove_prefix(at + literal.size());
        anchored = false;
    }
}

// Whether each expression is one of level 1, which stands for no slash: slashes of both texts then go together.
bool has_no_operators(std::string_view uri_template) noexcept
{
    for (auto at = uri_template.find('{'); at != std::string_view::npos; at = uri_template.find('{', at + 1)) {
        if (at + 1 < uri_template.size() &&
            std::string_view{"+#./;?&=,!@|"}.find(uri_template[at + 1]) != std::string_view::npos) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string exposed_uri(std::string_view scheme, std::string_view uri)
{
    if (scheme.empty()) {
        return std::string{uri};
    }
    const bool app = uri.starts_with(app_scheme);
    std::string exposed{app ? app_scheme : std::string_view{}};
    return exposed.append(scheme).append("+").append(uri.substr(app ? app_scheme.size() : 0));
}

std::optional<std::string> own_uri(std::string_view scheme, std::string_view exposed)
{
    if (scheme.empty()) {
        return std::string{exposed};
    }
    if (exposed.starts_with(app_scheme)) {
        const auto rest = behind_scheme(scheme, exposed.substr(app_scheme.size()));
        return rest ? std::optional{std::string{app_scheme}.append(*rest)} : std::nullopt;
    }
    const auto rest = behind_scheme(scheme, exposed);
    return rest && !rest->starts_with(app_scheme) ? std::optional{std::string{*rest}} : std::nullopt;
}

bool may_expand_to(std::string_view uri_template, std::string_view uri) noexcept
{
    if (uri_template.size() > longest_template || uri.size() > longest_expansion) {
        return false;
    }
    if (!has_no_operators(uri_template)) {
        return fits_pieces(uri_template, uri);
    }
    for (;;) {
        const auto of_template = uri_template.find('/');
        const auto of_uri = uri.find('/');
        if (!fits_pieces(uri_template.substr(0, of_template), uri.substr(0, of_uri))) {
            return false;
        }
        if (of_template == std::string_view::npos || of_uri == std::string_view::npos) {
            return of_template == of_uri;
        }
        uri_template.remove_prefix(of_template + 1);
        uri.remove_prefix(of_uri + 1);
    }
}

}  // namespace mcp
