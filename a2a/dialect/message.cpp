#include "a2a/dialect/message.hpp"

#include "a2a/dialect/enums.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace a2a {
namespace {

namespace message_at {
enum : std::uint8_t { role, parts, message_id, context_id, task_id, metadata, extensions, references, count };
}

constexpr std::array message_rows{
    member_row{"kind"},
    member_row{"role", message_at::role},
    member_row{"parts", message_at::parts, member_row::in_types | member_row::in_v1},
    member_row{"content", message_at::parts, member_row::in_proto},
    member_row{"messageId", message_at::message_id},
    member_row{"contextId", message_at::context_id},
    member_row{"taskId", message_at::task_id},
    member_row{"metadata", message_at::metadata},
    member_row{"extensions", message_at::extensions},
    member_row{"referenceTaskIds", message_at::references},
};

using message_values = std::array<std::string_view, message_at::count>;

bool check(walk& w, message_values& values)
{
    return check_string(w, "messageId", values[message_at::message_id]) &&
           check_filled_string(w, "contextId", values[message_at::context_id]) &&
           check_filled_string(w, "taskId", values[message_at::task_id]) &&
           check_object(w, "metadata", values[message_at::metadata]) &&
           check_strings(w, "extensions", values[message_at::extensions]) &&
           check_strings(w, "referenceTaskIds", values[message_at::references]);
}

constexpr std::string_view compat_flag = "data_part_compat";

enum class content_kind : std::uint8_t { none, text, bytes, link, data };

struct part {
    content_kind kind = content_kind::none;
    std::string_view content;  // raw
    std::string_view media_type;
    std::string_view filename;
    std::string_view metadata;
    bool unwrapped = false;  // `content` was in `{"value":…}`, and the flag goes
};

namespace part_at {
enum : std::uint8_t { kind, text, file, data, metadata, raw, url, media_type, filename, count };
}

constexpr std::array part_rows{
    member_row{"kind", part_at::kind, member_row::in_types},
    member_row{"kind", member_row::ignored, member_row::in_proto | member_row::in_v1},
    member_row{"text", part_at::text},
    member_row{"file", part_at::file, member_row::in_v03},
    member_row{"data", part_at::data, member_row::in_v03},
    member_row{"data", part_at::data, member_row::in_v1, true},
    member_row{"metadata", part_at::metadata},
    member_row{"raw", part_at::raw, member_row::in_v1},
    member_row{"url", part_at::url, member_row::in_v1},
    member_row{"mediaType", part_at::media_type, member_row::in_v1},
    member_row{"filename", part_at::filename, member_row::in_v1},
};

using part_values = std::array<std::string_view, part_at::count>;

namespace file_at {
enum : std::uint8_t { bytes, uri, mime_type, name, count };
}

// The text of specification 0.3.0 uses the names of its protocol buffers for JSON-RPC as well.
constexpr std::array file_rows{
    member_row{"bytes", file_at::bytes, member_row::in_types},
    member_row{"uri", file_at::uri, member_row::in_types},
    member_row{"fileWithBytes", file_at::bytes, member_row::in_v03},
    member_row{"fileWithUri", file_at::uri, member_row::in_v03},
    member_row{"mimeType", file_at::mime_type, member_row::in_v03},
    member_row{"name", file_at::name, member_row::in_v03},
};

constexpr std::array proto_data_rows{member_row{"data", 0, member_row::in_proto}};

// The letters of both alphabets, with the padding (RFC 4648 sections 4 and 5).
constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=";

bool read_file(walk& w, std::string_view raw, part& found)
{
    const walk::step into{w, "file"};
    std::array<std::string_view, file_at::count> values;
    if (!w.read(raw, file_rows, values)) {
        return false;
    }
    const auto bytes = values[file_at::bytes];
    const auto uri = values[file_at::uri];
    if (bytes.empty() == uri.empty()) {
        return w.fail(bytes.empty() ? "has neither bytes nor an address" : "has both bytes and an address");
    }
    found.kind = bytes.empty() ? content_kind::link : content_kind::bytes;
    found.content = bytes.empty() ? uri : bytes;
    found.media_type = values[file_at::mime_type];
    found.filename = values[file_at::name];
    return is_string(found.content) || w.fail("its content must be a string");
}

// The one member `value` of a data part that 1.0 could say and 0.3 could not. Empty: it is no such part.
std::string_view wrapped_value(std::string_view data)
{
    std::string_view value;
    std::size_t members = 0;
    trusted_cursor cursor{data, trusted_cursor::deepest};
    cursor.object([&](std::string_view name, bool /*escaped*/, std::string_view raw) {
        value = name == "value" ? raw : std::string_view{};
        return ++members == 1;
    });
    return members == 1 ? value : std::string_view{};
}

bool is_flag(std::string_view name, bool escaped)
{
    return name == compat_flag ||
           (escaped && name.size() <= 6 * compat_flag.size() && core::unescape_json(name) == compat_flag);
}

bool has_flag(std::string_view metadata)
{
    bool found = false;
    trusted_cursor cursor{metadata, trusted_cursor::deepest};
    cursor.object([&found](std::string_view name, bool escaped, std::string_view value) {
        found = value == "true" && is_flag(name, escaped);
        return !found;
    });
    return found;
}

bool read_data(walk& w, std::string_view raw, part& found)
{
    found.kind = content_kind::data;
    found.content = raw;
    if (w.from == body_shape::v1) {
        return true;
    }
    if (w.from == body_shape::proto) {
        const walk::step into{w, "data"};
        std::array<std::string_view, 1> values;
        if (!w.read(raw, proto_data_rows, values)) {
            return false;
        }
        found.content = values[0].empty() ? std::string_view{"{}"} : values[0];
    }
    if (!is_object(found.content)) {
        return w.fail("data", "must be an object");
    }
    if (w.to == body_shape::v1 && is_object(found.metadata) && has_flag(found.metadata)) {
        if (const auto value = wrapped_value(found.content); !value.empty()) {
            found.content = value;
            found.unwrapped = true;
        }
    }
    return true;
}

bool read_text(walk& w, std::string_view raw, part& found)
{
    found.kind = content_kind::text;
    found.content = raw;
    return check_string(w, "text", raw);
}

// The one content that is there. What `kind` says must be it.
bool read_content(walk& w, const part_values& values, part& found)
{
    struct candidate {
        std::uint8_t member;
        std::string_view kind;
        bool (*read)(walk&, std::string_view, part&);
    };
    constexpr std::array candidates{
        candidate{part_at::text, "text", read_text},
        candidate{part_at::file, "file", read_file},
        candidate{part_at::data, "data", read_data},
        candidate{part_at::raw, "", nullptr},
        candidate{part_at::url, "", nullptr},
    };
    const candidate* chosen = nullptr;
    for (const auto& each : candidates) {
        if (!values[each.member].empty()) {
            if (chosen != nullptr) {
                return w.fail("has two contents");
            }
            chosen = &each;
        }
    }
    if (chosen == nullptr) {
        return w.fail("has no content");
    }
    const auto content = values[chosen->member];
    if (chosen->read == nullptr) {
        found.kind = chosen->member == part_at::raw ? content_kind::bytes : content_kind::link;
        found.content = content;
        return is_string(content) || w.fail("its content must be a string");
    }
    if (!values[part_at::kind].empty() && !says(values[part_at::kind], chosen->kind)) {
        return w.fail("kind", "is not that of the content");
    }
    return chosen->read(w, content, found);
}

bool read_part(walk& w, std::string_view raw, part& found)
{
    part_values values;
    if (!w.read(raw, part_rows, values) || !check_object(w, "metadata", values[part_at::metadata])) {
        return false;
    }
    found.metadata = values[part_at::metadata];
    if (w.from == body_shape::v1) {
        found.media_type = values[part_at::media_type];
        found.filename = values[part_at::filename];
    }
    if (!read_content(w, values, found)) {
        return false;
    }
    const bool old = w.from != body_shape::v1;
    return check_filled_string(w, old ? "file.mimeType" : "mediaType", found.media_type) &&
           check_filled_string(w, old ? "file.name" : "filename", found.filename);
}

// Standard alphabet with padding: readers of 0.3 know no other. ProtoJSON allows both.
void append_base64(std::string& out, std::string_view raw)
{
    const auto inside = unquoted(raw);
    if (inside.find_first_of("-_\\") == std::string_view::npos && inside.size() % 4 == 0) {
        out += raw;
        return;
    }
    std::string room;
    const auto text = text_of(raw, room);
    if (text.find_first_not_of(base64_letters) != std::string_view::npos) {
        out += raw;  // it is none: for the reader to refuse
        return;
    }
    out += '"';
    for (const char c : text) {
        out += c == '-' ? '+' : (c == '_' ? '/' : c);
    }
    // A length of 4n + 1 is none of base64 either.
    if (text.size() % 4 > 1) {
        out.append(4 - text.size() % 4, '=');
    }
    out += '"';
}

// Whether nothing but the flag is in it.
bool only_flag(std::string_view metadata)
{
    bool only = true;
    trusted_cursor cursor{metadata, trusted_cursor::deepest};
    cursor.object([&only](std::string_view name, bool escaped, std::string_view /*value*/) {
        only = is_flag(name, escaped);
        return only;
    });
    return only;
}

// Metadata without the flag, or with it set.
void append_metadata(core::json_writer& to, std::string& out, const part& from, bool set_flag)
{
    if (!from.unwrapped && !set_flag) {
        to.raw_member_if_any("metadata", from.metadata);
        return;
    }
    if (!set_flag && only_flag(from.metadata)) {
        return;
    }
    to.name("metadata");
    core::json_writer members{out, '{'};
    if (!from.metadata.empty()) {
        trusted_cursor cursor{from.metadata, trusted_cursor::deepest};
        cursor.object([&members](std::string_view name, bool escaped, std::string_view value) {
            if (!is_flag(name, escaped)) {
                members.raw_member(name, value);
            }
            return true;
        });
    }
    if (set_flag) {
        members.raw_member(compat_flag, "true");
    }
    members.close('}');
}

void write_v1(walk& w, const part& from)
{
    core::json_writer to{w.out, '{'};
    switch (from.kind) {
        case content_kind::bytes:
            to.name("raw");
            append_base64(w.out, from.content);
            break;
        case content_kind::link:
            to.raw_member("url", from.content);
            break;
        case content_kind::data:
            to.raw_member("data", from.content);
            break;
        case content_kind::text:
        case content_kind::none:
            to.raw_member("text", from.content);
    }
    to.raw_member_if_any("mediaType", from.media_type);
    to.raw_member_if_any("filename", from.filename);
    append_metadata(to, w.out, from, false);
    to.close('}');
}

void write_file(walk& w, core::json_writer& to, const part& from)
{
    const bool types = w.to == body_shape::types;
    to.name("file");
    core::json_writer file{w.out, '{'};
    if (from.kind == content_kind::bytes) {
        file.name(types ? "bytes" : "fileWithBytes");
        append_base64(w.out, from.content);
    } else {
        file.raw_member(types ? "uri" : "fileWithUri", from.content);
    }
    file.raw_member_if_any("mimeType", from.media_type);
    file.raw_member_if_any("name", from.filename);
    file.close('}');
}

void write_data(walk& w, core::json_writer& to, const part& from, bool wrap)
{
    to.name("data");
    const bool types = w.to == body_shape::types;
    w.out += types ? "" : "{\"data\":";
    w.out += wrap ? "{\"value\":" : "";
    w.out += from.content;
    w.out += wrap ? "}" : "";
    w.out += types ? "" : "}";
}

std::string_view kind_of(const part& from)
{
    switch (from.kind) {
        case content_kind::bytes:
        case content_kind::link:
            return "\"file\"";
        case content_kind::data:
            return "\"data\"";
        case content_kind::text:
        case content_kind::none:
            break;
    }
    return "\"text\"";
}

void write_v03(walk& w, const part& from)
{
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::types) {
        to.raw_member("kind", kind_of(from));
    }
    bool wrap = false;
    if (from.kind == content_kind::bytes || from.kind == content_kind::link) {
        write_file(w, to, from);
    } else {
        w.lose(from.media_type);
        w.lose(from.filename);
        if (from.kind == content_kind::data) {
            wrap = !is_object(from.content);
            write_data(w, to, from, wrap);
        } else {
            to.raw_member("text", from.content);
        }
    }
    append_metadata(to, w.out, from, wrap);
    to.close('}');
}

}  // namespace

bool translate_message(walk& w, std::string_view raw)
{
    message_values values;
    if (!w.read(raw, message_rows, values) || !check(w, values)) {
        return false;
    }
    const auto who = read_role(values[message_at::role]);
    if (who == role::unspecified && !w.from_agent()) {
        return w.fail("role", "must be user or agent");
    }
    if (w.to == body_shape::proto && !values[message_at::references].empty()) {
        if (!w.from_agent()) {
            return w.fail("referenceTaskIds", "cannot be said in HTTP+JSON of 0.3");
        }
        ++w.lost;
        values[message_at::references] = {};
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::types) {
        to.raw_member("kind", "\"message\"");
    }
    to.raw_member_if_any("messageId", values[message_at::message_id]);
    to.raw_member_if_any("contextId", values[message_at::context_id]);
    to.raw_member_if_any("taskId", values[message_at::task_id]);
    to.raw_member("role", spelled(who == role::unspecified ? role::agent : who, w.to));
    to.name(w.to == body_shape::proto ? "content" : "parts");
    if (!translate_parts(w, w.from == body_shape::proto ? "content" : "parts", values[message_at::parts])) {
        return false;
    }
    to.raw_member_if_any("metadata", values[message_at::metadata]);
    to.raw_member_if_any("extensions", values[message_at::extensions]);
    to.raw_member_if_any("referenceTaskIds", values[message_at::references]);
    to.close('}');
    return true;
}

bool translate_part(walk& w, std::string_view raw)
{
    part found;
    if (!read_part(w, raw, found)) {
        return false;
    }
    if (w.to == body_shape::v1) {
        write_v1(w, found);
    } else {
        write_v03(w, found);
    }
    return true;
}

bool translate_parts(walk& w, std::string_view name, std::string_view raw)
{
    if (raw.empty() && !w.from_agent()) {
        return w.fail(name, "is required");
    }
    if (raw.empty()) {
        w.out += "[]";  // as ProtoJSON leaves out an empty array
        return true;
    }
    w.out += '[';
    bool first = true;
    const bool good = w.elements(name, raw, [&w, &first](std::string_view element) {
        w.out += first ? "" : ",";
        first = false;
        return translate_part(w, element);
    });
    w.out += ']';
    return good;
}

}  // namespace a2a
