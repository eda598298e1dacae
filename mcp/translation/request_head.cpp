#include "mcp/translation/request_head.hpp"

#include "core/ascii.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
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

    // Of the object that comes next: `each` is given the name and takes the value, or says that it is not JSON.
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

// An integer may be spelled with a fraction or an exponent, which is repeated without.
std::string integer_text(std::string_view raw)
{
    if (integer_of<std::int64_t>(raw)) {
        return std::string{raw};
    }
    constexpr double most_exact = 9007199254740992.0;
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
    schema_reader(std::string_view schema, std::vector<std::string>& fields)
        : in_{schema},
          fields_{fields}
    {
    }

    property read()
    {
        property root;
        const bool whole = in_.at_object() && read_schema(root, 0);
        return whole ? std::move(root) : property{};
    }

private:
    bool read_schema(property& into, unsigned depth)
    {
        return in_.each_member([&](std::string_view name) {
            if (name == annotation) {
                return read_annotation(into, depth);
            }
            return name == "properties" && in_.at_object() && depth < deepest ? read_properties(into, depth)
                                                                              : in_.skip();
        });
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
        const bool usable = depth > 0 && raw && raw->size() <= longest_name + 2 && fields_.size() < most;
        const auto field = usable ? text_of(*raw) : std::nullopt;
        if (field && core::is_token(*field)) {
            into.field = fields_.size();
            fields_.push_back("Mcp-Param-" + *field);
        }
        return raw.has_value();
    }

    object_walk in_;
    std::vector<std::string>& fields_;
};

parameter_fields::parameter_fields(const server_lists& lists)
{
    for (const auto& each : lists[list_kind::tools]) {
        if (each.raw.find(annotation) == std::string::npos) {
            continue;
        }
        const auto members = members_of(each.raw);
        tool read;
        read.arguments = schema_reader{members.object("inputSchema"), read.fields}.read();
        if (!read.fields.empty()) {
            tools_.emplace(each.key, std::move(read));
        }
    }
}

// Reads the arguments of one call in one pass.
class parameter_fields::argument_reader {
public:
    argument_reader(std::string_view arguments, std::size_t fields)
        : in_{arguments},
          values_(fields)
    {
    }

    // By tool::fields; empty: it is not there.
    std::vector<std::string_view> read(const property& root) &&
    {
        const bool whole = in_.at_object() && read_object(root);
        return whole ? std::move(values_) : std::vector<std::string_view>(values_.size());
    }

private:
    bool read_object(const property& of)
    {
        return in_.each_member([&](std::string_view name) {
            const auto found = of.inside.find(name);
            if (found == of.inside.end()) {
                return in_.skip();
            }
            const auto& known = *found->second;
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
};

std::vector<std::pair<std::string, std::string>> parameter_fields::of(std::string_view tool, std::string_view arguments)
    const
{
    std::vector<std::pair<std::string, std::string>> fields;
    const auto known = tools_.find(tool);
    if (known == tools_.end()) {
        return fields;
    }
    const auto& names = known->second.fields;
    const auto values = argument_reader{arguments, names.size()}.read(known->second.arguments);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (auto text = values[i].size() <= longest_value ? field_text(values[i]) : std::nullopt) {
            fields.emplace_back(names[i], header_value(*text));
        }
    }
    return fields;
}

message_head head_of(const client_message& request, const parameter_fields* tools)
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
