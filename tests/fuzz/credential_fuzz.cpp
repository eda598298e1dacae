// Any request as one with credentials: the first line is its target, the rest its header lines. Whatever stands in it, there is
// one credential, none or a refusal, as a reader finds that knows nothing but the rules; and no key is left in the query that
// agents get.
#include "core/ascii.hpp"
#include "gateway/access/credential_reader.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using core::credential_place;
using gateway::access::credential_reader;
using tests::require;

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts{""};
    for (const char each : text) {
        if (each == separator) {
            parts.emplace_back();
        } else {
            parts.back() += each;
        }
    }
    return parts;
}

int digit_of(char c)
{
    constexpr std::string_view digits = "0123456789abcdef";
    const auto lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    const auto at = digits.find(lower);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string name_of(const std::string& parameter)
{
    auto left = parameter.substr(0, parameter.find('='));
    std::string name;
    while (!left.empty()) {
        const bool escaped = left.size() >= 3 && left[0] == '%' && digit_of(left[1]) >= 0 && digit_of(left[2]) >= 0;
        name += escaped ? static_cast<char>(digit_of(left[1]) * 16 + digit_of(left[2])) : left[0];
        left.erase(0, escaped ? 3 : 1);
    }
    return name;
}

struct counted {
    int credentials = 0;
    bool other_scheme = false;  // in Authorization, which is no credential beside one
    bool misplaced = false;     // one stands in the query, where it is not read
    std::string query;          // without credentials
};

// Of a gateway that reads keys in X-API-Key, and in the cookie `session` and the parameter `key` if `everywhere`.
counted count(const net::http1::request_head& head, bool everywhere)
{
    counted found;
    for (const auto& line : head.fields) {
        if (core::equal_ignoring_case(line.name, "Authorization")) {
            const std::string value{line.value};
            const bool is_bearer = core::equal_ignoring_case(split(value, ' ').front(), "Bearer");
            found.credentials += is_bearer ? 1 : 0;
            found.other_scheme |= !is_bearer;
        }
        if (core::equal_ignoring_case(line.name, "X-API-Key")) {
            ++found.credentials;
        }
        if (core::equal_ignoring_case(line.name, "Cookie")) {
            for (const auto& each : split(std::string{line.value}, ';')) {
                const auto name = each.substr(0, each.find('='));
                found.credentials += everywhere && core::trim(name) == "session" && !each.empty() ? 1 : 0;
            }
        }
    }
    const std::string target{head.target};
    const auto mark = target.find('?');
    if (mark == std::string::npos) {
        return found;
    }
    auto parameters = split(target.substr(mark + 1), '&');
    if (parameters.back().empty()) {
        parameters.pop_back();  // nothing follows the last '&'
    }
    for (const auto& each : parameters) {
        const auto name = name_of(each);
        if (everywhere && name == "key") {
            ++found.credentials;
            continue;
        }
        found.misplaced |= name == "access_token" || core::equal_ignoring_case(name, "X-API-Key");
        found.query += (found.query.empty() ? "?" : "&") + each;
    }
    return found;
}

void check(const credential_reader& reader, bool everywhere, std::string_view text)
{
    net::http1::request_parser parser{{}};
    const auto parsed = parser.parse(text);
    if (!parsed || *parsed == 0) {
        return;
    }
    const auto& head = parser.head();
    const auto expected = count(head, everywhere);
    const auto read = reader.read(head);
    const auto query = head.target.substr(std::min(head.target.find('?'), head.target.size()));
    const auto without = reader.without_keys(query);
    require(without == expected.query, "agents get the query without the keys in it", without, expected.query);
    if (expected.misplaced || expected.credentials > 1) {
        require(!read && read.error().code == core::errc::bad_request, "two credentials are one too many", text);
    } else if (expected.credentials == 0 && expected.other_scheme) {
        require(!read && read.error().code == core::errc::unauthenticated, "another scheme alone is refused", text);
    } else if (expected.credentials == 0) {
        require(read && !*read, "who sends no credential has none", text);
    } else if (!read) {
        require(read.error().code == core::errc::unauthenticated, "a credential is taken or refused", text);
    } else {
        const auto found = (**read).written;
        require(!found.empty() && !(**read).text().empty(), "a credential has a size", text);
        require(text.find(found) != std::string_view::npos, "a credential is what was sent", text, found);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const credential_reader one{{{credential_place::header, "X-API-Key"}}};
    static const credential_reader all{
        {{credential_place::header, "X-API-Key"},
         {credential_place::cookie, "session"},
         {credential_place::query, "key"}}
    };
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    const auto target = input.substr(0, input.find('\n'));
    const auto lines = input.substr(std::min(input.size(), target.size() + 1));
    std::string text = "GET ";
    text.append(target).append(" HTTP/1.1\r\nHost: gw.test\r\n").append(lines).append("\r\n\r\n");
    check(one, false, text);
    check(all, true, text);
    return 0;
}
