#include "mcp/translation/request_head.hpp"

#include "core/ascii.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

namespace mcp {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

constexpr std::string_view annotation = "x-mcp-header";

// Goes through objects within one text, each byte once.
class object_walk {
public:
    explicit object_walk(std::string_view text)
        : cursor_{text, cursor_type::deepest}
    {
        cursor_.skip_space();
    }

    bool at_object() const noexcept { return cursor_.peek() == '{'; }

    // False: it is not JSON.
    bool skip() { return cursor_.value(); }

    // Raw. Nothing: it is not JSON.
    std::optional<std::string_view> value()
    {
        const auto* const begin = cursor_.position();
        if (!cursor_.value()) {
            return std::nullopt;
        }
        return std::string_view{begin, static_cast<std::size_t>(cursor_.position() - begin)};
    }

    // Reads the object that comes next: `each` is given the name and takes the value, or says that it is not JSON.
    template <class Function>
    bool each_member(Function each)
    {
        if (!cursor_.open('{')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        do {
            std::string_view raw;
            bool escaped = false;
            if (!cursor_.name(raw, escaped)) {
                return false;
            }
            const auto name = escaped ? core::unescape_json(raw) : std::string{};
            if (!each(escaped ? std::string_view{name} : raw)) {
                return false;
            }
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close();
    }

private:
    cursor_type cursor_;
};

// The integers that every reader of JSON holds exactly.
constexpr double most_exact = 9007199254740992.0;

// An integer may be spelled with a fraction or an exponent, which is repeated without.
std::string integer_text(std::string_view raw)
{
    if (integer_of<std::int64_t>(raw)) {
        return std::string{raw == "-0" ? "0" : raw};
    }
    const auto number = integer_of<double>(raw);
    const bool whole = number && std::trunc(*number) == *number && std::abs(*number) <= most_exact;
    return whole ? std::to_string(static_cast<std::int64_t>(*number)) : std::string{};
}

std::optional<std::string> field_text(std::string_view raw)
{
    if (is_string(raw)) {
        return text_of(raw);
    }
    if (raw == "true" || raw == "false") {
        return std::string{raw};
    }
    auto number = integer_text(raw);
    return number.empty() ? std::nullopt : std::optional{std::move(number)};
}

// The annotation of a schema, raw; clients have to reject a tool that wants another one repeated.
bool is_repeated_type(std::string_view type) noexcept
{
    return type == R"("string")" || type == R"("integer")" || type == R"("boolean")";
}

bool is_number(std::string_view raw) noexcept
{
    return !raw.empty() && (raw.front() == '-' || (raw.front() >= '0' && raw.front() <= '9'));
}

// Whether a field with this value says what the argument says.
bool says(std::string_view value, std::string_view raw)
{
    const auto said = header_text(value);
    const auto text = field_text(raw);
    if (!said || !text) {
        return said && is_number(raw) && *said == raw;
    }
    return (is_number(raw) ? integer_text(*said) : *said) == *text;
}

// No field repeats these values: those without one, and a number that not every client holds exactly or takes for an integer.
bool may_be_without_field(std::string_view raw)
{
    if (is_number(raw)) {
        const auto number = integer_of<double>(raw);
        return integer_text(raw).empty() || (number && std::abs(*number) > most_exact);
    }
    return !is_string(raw) && raw != "true" && raw != "false";
}

std::string_view name_member(client_method method) noexcept
{
    switch (method) {
        case client_method::tools_call:
        case client_method::prompts_get:
            return "name";
        case client_method::resources_read:
            return "uri";
        case client_method::tasks_get:
        case client_method::tasks_update:
        case client_method::tasks_cancel:
            return "taskId";
        default:
            return {};
    }
}

}  // namespace

// Reads one schema in one pass. A member that stands twice counts as it stands last.
class parameter_fields::schema_reader {
public:
    schema_reader(std::string_view schema, tool& into)
        : in_{schema},
          into_{into}
    {
    }

    void read()
    {
        const bool whole = in_.at_object() && read_schema(into_.arguments, 0);
        if (!whole) {
            into_.arguments = {};
        }
    }

private:
    bool read_schema(property& into, unsigned depth)
    {
        std::string_view type;
        const bool read = in_.each_member([&](std::string_view name) {
            if (name == annotation) {
                return read_annotation(into, depth);
            }
            if (name == "type") {
                const auto raw = in_.value();
                type = raw.value_or(type);
                return raw.has_value();
            }
            if (name == "properties" && in_.at_object()) {
                return depth < deepest ? read_properties(into, depth) : in_.skip();
            }
            return skip_keyword();
        });
        if (into.field && !is_repeated_type(type)) {
            into_.sound = false;
        }
        return read;
    }

    // Within it an annotation has no place.
    bool skip_keyword()
    {
        const auto raw = in_.value();
        const bool parts = raw && (is_object(*raw) || is_array(*raw));
        if (parts && raw->find(annotation) != std::string_view::npos) {
            into_.sound = false;
        }
        return raw.has_value();
    }

    bool read_properties(property& into, unsigned depth)
    {
        return in_.each_member([&](std::string_view name) {
            if (!in_.at_object()) {
                return in_.skip();
            }
            const std::string key{name};
            auto inside = std::make_unique<property>();
            const bool read = read_schema(*inside, depth + 1);
            if (inside->field || !inside->inside.empty()) {
                into.inside[key] = std::move(inside);
            }
            return read;
        });
    }

    bool read_annotation(property& into, unsigned depth)
    {
        const auto raw = in_.value();
        const bool known = depth > 0 && raw && raw->size() <= longest_name + 2 && into_.fields.size() < most;
        const auto text = known ? text_of(*raw) : std::nullopt;
        if (text && core::is_token(*text)) {
            const auto field = "Mcp-Param-" + *text;
            if (std::ranges::any_of(into_.fields, [&](const auto& each) {
                    return core::equal_ignoring_case(each, field);
                })) {
                into_.sound = false;
            }
            into.field = into_.fields.size();
            into_.fields.push_back(field);
        } else if (known || depth == 0) {
            into_.sound = false;
        }
        return raw.has_value();
    }

    object_walk in_;
    tool& into_;
};

parameter_fields::parameter_fields(std::shared_ptr<const server_lists> lists)
    : lists_{std::move(lists)}
{
    for (const auto& each : (*lists_)[list_kind::tools]) {
        by_name_.push_back(&each);
    }
    std::ranges::sort(by_name_, {}, &listed_item::key);
}

// Null: it is not listed, or wants nothing repeated.
const parameter_fields::tool* parameter_fields::find(std::string_view name)
{
    if (const auto known = read_.find(name); known != read_.end()) {
        return known->second.get();
    }
    const auto listed = std::ranges::lower_bound(by_name_, name, {}, &listed_item::key);
    if (listed == by_name_.end() || (*listed)->key != name) {
        return nullptr;
    }
    const auto& raw = (*listed)->raw;
    std::unique_ptr<tool> read;
    if (raw.size() <= longest_tool && raw.find(annotation) != std::string::npos) {
        read = std::make_unique<tool>();
        schema_reader{members_of(raw).object("inputSchema"), *read}.read();
    }
    const bool repeats = read != nullptr && !read->fields.empty();
    auto& kept = read_[std::string{name}];
    if (repeats) {
        kept = std::move(read);
    }
    return kept.get();
}

// Reads the arguments of one call in one pass. Of a value that stands twice it has the last.
class parameter_fields::argument_reader {
public:
    argument_reader(std::string_view arguments, const tool& of)
        : in_{arguments},
          values_(of.fields.size())
    {
        const bool whole = in_.at_object() && read_object(of.arguments);
        if (!whole) {
            values_.assign(values_.size(), {});
        }
    }

    // By tool::fields, raw; empty: it is not there.
    const std::vector<std::string_view>& values() const noexcept { return values_; }

    // A member that is repeated, or leads to one, stands twice, so that readers differ in what is said.
    bool twice() const noexcept { return twice_; }

private:
    bool read_object(const property& of)
    {
        return in_.each_member([&](std::string_view name) {
            const auto found = of.inside.find(name);
            if (found == of.inside.end()) {
                return in_.skip();
            }
            const auto& known = *found->second;
            twice_ = twice_ || !seen_.insert(&known).second;
            if (in_.at_object() && !known.inside.empty()) {
                return read_object(known);
            }
            const auto raw = in_.value();
            if (raw && known.field) {
                values_[*known.field] = *raw;
            }
            return raw.has_value();
        });
    }

    object_walk in_;
    std::vector<std::string_view> values_;
    std::set<const property*> seen_;
    bool twice_ = false;
};

std::vector<std::pair<std::string, std::string>> parameter_fields::of(std::string_view tool, std::string_view arguments)
{
    std::vector<std::pair<std::string, std::string>> fields;
    const auto* const known = find(tool);
    if (known == nullptr) {
        return fields;
    }
    const auto& names = known->fields;
    const argument_reader read{arguments, *known};
    const auto& values = read.values();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (auto text = values[i].size() <= longest_value ? field_text(values[i]) : std::nullopt) {
            fields.emplace_back(names[i], header_value(*text));
        }
    }
    return fields;
}

bool parameter_fields::agree(
    std::string_view tool,
    std::string_view arguments,
    const std::vector<std::pair<std::string, std::string>>& sent
)
{
    const auto* const known = find(tool);
    if (known == nullptr || !known->sound) {
        return true;
    }
    const auto& names = known->fields;
    const argument_reader read{arguments, *known};
    if (read.twice()) {
        return false;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto raw = read.values()[i];
        const auto is_its = [&](const auto& each) { return core::equal_ignoring_case(each.first, names[i]); };
        const auto first = std::ranges::find_if(sent, is_its);
        if (first == sent.end()) {
            if (!may_be_without_field(raw)) {
                return false;
            }
            continue;
        }
        const bool again = std::find_if(std::next(first), sent.end(), is_its) != sent.end();
        if (again || !says(first->second, raw)) {
            return false;
        }
    }
    return true;
}

message_head head_of(const client_message& request, parameter_fields* tools)
{
    message_head head;
    if (request.head != nullptr) {
        head = *request.head;
    }
    const bool calls_tool = tools != nullptr && request.method == "tools/call";
    const auto member = name_member(client_method_of(request.method));
    const bool known = !head.name.empty() && !(calls_tool && tools->repeats_any(head.name));
    if (member.empty() || known) {
        return head;
    }
    const auto params = members_of(request.params);
    head.name = params.text(member);
    if (calls_tool) {
        for (auto& each : tools->of(head.name, params.object("arguments"))) {
            head.fields.push_back(std::move(each));
        }
    }
    return head;
}

}  // namespace mcp
