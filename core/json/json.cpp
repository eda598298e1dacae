#include "core/json/json.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace core {
namespace {

// Describes what is wrong with the shape of the document; empty: nothing. Looks at brackets and commas outside strings, without a
// recursion of our own. Text that is not JSON may be judged either way; the parser refuses it anyway.
std::string shape_problem(std::string_view text, const json_limits& limits)
{
    constexpr unsigned deepest = 64;
    struct container {
        bool object = false;
        std::size_t commas = 0;
    };
    std::array<container, deepest + 1> open{};
    unsigned depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > std::min(limits.depth, deepest)) {
                return "nested deeper than " + std::to_string(limits.depth);
            }
            open[depth] = {c == '{', 0};
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        } else if (c == ',' && ++open[depth].commas >= limits.members && open[depth].object) {
            return "an object with more than " + std::to_string(limits.members) + " members";
        }
    }
    return {};
}

constexpr const char* not_json = "not JSON";

// The reason not to show the text to nlohmann; empty: none.
std::string problem_before_parser(std::string_view text, const json_limits& limits)
{
    if (text.size() > limits.bytes) {
        return "longer than " + std::to_string(limits.bytes) + " bytes";
    }
    if (text.starts_with("\xEF\xBB\xBF")) {
        return "starts with a byte order mark";
    }
    if (auto problem = shape_problem(text, limits); !problem.empty()) {
        return problem;
    }
    // nlohmann takes a NUL after the document for its end.
    return text.find('\0') != std::string_view::npos ? "has a NUL byte" : "";
}

// Builds the document from its parser's events. nlohmann's own builder looks for each name among all before it and copies
// whatever an object holds whenever that grows: both together took a minute of CPU time for 1 MiB.
class document_builder final : public nlohmann::json_sax<json> {
public:
    explicit document_builder(std::size_t values)
        : left_{values}
    {
    }

    bool too_many() const noexcept { return too_many_; }
    json take() && { return std::move(values_.front()); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(); }
    bool key(string_t& name) override
    {
        names_.push_back(std::move(name));
        return true;
    }
    bool end_object() override
    {
        const auto [first_value, first_name] = close();
        drop_repeated(first_value, first_name);
        json::object_t object;
        object.reserve(names_.size() - first_name);
        for (std::size_t i = 0; first_name + i < names_.size(); ++i) {
            object.emplace_back(std::move(names_[first_name + i]), std::move(values_[first_value + i]));
        }
        names_.resize(first_name);
        values_.resize(first_value);
        return add_closed(std::move(object));
    }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override
    {
        const auto first = values_.begin() + static_cast<std::ptrdiff_t>(close().value);
        json::array_t array{std::make_move_iterator(first), std::make_move_iterator(values_.end())};
        values_.erase(first, values_.end());
        return add_closed(std::move(array));
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    struct place {
        std::size_t value;
        std::size_t name;
    };

    bool count() noexcept
    {
        too_many_ = left_ == 0;
        left_ -= too_many_ ? 0 : 1;
        return !too_many_;
    }

    template <class Value>
    bool add(Value&& value)
    {
        values_.emplace_back(std::forward<Value>(value));
        return count();
    }

    bool open()
    {
        open_.push_back({values_.size(), names_.size()});
        return count();
    }

    template <class Container>
    bool add_closed(Container container)
    {
        values_.emplace_back(std::move(container));
        return true;
    }

    place close()
    {
        const auto first = open_.back();
        open_.pop_back();
        return first;
    }

    // The last value of several members with one name counts, at the place of the first.
    void drop_repeated(std::size_t first_value, std::size_t first_name)
    {
        const auto count = names_.size() - first_name;
        if (count < 2) {
            return;
        }
        order_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            order_[i] = i;
        }
        const auto name_of = [&](std::size_t i) -> const std::string& { return names_[first_name + i]; };
        std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
            const auto by_name = name_of(a).compare(name_of(b));
            return by_name == 0 ? a < b : by_name < 0;
        });
        repeated_.assign(count, false);
        std::size_t first = 0;
        bool any = false;
        for (std::size_t i = 1; i < count; ++i) {
            if (name_of(order_[i]) != name_of(order_[first])) {
                first = i;
                continue;
            }
            values_[first_value + order_[first]] = std::move(values_[first_value + order_[i]]);
            repeated_[order_[i]] = true;
            any = true;
        }
        if (any) {
            remove_repeated(first_value, first_name);
        }
    }

    void remove_repeated(std::size_t first_value, std::size_t first_name)
    {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < repeated_.size(); ++i) {
            if (repeated_[i]) {
                continue;
            }
            if (kept != i) {
                names_[first_name + kept] = std::move(names_[first_name + i]);
                values_[first_value + kept] = std::move(values_[first_value + i]);
            }
            ++kept;
        }
        names_.resize(first_name + kept);
        values_.resize(first_value + kept);
    }

    std::vector<json> values_;        // of the containers that are open, one behind the other
    std::vector<std::string> names_;  // of the objects among them
    std::vector<place> open_;
    std::vector<std::size_t> order_;  // of one object; kept for its room
    std::vector<bool> repeated_;
    std::size_t left_;
    bool too_many_ = false;
};

}  // namespace

result<json> parse_json(std::string_view text, json_limits limits)
{
    return parse_document(text, limits, text.size());
}

result<json> parse_document(std::string_view text, json_limits limits, std::size_t values)
{
    if (auto problem = problem_before_parser(text, limits); !problem.empty()) {
        return caller_error(errc::parse_error, std::move(problem));
    }
    document_builder builder{values};
    if (!json::sax_parse(text, &builder)) {
        return caller_error(
            errc::parse_error,
            builder.too_many() ? "a document with more than " + std::to_string(values) + " values" : not_json
        );
    }
    return std::move(builder).take();
}

result<> check_json(std::string_view text, json_limits limits)
{
    if (auto problem = problem_before_parser(text, limits); !problem.empty()) {
        return caller_error(errc::parse_error, std::move(problem));
    }
    if (!json::accept(text)) {
        return caller_error(errc::parse_error, not_json);
    }
    return {};
}

std::string to_text(const json& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json* member(const json& object, std::string_view key)
{
    if (!object.is_object()) {
        return nullptr;
    }
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

const std::string* string_member(const json& object, std::string_view key)
{
    const auto* found = member(object, key);
    return found == nullptr ? nullptr : found->get_ptr<const std::string*>();
}

std::string text_member(const json& object, std::string_view key)
{
    const auto* text = string_member(object, key);
    return text == nullptr ? std::string{} : *text;
}

}  // namespace core
