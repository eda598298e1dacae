#include "mcp/protocol/read_text.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/list_page.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void skip_blanks(std::string_view& rest)
{
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
}

bool take(std::string_view& rest, char expected)
{
    skip_blanks(rest);
    if (!rest.starts_with(expected)) {
        return false;
    }
    rest.remove_prefix(1);
    return true;
}

// The string at the start of `rest`, without its quotes; to the end if it has none.
std::string_view take_string(std::string_view& rest)
{
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') {
        end += rest[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, rest.size());
    const auto text = rest.substr(1, end - 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return text;
}

// A value, up to the comma or bracket that ends it.
std::string_view take_value(std::string_view& rest)
{
    skip_blanks(rest);
    const auto all = rest;
    for (std::size_t depth = 0; !rest.empty();) {
        const char c = rest.front();
        if (c == '"') {
            take_string(rest);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            break;
        }
        if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            --depth;
        }
        rest.remove_prefix(1);
    }
    auto value = all.substr(0, all.size() - rest.size());
    value = value.substr(0, value.find_last_not_of(blanks) + 1);
    return value;
}

constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
constexpr std::string_view with_batches = "2025-03-26";

read_part part_of(std::string_view text, message_limits limits, std::size_t most_items)
{
    read_part out{text, read_message(text, limits), addressee_of(text, true), {}};
    if (!out.read) {
        out.meant = addressees_of(text);
    } else if (most_items > 0 && out.read->kind == message_kind::result) {
        out.page = std::make_shared<list_page>(read_list_page(out.read->result, most_items));
    }
    if (out.read && out.read->kind == message_kind::notification) {
        out.note = parts_of(*out.read);
    }
    return out;
}

}  // namespace

addressee addressee_of(std::string_view text, bool whole)
{
    addressee found;
    bool answers = false;
    bool calls = false;
    bool speaks = !whole;
    bool others = false;
    take(text, '[');
    if (!take(text, '{')) {
        return found;
    }
    for (bool more = true; more;) {
        skip_blanks(text);
        if (!text.starts_with('"')) {
            break;
        }
        const auto name = take_string(text);
        if (!take(text, ':')) {
            break;
        }
        const auto value = take_value(text);
        const bool ends = !text.empty();  // else the value may go on
        if (name == "id" && (ends || whole) && names_request(value)) {
            found.id = number_of_id(value);
            found.other = !found.id;
            found.raw = value;
        }
        answers = answers || name == "result" || name == "error";
        calls = calls || name == "method";
        speaks = speaks || name == "jsonrpc";
        others = others || (name != "id" && name != "result" && name != "error");
        more = take(text, ',');
    }
    // Programs forget `jsonrpc`. A line of a log has more than an answer has.
    speaks = speaks || (answers && !others && !found.raw.empty());
    // A text that has an id and names no method is an answer that lacks both `result` and `error`, if nothing follows that could name one.
    answers = answers || (whole && !found.raw.empty() && take(text, '}'));
    found.answer = answers && !calls && speaks;
    return found;
}

std::vector<addressee> addressees_of(std::string_view text)
{
    const auto elements = opens_array(text) ? core::scan_elements(text, most_in_batch)
                                            : core::result<core::json_elements>{core::json_elements{}};
    if (!elements || elements->raw.empty()) {
        return {addressee_of(text, true)};
    }
    std::vector<addressee> all;
    for (const auto each : elements->raw) {
        all.push_back(addressee_of(each, true));
    }
    return all;
}

core::error refused_answer(core::error why)
{
    why.detail = "answer refused: " + why.detail;
    return why;
}

note_parts parts_of(const message& notification)
{
    const auto params = members_of(notification.params);
    const auto meta = members_of(params.object("_meta"));
    return {params.find("progressToken"), params.find("requestId"), meta.find(subscription_id)};
}

std::span<const read_part> read_text::parts(std::string_view version) const noexcept
{
    return has_batches(version) && !batch.empty() ? std::span{batch} : std::span{&whole, 1};
}

std::shared_ptr<const read_text> read_apart(std::string text, message_limits limits, std::size_t most_items)
{
    auto out = std::make_shared<read_text>(
        read_text{std::move(text), {{}, core::gateway_error(core::errc::internal), {}, {}}, {}}
    );
    const std::string_view whole = out->text;
    out->whole = part_of(whole, limits, most_items);
    if (opens_array(whole)) {
        for (const auto each : messages_in(whole, with_batches)) {
            if (each.size() != whole.size()) {
                out->batch.push_back(part_of(each, limits, most_items));
            }
        }
    }
    return out;
}

}  // namespace mcp
