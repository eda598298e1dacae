#include "mcp/translation/modern_messages.hpp"

#include "core/json/json.hpp"
#include "core/json/json_bytes.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/list_edit.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "mcp/translation/list_subscription.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mcp {
namespace {

std::string json_text(std::string_view text)
{
    std::string out;
    core::append_json_string(out, text);
    return out;
}

// Where members are put into the object that stands there: behind its bracket.
text_edit into(text_range object, std::string_view text, std::string members)
{
    const auto inner = object.of(text).substr(1);
    const auto* const first = std::ranges::find_if(inner, [](char c) { return !core::is(c, core::byte_class::space); });
    if (first != inner.end() && *first == '}') {
        members.pop_back();
    }
    return {{object.at + 1, 0}, std::move(members)};
}

// Collects what changes of one request.
class modern_edits {
public:
    modern_edits(const incoming& message, std::string_view text)
        : message_{message},
          text_{text}
    {
    }

    // A member of `params._meta`; nothing if `raw` is empty.
    void set_meta(routed member, std::string_view name, std::string_view raw) { set(member, name, raw, meta_); }

    // Into `params`.
    void set_param(routed member, std::string_view name, std::string_view raw) { set(member, name, raw, params_); }

    std::vector<text_edit> take() &&
    {
        const auto meta = message_[routed::meta];
        if (is_object(meta.of(text_))) {
            if (!meta_.empty()) {
                edits_.push_back(into(meta, text_, std::move(meta_)));
            }
        } else {
            close(meta_, '}');
            if (meta.empty()) {
                append_member(params_, "_meta", "{" + meta_);
            } else {
                edits_.push_back({meta, "{" + meta_});
            }
        }
        const auto params = message_[routed::params];
        if (params.empty()) {
            close(params_, '}');
            edits_.push_back({{message_.whole.at + 1, 0}, R"("params":{)" + params_ + ","});
        } else if (!params_.empty()) {
            edits_.push_back(into(params, text_, std::move(params_)));
        }
        return std::move(edits_);
    }

private:
    void set(routed member, std::string_view name, std::string_view raw, std::string& added)
    {
        if (raw.empty()) {
            return;
        }
        const auto place = message_[member];
        if (place.empty()) {
            append_member(added, name, raw);
        } else {
            edits_.push_back({place, std::string{raw}});
        }
    }

    const incoming& message_;
    std::string_view text_;
    std::vector<text_edit> edits_;
    std::string meta_;
    std::string params_;
};

// Where a part of the text stands when the edits have been made.
std::string_view moved(text_range part, const std::vector<text_edit>& edits, std::string_view text)
{
    if (part.empty()) {
        return {};
    }
    auto now = part;
    for (const auto& edit : edits) {
        const auto grown = edit.text.size() - edit.place.size;  // modulo 2^64
        if (edit.place.at + edit.place.size <= part.at) {
            now.at += grown;
        } else if (edit.place.at < part.at + part.size) {
            now.size += grown;
        }
    }
    return now.of(text);
}

using cursor_type = core::json_cursor<core::wide_bytes>;

constexpr std::string_view legacy_not_found = "-32002";
constexpr std::string_view modern_not_found = "-32602";

// A server may have numbers for cursors, too.
constexpr std::string_view own_cursor = "cardea:";

struct added_member {
    std::string_view name;
    std::string_view text;
};

// The first is for every result.
constexpr std::array<added_member, 3> added{{
    {"resultType", R"("resultType":"complete")"},
    {"ttlMs", R"("ttlMs":0)"},
    {"cacheScope", R"("cacheScope":"private")"},
}};

bool may_be_kept(client_method asked) noexcept
{
    return list_of(asked) || asked == client_method::resources_read || asked == client_method::discover;
}

bool is_named(std::string_view raw_name, bool escaped, std::string_view name)
{
    return escaped ? core::unescape_json(raw_name) == name : raw_name == name;
}

// Finds the places in one pass.
class answer_reader {
public:
    answer_reader(std::string_view text, std::size_t wanted)
        : text_{text},
          wanted_{wanted},
          cursor_{text, cursor_type::deepest}
    {
    }

    std::vector<text_edit> edits()
    {
        cursor_.skip_space();
        const bool whole = cursor_.peek() == '{' && read_members(&answer_reader::in_message) && cursor_.finish();
        return whole ? std::move(edits_) : std::vector<text_edit>{};
    }

private:
    // Edits one member, whose value comes next and is read.
    using step = bool (answer_reader::*)(std::string_view raw_name, bool escaped);

    std::size_t offset() const noexcept { return static_cast<std::size_t>(cursor_.position() - text_.data()); }

    bool read_members(step each)
    {
        if (!cursor_.open('{')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        do {
            std::string_view raw_name;
            bool escaped = false;
            if (!cursor_.name(raw_name, escaped) || !(this->*each)(raw_name, escaped)) {
                return false;
            }
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close();
    }

    bool in_message(std::string_view raw_name, bool escaped)
    {
        if (cursor_.peek() == '{' && is_named(raw_name, escaped, "result")) {
            return read_result();
        }
        if (cursor_.peek() == '{' && is_named(raw_name, escaped, "error")) {
            return read_members(&answer_reader::in_failure);
        }
        return cursor_.value();
    }

    bool read_result()
    {
        const auto begin = offset() + 1;
        const auto before = cursor_.members();
        found_ = {};
        if (!read_members(&answer_reader::in_result)) {
            return false;
        }
        std::string text;
        for (std::size_t i = 0; i < wanted_; ++i) {
            if (!found_[i]) {
                text.append(text.empty() ? "" : ",").append(added[i].text);
            }
        }
        if (!text.empty()) {
            text += cursor_.members() == before ? "" : ",";
            edits_.push_back({{begin, 0}, std::move(text)});
        }
        return true;
    }

    bool in_result(std::string_view raw_name, bool escaped)
    {
        for (std::size_t i = 0; i < wanted_; ++i) {
            found_[i] = found_[i] || is_named(raw_name, escaped, added[i].name);
        }
        return cursor_.value();
    }

    bool in_failure(std::string_view raw_name, bool escaped)
    {
        const auto at = offset();
        if (!cursor_.value()) {
            return false;
        }
        const text_range value{at, offset() - at};
        if (is_named(raw_name, escaped, "code") && value.of(text_) == legacy_not_found) {
            edits_.push_back({value, std::string{modern_not_found}});
        }
        return true;
    }

    std::string_view text_;
    std::size_t wanted_;
    cursor_type cursor_;
    std::array<bool, added.size()> found_{};
    std::vector<text_edit> edits_;
};

std::string answer_with(std::string_view raw_id, std::string_view members)
{
    std::string answer{R"({"jsonrpc":"2.0",)"};
    append_member(answer, "id", raw_id);
    answer.append(R"("result":{)").append(members).append("}}");
    return answer;
}

// The capabilities of the server without those that no client gets through the gateway: subscriptions to single resources, tasks of the legacy era,
// and changes of lists unless they are told.
std::string forwarded_capabilities(std::string_view raw, bool tells_changes)
{
    std::string all{"{"};
    const auto offered = members_of(raw);
    for (const auto& each : offered.members()) {
        if (each.name == "tasks") {
            continue;
        }
        if (each.name != "tools" && each.name != "prompts" && each.name != "resources") {
            append_member(all, each.name, each.value);
            continue;
        }
        std::string inside{"{"};
        const auto details = members_of(each.value);
        for (const auto& detail : details.members()) {
            if (detail.name != "subscribe" && (tells_changes || detail.name != "listChanged")) {
                append_member(inside, detail.name, detail.value);
            }
        }
        close(inside, '}');
        append_member(all, each.name, inside);
    }
    close(all, '}');
    return all;
}

}  // namespace

kept_message to_modern(const client_message& request, const client_terms& terms, const given_input& input)
{
    const auto read = request.read != nullptr ? *request.read : read_incoming(request.text).message;
    modern_edits changed{read, request.text};
    const auto version = json_text(latest(era::modern));
    const auto level = terms.level.empty() ? std::string{} : json_text(terms.level);
    changed.set_meta(routed::meta_version, "io.modelcontextprotocol/protocolVersion", version);
    changed.set_meta(routed::meta_client_info, "io.modelcontextprotocol/clientInfo", terms.info);
    changed.set_meta(routed::meta_capabilities, "io.modelcontextprotocol/clientCapabilities", terms.capabilities);
    changed.set_meta(routed::meta_level, "io.modelcontextprotocol/logLevel", level);
    changed.set_param(routed::input_responses, "inputResponses", input.responses);
    changed.set_param(routed::request_state, "requestState", input.state);
    const auto edits = std::move(changed).take();
    const auto text = std::make_shared<const std::string>(edited(request.text, edits));
    client_message all;
    all.text = *text;
    all.method = request.method;
    all.id = moved(read[routed::id], edits, all.text);
    all.params = moved(read[routed::params], edits, all.text);
    all.progress_token = moved(read[routed::progress_token], edits, all.text);
    all.client = request.client;
    all.owner = &text;
    return kept_message{all};
}

kept_message own_request(std::string_view id, std::string_view method, std::string_view params)
{
    std::string text{R"({"jsonrpc":"2.0","id":)"};
    const auto id_at = text.size();
    text.append(id) += ',';
    append_text_member(text, "method", method);
    text += R"("params":)";
    const auto params_at = text.size();
    text.append(params) += '}';
    client_message all;
    all.text = text;
    all.method = method;
    all.id = all.text.substr(id_at, id.size());
    all.params = all.text.substr(params_at, params.size());
    return kept_message{all};
}

std::string short_client_info(std::string_view raw)
{
    if (raw.size() <= longest_client_info) {
        return std::string{raw};
    }
    constexpr std::size_t longest_word = longest_client_info / 4;
    const auto info = members_of(raw);
    std::string out{"{"};
    for (const std::string_view name : {"name", "version"}) {
        const auto word = info.find(name);
        if (!is_string(word) || word.size() > longest_word) {
            return {};
        }
        append_member(out, name, word);
    }
    close(out, '}');
    return out;
}

bool is_log_level(std::string_view name) noexcept
{
    constexpr auto levels = std::to_array<std::string_view>(
        {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
    );
    return std::ranges::find(levels, name) != levels.end();
}

std::string modern_answer(client_method asked, std::string text)
{
    const auto edits = answer_reader{text, may_be_kept(asked) ? added.size() : 1}.edits();
    return edits.empty() ? std::move(text) : edited(text, edits);
}

std::string end_answer(client_method asked, era speaks, std::string_view raw_id)
{
    auto text = asked == client_method::listen ? listened_answer(raw_id) : empty_answer(raw_id);
    return speaks == era::modern ? modern_answer(asked, std::move(text)) : text;
}

std::string discover_answer(std::string_view raw_id, const server_facts& server, bool tells_changes)
{
    std::string versions{"["};
    for (const auto each : modern_versions) {
        versions.append(1, '"').append(each).append("\",");
    }
    close(versions, ']');
    std::string members;
    append_member(members, "supportedVersions", versions);
    append_member(members, "capabilities", forwarded_capabilities(server.capabilities, tells_changes));
    if (!server.instructions.empty()) {
        append_text_member(members, "instructions", server.instructions);
    }
    std::string meta{"{"};
    append_member(meta, "io.modelcontextprotocol/serverInfo", server.info);
    close(meta, '}');
    members.append(R"("_meta":)").append(meta);
    return answer_with(raw_id, members);
}

bool is_own_cursor(std::string_view raw)
{
    return text_of(raw).value_or("").starts_with(own_cursor);
}

// The cursor of a page names the number of entries before it.
core::result<std::string>
list_answer(std::string_view raw_id, list_kind list, const server_lists& lists, std::string_view cursor)
{
    const auto& all = lists[list];
    std::size_t at = 0;
    if (!cursor.empty()) {
        const auto text = text_of(cursor).value_or("");
        const bool own = text.starts_with(own_cursor);
        const auto number =
            own ? integer_of<std::size_t>(std::string_view{text}.substr(own_cursor.size())) : std::nullopt;
        if (!number || *number == 0) {
            return core::caller_error(core::errc::invalid_params, "a cursor that no page had");
        }
        at = *number;
    }
    std::string entries{"["};
    for (; at < all.size(); ++at) {
        if (entries.size() > 1 && entries.size() + all[at].raw.size() > largest_page) {
            break;
        }
        entries.append(all[at].raw).append(",");
    }
    close(entries, ']');
    std::string members;
    append_member(members, list_member(list), entries);
    if (at < all.size()) {
        append_text_member(members, "nextCursor", std::string{own_cursor} + std::to_string(at));
    }
    members.pop_back();
    return answer_with(raw_id, members);
}

}  // namespace mcp
