#include "mcp/protocol/read_text.hpp"

#include "mcp/protocol/list_page.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <utility>

namespace mcp {
namespace {

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
