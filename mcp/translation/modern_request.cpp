#include "mcp/translation/modern_request.hpp"

#include "core/json/json.hpp"
#include "core/json/json_bytes.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
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

}  // namespace mcp
