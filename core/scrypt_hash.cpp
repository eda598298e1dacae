#include "core/scrypt_hash.hpp"

#include <charconv>
#include <cstddef>

namespace core {
namespace {

// Takes `literal` and the number behind it off `text`.
std::optional<unsigned> take_number(std::string_view& text, std::string_view literal)
{
    if (!text.starts_with(literal)) {
        return std::nullopt;
    }
    const auto digits = text.substr(literal.size());
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc{} || digits.starts_with('0')) {
        return std::nullopt;
    }
    text = digits.substr(static_cast<std::size_t>(end - digits.data()));
    return value;
}

// RFC 4648 section 4, without padding.
std::optional<std::string> from_base64(std::string_view text)
{
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const auto value = alphabet.find(c);
        if (value == std::string_view::npos) {
            return std::nullopt;
        }
        bits = (bits << 6) | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>((bits >> count) & 0xFF);
            bits &= (1U << count) - 1;
        }
    }
    return count < 6 && bits == 0 ? std::optional{std::move(bytes)} : std::nullopt;
}

bool is_within(std::size_t size, std::size_t least, std::size_t most)
{
    return size >= least && size <= most;
}

}  // namespace

std::optional<scrypt_hash> parse_scrypt_hash(std::string_view text)
{
    const auto cost = take_number(text, "$scrypt$ln=");
    const auto block = cost ? take_number(text, ",r=") : std::nullopt;
    const auto parallel = block ? take_number(text, ",p=") : std::nullopt;
    if (!parallel || !text.starts_with('$') || *cost > 20 || *block > 1024) {
        return std::nullopt;
    }
    const auto memory = (std::uint64_t{128} << *cost) * *block;
    if (memory < least_scrypt_memory || memory > most_scrypt_memory || *parallel > most_scrypt_parallelism) {
        return std::nullopt;
    }
    text.remove_prefix(1);
    const auto end = text.find('$');
    const auto salt = from_base64(text.substr(0, end));
    const auto hash = end == std::string_view::npos ? std::nullopt : from_base64(text.substr(end + 1));
    if (!salt || !hash || !is_within(salt->size(), 8, 64) || !is_within(hash->size(), 16, 64)) {
        return std::nullopt;
    }
    return scrypt_hash{*cost, *block, *parallel, *salt, *hash};
}

}  // namespace core
