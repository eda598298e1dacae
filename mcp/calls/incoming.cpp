#include "mcp/calls/incoming.hpp"

#include "core/ascii.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>

namespace mcp {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

// The objects in which routed members stand.
enum class scope : std::uint8_t { message, params, meta, reference, delivery };

struct routed_row {
    scope in;
    std::string_view name;
};

// By `routed`.
constexpr std::array<routed_row, routed_members> rows{{
    {scope::message, "jsonrpc"},
    {scope::message, "id"},
    {scope::message, "method"},
    {scope::message, "params"},
    {scope::message, "result"},
    {scope::message, "error"},
    {scope::params, "name"},
    {scope::params, "uri"},
    {scope::params, "taskId"},
    {scope::params, "task"},
    {scope::params, "arguments"},
    {scope::params, "_meta"},
    {scope::params, "requestState"},
    {scope::params, "inputResponses"},
    {scope::params, "requestId"},
    {scope::params, "protocolVersion"},
    {scope::params, "capabilities"},
    {scope::params, "clientInfo"},
    {scope::params, "level"},
    {scope::params, "cursor"},
    {scope::params, "ref"},
    {scope::params, "notifications"},
    {scope::params, "progressToken"},
    {scope::params, "delivery"},
    {scope::meta, "io.modelcontextprotocol/protocolVersion"},
    {scope::meta, "io.modelcontextprotocol/clientCapabilities"},
    {scope::meta, "io.modelcontextprotocol/clientInfo"},
    {scope::meta, "io.modelcontextprotocol/logLevel"},
    {scope::meta, "progressToken"},
    {scope::meta, "io.modelcontextprotocol/related-task"},
    {scope::meta, "traceparent"},
    {scope::reference, "type"},
    {scope::reference, "name"},
    {scope::reference, "uri"},
    {scope::delivery, "url"},
}};

// An escape has at most six bytes for each byte that it stands for.
constexpr std::size_t longest_name = 42;
constexpr std::size_t longest_spelling = 6 * longest_name;

static_assert(std::ranges::all_of(rows, [](const routed_row& row) { return row.name.size() <= longest_name; }));

std::optional<routed> find_routed(scope in, std::string_view name) noexcept
{
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].in == in && rows[i].name == name) {
            return static_cast<routed>(i);
        }
    }
    return std::nullopt;
}

// The next letter in lower case. Readers that ignore case take U+017F for an s and U+212A for a k (Go's encoding/json).
char take_folded(std::string_view& name) noexcept
{
    constexpr std::string_view long_s = "\xC5\xBF";
    constexpr std::string_view kelvin = "\xE2\x84\xAA";
    for (const auto& [letter, plain] : {std::pair{long_s, 's'}, std::pair{kelvin, 'k'}}) {
        if (name.starts_with(letter)) {
            name.remove_prefix(letter.size());
            return plain;
        }
    }
    const char c = core::lower(name.front());
    name.remove_prefix(1);
    return c;
}

bool same_folded(std::string_view name, std::string_view routed_name) noexcept
{
    while (!name.empty() && !routed_name.empty()) {
        if (take_folded(name) != core::lower(routed_name.front())) {
            return false;
        }
        routed_name.remove_prefix(1);
    }
    return name.empty() && routed_name.empty();
}

// In `_meta` names belong to whoever made them up.
bool is_case_twin(scope in, std::string_view name) noexcept
{
    // Values that servers hand out are guarded by their names.
    const bool names_state = in == scope::params && name.size() < longest_name && is_twin(name, "requestState");
    return names_state || (in != scope::meta && std::ranges::any_of(rows, [in, name](const routed_row& row) {
                               return row.in == in && same_folded(name, row.name);
                           }));
}

bool is_number(std::string_view raw) noexcept
{
    return !raw.empty() && (raw.front() == '-' || core::is_digit(raw.front()));
}

bool is_id(std::string_view raw) noexcept
{
    return is_string(raw) || is_number(raw);
}

// Reads one body. Objections are kept, because a body that turns out not to be JSON is that first of all.
class body_reader {
public:
    body_reader(std::string_view body, const incoming_limits& limits)
        : body_{body},
          cursor_{body, limits.depth}
    {
    }

    incoming_body read()
    {
        cursor_.skip_space();
        const bool valid = read_one();
        if (!valid || !cursor_.finish()) {
            incoming_body refused;
            refused.problem = core::errc::parse_error;
            refused.why = cursor_.why().empty() ? "a container is not closed" : cursor_.why();
            return refused;
        }
        if (!objection_.empty()) {
            read_.problem = core::errc::invalid_request;
            read_.why = objection_;
        }
        return std::move(read_);
    }

private:
    void object(std::string_view why) noexcept
    {
        if (objection_.empty()) {
            objection_ = why;
        }
    }

    std::size_t offset() const noexcept { return static_cast<std::size_t>(cursor_.position() - body_.data()); }

    bool read_one()
    {
        if (!read_message(read_.message)) {
            return false;
        }
        if (const auto id = read_.message[routed::id]; !id_twice_ && is_id(id.of(body_))) {
            read_.id = read_.message.kind == incoming_kind::request ? id : text_range{};
        }
        return true;
    }

    bool read_message(incoming& message)
    {
        message.whole.at = offset();
        if (cursor_.peek() != '{') {
            object(cursor_.peek() == '[' ? "batches are not supported" : "not an object");
            return cursor_.value();
        }
        if (!read_members(scope::message, message)) {
            return false;
        }
        message.whole.size = offset() - message.whole.at;
        judge(message);
        return true;
    }

    // At most three objects deep: a message, its params, and `_meta`, `ref` or `delivery` in those.
    bool read_members(scope in, incoming& message)
    {
        if (!cursor_.open('{')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        do {
            std::string_view name;
            bool escaped = false;
            if (!cursor_.name(name, escaped)) {
                return false;
            }
            const auto member = found(in, name, escaped);
            const auto at = offset();
            if (!read_value(member, message)) {
                return false;
            }
            if (member) {
                place(*member, {at, offset() - at}, message);
            }
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close();
    }

    std::optional<routed> found(scope in, std::string_view name, bool escaped)
    {
        if (escaped && name.size() > longest_spelling) {
            return std::nullopt;
        }
        const auto plain = escaped ? core::unescape_json(name) : std::string{};
        const auto read = escaped ? std::string_view{plain} : name;
        const auto member = find_routed(in, read);
        if (!member && is_case_twin(in, read)) {
            object("a member differs from a routed one in case only");
        }
        return member;
    }

    bool read_value(std::optional<routed> member, incoming& message)
    {
        if (cursor_.peek() == '{') {
            if (member == routed::params) {
                return read_members(scope::params, message);
            }
            if (member == routed::meta) {
                return read_members(scope::meta, message);
            }
            if (member == routed::reference) {
                return read_members(scope::reference, message);
            }
            if (member == routed::delivery) {
                return read_members(scope::delivery, message);
            }
        }
        return cursor_.value();
    }

    void place(routed member, text_range range, incoming& message)
    {
        auto& slot = message.members[static_cast<std::size_t>(member)];
        if (!slot.empty()) {
            object("a routed member stands twice");
            id_twice_ = id_twice_ || member == routed::id;
        }
        slot = range;
    }

    void judge(incoming& message)
    {
        std::string room;
        if (message.text(routed::jsonrpc, body_, room) != "2.0") {
            object("jsonrpc is not \"2.0\"");
        }
        const auto params = message.raw(routed::params, body_);
        if (!params.empty() && !is_object(params)) {
            object("params is not an object");
        }
        if (message[routed::method].empty()) {
            judge_answer(message);
        } else {
            judge_call(message);
        }
    }

    void judge_call(incoming& message)
    {
        std::string room;
        const auto method = message.text(routed::method, body_, room);
        if (!method || method->empty()) {
            object("method is not a name");
        } else {
            message.method = client_method_of(*method);
        }
        if (!message[routed::result].empty() || !message[routed::failure].empty()) {
            object("a call and an answer");
        }
        const auto id = message.raw(routed::id, body_);
        message.kind = id.empty() ? incoming_kind::notification : incoming_kind::request;
        if (!id.empty() && !is_id(id)) {
            object("id is not a string or a number");
        }
    }

    void judge_answer(incoming& message)
    {
        message.kind = incoming_kind::answer;
        const auto id = message.raw(routed::id, body_);
        const auto failure = message.raw(routed::failure, body_);
        const bool failed = !failure.empty() && failure != "null";
        const auto result = message.raw(routed::result, body_);
        if (failed && !result.empty() && result != "null") {
            object("a result and an error");
        } else if (!failed && result.empty()) {
            object("no method, result or error");
        }
        if (!is_id(id) && !(failed && (id.empty() || id == "null"))) {
            object("id is not a string or a number");
        }
    }

    std::string_view body_;
    cursor_type cursor_;
    incoming_body read_;
    std::string_view objection_;
    bool id_twice_ = false;
};

}  // namespace

std::optional<std::string_view> incoming::text(routed member, std::string_view body, std::string& room) const
{
    const auto value = raw(member, body);
    if (!is_string(value)) {
        return std::nullopt;
    }
    const auto inner = value.substr(1, value.size() - 2);
    if (inner.find('\\') == std::string_view::npos) {
        return inner;
    }
    room = core::unescape_json(inner);
    return room;
}

std::optional<routed> target_of(client_method method) noexcept
{
    switch (method) {
        case client_method::tools_call:
        case client_method::prompts_get:
            return routed::name;
        case client_method::resources_read:
        case client_method::resources_subscribe:
        case client_method::resources_unsubscribe:
            return routed::uri;
        case client_method::tasks_get:
        case client_method::tasks_update:
        case client_method::tasks_cancel:
        case client_method::tasks_result:
            return routed::task;
        default:
            return std::nullopt;
    }
}

incoming_body read_incoming(std::string_view body, incoming_limits limits)
{
    return body_reader{body, limits}.read();
}

}  // namespace mcp
