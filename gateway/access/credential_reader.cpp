#include "gateway/access/credential_reader.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <utility>

namespace gateway::access {
namespace {

using core::credential_place;
using core::errc;
using net::http1::field_name;

constexpr std::string_view bearer_parameter = "access_token";  // RFC 6750 section 2.3

core::error not_accepted(const char* why)
{
    return core::caller_error(errc::unauthenticated, why);
}

core::error ambiguous(std::string why)
{
    return core::caller_error(errc::bad_request, std::move(why));
}

std::string place_of(const credential& found)
{
    if (found.field == nullptr) {
        return "Authorization";
    }
    switch (found.field->place) {
        case credential_place::header:
            return found.field->name;
        case credential_place::cookie:
            return "the cookie " + found.field->name;
        case credential_place::query:
            break;
    }
    return "the query parameter " + found.field->name;
}

bool is_field(const key_field& field, credential_place place, std::string_view name) noexcept
{
    return field.place == place &&
           (place == credential_place::header ? core::equal_ignoring_case(field.name, name) : field.name == name);
}

// The text behind `Bearer`, perhaps none; nullopt: another scheme.
std::optional<std::string_view> bearer_in(std::string_view value)
{
    const auto end = std::min(value.find(' '), value.size());
    if (!core::equal_ignoring_case(value.substr(0, end), "bearer")) {
        return std::nullopt;
    }
    return core::trim(value.substr(end));
}

struct pair {
    std::string_view whole;
    std::string_view name;
    std::string_view value;
};

// Takes the first pair off `rest`.
pair next_pair(std::string_view& rest, char separator)
{
    const auto end = std::min(rest.find(separator), rest.size());
    const auto whole = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = std::min(whole.find('='), whole.size());
    return {whole, whole.substr(0, equals), whole.substr(std::min(equals + 1, whole.size()))};
}

// Credentials found so far; a second one is one too many.
class findings {
public:
    void add(credential found)
    {
        if (++count_ == 1) {
            first_ = std::move(found);
        } else if (count_ == 2) {
            second_ = place_of(found);
        }
    }

    void add_authorization(std::string_view value)
    {
        if (const auto token = bearer_in(value)) {
            add({nullptr, *token});
        } else {
            has_other_scheme_ = true;
        }
    }

    core::result<std::optional<credential>> outcome() const
    {
        if (count_ > 1) {
            const auto first = place_of(first_);
            return ambiguous(
                first == second_ ? "The request has " + first + " twice; send it once."
                                 : "The request has two credentials, in " + first + " and in " + second_ + "; send one."
            );
        }
        if (count_ == 0 ? has_other_scheme_ : first_.text().empty()) {
            return not_accepted("the credential is empty or of an unknown scheme");
        }
        return count_ == 1 ? std::optional{first_} : std::nullopt;
    }

private:
    unsigned count_ = 0;
    bool has_other_scheme_ = false;  // an Authorization, which may be for the agent
    credential first_;
    std::string second_;  // where it is
};

}  // namespace

bool operator==(const key_field& a, const key_field& b) noexcept
{
    return is_field(a, b.place, b.name);
}

credential_reader::credential_reader(
    std::vector<key_field> fields,
    std::vector<std::string> identity_headers,
    bool reads_bearer
)
    : fields_{std::move(fields)},
      identity_headers_{std::move(identity_headers)},
      reads_bearer_{reads_bearer},
      reads_cookies_{std::ranges::count(fields_, credential_place::cookie, &key_field::place) > 0},
      reads_query_{std::ranges::count(fields_, credential_place::query, &key_field::place) > 0}
{
}

core::result<std::optional<credential>> credential_reader::read(const net::http1::request_head& head, bool for_agent)
    const
{
    findings found;
    for (const auto& line : head.fields) {
        if (line.id == field_name::authorization) {
            if (reads_bearer_ && !for_agent) {
                found.add_authorization(line.value);
            }
        } else if (line.id == field_name::cookie) {
            for (auto rest = reads_cookies_ ? line.value : std::string_view{}; !rest.empty();) {
                const auto cookie = next_pair(rest, ';');
                if (const auto* field = find(credential_place::cookie, core::trim(cookie.name))) {
                    found.add({field, core::trim(cookie.value)});
                }
            }
        } else if (const auto* field = find(credential_place::header, line.name)) {
            found.add({field, line.value});
        }
    }
    const auto mark = head.target.find('?');
    for (auto rest = mark == std::string_view::npos ? std::string_view{} : head.target.substr(mark + 1);
         !rest.empty();) {
        const auto parameter = next_pair(rest, '&');
        const auto name = core::decoded(parameter.name);
        if (const auto* field = find(credential_place::query, name)) {
            const bool encoded = parameter.value.find('%') != std::string_view::npos;
            found.add({field, parameter.value, encoded ? core::decoded(parameter.value) : std::string{}});
        } else if (name == bearer_parameter || find(credential_place::header, name) != nullptr) {
            return ambiguous("The request has a credential in its query, where none is read; send it in a header.");
        }
    }
    return found.outcome();
}

bool credential_reader::is_key_header(std::string_view name) const noexcept
{
    const auto is_name = [&](const std::string& each) { return core::equal_ignoring_case(each, name); };
    return find(credential_place::header, name) != nullptr || std::ranges::any_of(identity_headers_, is_name) ||
           (reads_query_ && core::equal_ignoring_case(name, "Referer"));
}

std::string credential_reader::without_keys(std::string_view query) const
{
    std::string out;
    for (auto rest = query.substr(std::min<std::size_t>(1, query.size())); !rest.empty();) {
        const auto parameter = next_pair(rest, '&');
        if (find(credential_place::query, core::decoded(parameter.name)) == nullptr) {
            out += out.empty() ? '?' : '&';
            out += parameter.whole;
        }
    }
    return out;
}

const key_field* credential_reader::find(credential_place place, std::string_view name) const noexcept
{
    for (const auto& each : fields_) {
        if (is_field(each, place, name)) {
            return &each;
        }
    }
    return nullptr;
}

}  // namespace gateway::access
