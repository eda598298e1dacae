#include "core/json/ambiguity.hpp"

#include "core/json/json.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace core {
namespace {

constexpr json::number_integer_t largest_exact = 9'007'199'254'740'992;  // 2^53

// Stops at the first thing that is ambiguous.
class ambiguity_finder final : public nlohmann::json_sax<json> {
public:
    std::string found;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t value) override
    {
        return value >= -largest_exact || stop("a number that a double cannot hold");
    }
    bool number_unsigned(number_unsigned_t value) override
    {
        return value <= static_cast<number_unsigned_t>(largest_exact) || stop("a number that a double cannot hold");
    }
    bool number_float(number_float_t, const string_t& text) override
    {
        // An integer that 64 bits do not hold comes here too.
        return text.find_first_of(".eE") != string_t::npos || stop("a number that a double cannot hold");
    }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override
    {
        open_.push_back(names_.size());
        return true;
    }
    bool key(string_t& name) override
    {
        names_.push_back(std::move(name));
        return true;
    }
    bool end_object() override
    {
        const auto first = names_.begin() + static_cast<std::ptrdiff_t>(open_.back());
        open_.pop_back();
        std::sort(first, names_.end());
        const bool twice = std::adjacent_find(first, names_.end()) != names_.end();
        names_.erase(first, names_.end());
        return !twice || stop("a name that stands twice");
    }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override
    {
        return stop("text that is not JSON");
    }

private:
    bool stop(const char* problem)
    {
        found = problem;
        return false;
    }

    std::vector<std::string> names_;  // of the members of the objects that are open, one behind the other
    std::vector<std::size_t> open_;   // where those of each begin
};

}  // namespace

std::optional<std::string> ambiguity(std::string_view text)
{
    ambiguity_finder finder;
    json::sax_parse(text.begin(), text.end(), &finder);
    return finder.found.empty() ? std::nullopt : std::optional{finder.found};
}

}  // namespace core
