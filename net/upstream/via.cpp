#include "net/upstream/via.hpp"

#include "core/ascii.hpp"

#include <array>
#include <cstdint>
#include <random>

namespace net {
namespace {

constexpr std::string_view product = "cardea";

std::string make_pseudonym()
{
    std::random_device source;
    std::uniform_int_distribution<std::size_t> any{0, core::hex_digits.size() - 1};
    auto pseudonym = std::string{product} + '-';
    for (int i = 0; i < 16; ++i) {
        pseudonym += core::hex_digits[any(source)];
    }
    return pseudonym;
}

std::size_t count(std::string_view text, std::string_view wanted) noexcept
{
    std::size_t found = 0;
    for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + wanted.size())) {
        ++found;
    }
    return found;
}

template <class Use>
void for_each_line(const http1::field_list& fields, Use use)
{
    for (const auto& line : fields) {
        if (line.id == http1::field_name::via && !line.value.empty()) {
            use(line.value);
        }
    }
}

}  // namespace

std::string_view own_pseudonym()
{
    static const auto pseudonym = make_pseudonym();
    return pseudonym;
}

// Wherever it stands in a line: who mangles the others' entries still passes these digits on.
way_travelled way_of(const http1::field_list& fields)
{
    way_travelled way;
    for_each_line(fields, [&way](std::string_view line) {
        way.length += line.size() + (way.length > 0 ? 2 : 0);
        way.passes += count(line, own_pseudonym());
        way.hops += count(line, product);
    });
    return way;
}

void write_via(std::string& text, const http1::field_list& fields, std::string_view version)
{
    text += "Via: ";
    for_each_line(fields, [&text](std::string_view line) { text.append(line).append(", "); });
    text.append(version).append(" ").append(own_pseudonym()).append("\r\n");
}

}  // namespace net
