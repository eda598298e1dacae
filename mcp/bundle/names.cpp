#include "mcp/bundle/names.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view separator = "__";
constexpr std::size_t mark_digits = 8;

bool is_name_byte(char c) noexcept
{
    return core::is_letter(c) || core::is_digit(c) || c == '_' || c == '-';
}

std::string prefixed(std::string_view as, std::string_view own)
{
    std::string name;
    name.reserve(as.size() + separator.size() + own.size());
    if (!as.empty()) {
        name.append(as).append(separator);
    }
    return name;
}

// Claims by the name that each has for now. Rounds, each of which moves all that conflict at once, make the outcome independent of the order.
class name_settlement {
public:
    name_settlement(std::span<const name_claim> claims, std::size_t longest, std::span<const std::string> taken)
        : claims_{claims},
          longest_{longest},
          taken_{taken.begin(), taken.end()},
          settled_(claims.size())
    {
    }

    std::vector<settled_name> settle()
    {
        for (std::size_t i = 0; i < claims_.size(); ++i) {
            put(i, claims_[i].at_least);
        }
        while (!disputed_.empty()) {
            std::vector<std::size_t> moving;
            for (const auto& name : std::exchange(disputed_, {})) {
                take_losers(name, moving);
            }
            for (const auto claim : moving) {
                advance(claim);
            }
        }
        return std::move(settled_);
    }

private:
    void put(std::size_t claim, name_form form)
    {
        auto& settled = settled_[claim];
        settled.form = form;
        settled.exposed = exposed_name(claims_[claim].as, claims_[claim].own, longest_, form);
        auto& holders = holders_[settled.exposed];
        holders.push_back(claim);
        if (holders.size() > 1 || taken_.contains(settled.exposed)) {
            disputed_.insert(settled.exposed);
        }
    }

    void advance(std::size_t claim)
    {
        switch (settled_[claim].form) {
            case name_form::plain:
                return put(claim, name_form::marked);
            case name_form::marked:
                return put(claim, name_form::marked_twice);
            case name_form::marked_twice:
                settled_[claim].exposed.clear();
        }
    }

    // Moves those of a disputed name that have to get another one.
    void take_losers(const std::string& name, std::vector<std::size_t>& moving)
    {
        auto& holders = holders_[name];
        if (taken_.contains(name)) {
            moving.insert(moving.end(), holders.begin(), holders.end());
            holders.clear();
            return;
        }
        const auto bare = [this](std::size_t claim) { return claims_[claim].as.empty(); };
        const bool some_bare = std::ranges::any_of(holders, bare) && !std::ranges::all_of(holders, bare);
        const auto lowest = std::ranges::min(holders, {}, [this](std::size_t claim) { return settled_[claim].form; });
        const auto form = settled_[lowest].form;
        const auto stays = [&](std::size_t claim) { return some_bare ? !bare(claim) : settled_[claim].form != form; };
        const auto losers = std::partition(holders.begin(), holders.end(), stays);
        moving.insert(moving.end(), losers, holders.end());
        holders.erase(losers, holders.end());
        if (holders.size() > 1) {
            disputed_.insert(name);
        }
    }

    std::span<const name_claim> claims_;
    std::size_t longest_;
    std::set<std::string, std::less<>> taken_;
    std::vector<settled_name> settled_;
    std::map<std::string, std::vector<std::size_t>, std::less<>> holders_;
    std::set<std::string> disputed_;
};

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

std::string joined_name(std::string_view as, std::string_view own)
{
    return prefixed(as, own).append(own);
}

std::string exposed_name(std::string_view as, std::string_view own, std::size_t longest, name_form form)
{
    auto name = prefixed(as, own);
    for (auto rest = own; !rest.empty();) {
        const bool plain = is_name_byte(rest.front());
        name += plain ? rest.front() : '_';
        rest.remove_prefix(plain ? 1 : core::first_code_point(rest).bytes);
    }
    if (form == name_form::plain && name.size() <= longest) {
        return name;
    }
    const auto digest = jose::sha256_hex(form == name_form::marked_twice ? joined_name(as, own) : std::string{own});
    name.resize(std::min(name.size(), longest - mark_digits - 1));
    return name.append("_").append(digest, 0, mark_digits);
}

std::vector<settled_name>
settled_names(std::span<const name_claim> claims, std::size_t longest, std::span<const std::string> taken)
{
    return name_settlement{claims, longest, taken}.settle();
}

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
