#include "mcp/bundle/result_edit.hpp"

#include "core/json/json_cursor.hpp"
#include "core/json/json_writer.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/bundle/names.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace mcp {
namespace {

constexpr std::string_view updated_method = "notifications/resources/updated";
constexpr std::string_view tasks_method = "notifications/tasks";

// Reads one value in one pass, descends only where URIs may stand, and notes the edits.
class uri_reader {
public:
    uri_reader(std::string_view text, const member_prefix& member)
        : text_{text},
          member_{member},
          cursor_{text, core::json_cursor<core::wide_bytes>::deepest}
    {
    }

    // A message, or a batch of them. False: not JSON.
    bool read_messages()
    {
        cursor_.skip_space();
        return (cursor_.peek() == '[' ? array([this] { return message(); }) : message()) && cursor_.finish();
    }

    bool read_meta() { return meta() && cursor_.finish(); }

    std::vector<text_edit> take() { return std::move(edits_); }

private:
    std::size_t offset() const noexcept { return static_cast<std::size_t>(cursor_.position() - text_.data()); }

    // Calls `each(name)` for each member of an object, which reads its value. Anything else is passed over.
    template <class Each>
    bool object(Each each)
    {
        if (cursor_.peek() != '{') {
            return cursor_.value();
        }
        if (!cursor_.open('{')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        do {
            std::string_view name;
            bool escaped = false;
            if (!cursor_.name(name, escaped) || !(escaped ? each(core::unescape_json(name)) : each(name))) {
                return false;
            }
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close();
    }

    template <class Each>
    bool array(Each each)
    {
        if (cursor_.peek() != '[') {
            return cursor_.value();
        }
        if (!cursor_.open('[')) {
            return false;
        }
        if (cursor_.close()) {
            return true;
        }
        do {
            if (!each()) {
                return false;
            }
            cursor_.skip_space();
        } while (cursor_.take(','));
        return cursor_.close();
    }

    // Reads a value and adds its place if it is a string.
    bool string_at(std::vector<text_range>& places)
    {
        const auto at = offset();
        if (!cursor_.value()) {
            return false;
        }
        if (const text_range place{at, offset() - at}; is_string(place.of(text_))) {
            places.push_back(place);
        }
        return true;
    }

    // Kinds of strings that clients have with a prefix.
    enum class kind : std::uint8_t { uri, task };

    void expose(const std::vector<text_range>& places, kind of)
    {
        if (of == kind::task && !member_.tasks) {
            return;
        }
        for (const auto& place : places) {
            const auto own = text_of(place.of(text_)).value_or("");
            auto& edit = edits_.emplace_back(place, std::string{});
            core::append_json_string(
                edit.text,
                of == kind::uri ? exposed_uri(member_.scheme, own) : std::string{member_.scheme}.append("+").append(own)
            );
        }
    }

    bool expose_next(kind of)
    {
        std::vector<text_range> place;
        const bool read = string_at(place);
        expose(place, of);
        return read;
    }

    // The last of several.
    std::string said_at(const std::vector<text_range>& places) const
    {
        return places.empty() ? std::string{} : text_of(places.back().of(text_)).value_or("");
    }

    bool message()
    {
        std::vector<text_range> method;
        std::vector<text_range> uris;
        std::vector<text_range> tasks;
        const bool read = object([&](std::string_view name) {
            if (name == "result") {
                return result();
            }
            if (name == "params") {
                return params(uris, tasks);
            }
            return name == "method" ? string_at(method) : cursor_.value();
        });
        const auto named = said_at(method);
        if (named == updated_method) {
            expose(uris, kind::uri);
        } else if (named.starts_with(tasks_method)) {
            expose(tasks, kind::task);
        }
        return read;
    }

    // Of tools/call, prompts/get and resources/read, and of a task that has ended, which has one of these in it.
    bool result()
    {
        return object([this](std::string_view name) {
            if (name == "content") {
                return blocks();
            }
            if (name == "contents") {
                return array([this] { return resource(); });
            }
            if (name == "messages") {
                return array([this] { return prompt_message(); });
            }
            if (name == "inputRequests") {
                return object([this](std::string_view) { return question(); });
            }
            if (name == "result" || name == "task") {
                return result();
            }
            if (name == "taskId") {
                return expose_next(kind::task);
            }
            return name == "_meta" ? meta() : cursor_.value();
        });
    }

    bool question()
    {
        std::vector<text_range> ignored;
        return object([&](std::string_view name) {
            return name == "params" ? params(ignored, ignored) : cursor_.value();
        });
    }

    // The method, which may come later, says whether the places count.
    bool params(std::vector<text_range>& uris, std::vector<text_range>& tasks)
    {
        return object([&](std::string_view name) {
            if (name == "uri") {
                return string_at(uris);
            }
            if (name == "taskId") {
                return string_at(tasks);
            }
            if (name == "messages") {
                return array([this] { return prompt_message(); });
            }
            return name == "result" ? result() : cursor_.value();
        });
    }

    bool prompt_message()
    {
        return object([this](std::string_view name) {
            return name == "content" ? blocks() : (name == "_meta" ? meta() : cursor_.value());
        });
    }

    bool blocks()
    {
        return cursor_.peek() == '[' ? array([this] { return block(); }) : block();
    }

    // Its type, which may come last, says whether its `uri` or its `resource` counts.
    bool block()
    {
        std::vector<text_range> type;
        std::vector<text_range> links;
        std::vector<text_edit> embedded;
        const bool read = object([&](std::string_view name) {
            if (name == "type") {
                return string_at(type);
            }
            if (name == "uri") {
                return string_at(links);
            }
            if (name == "resource") {
                auto before = std::exchange(edits_, {});
                const bool whole = resource();
                std::ranges::move(edits_, std::back_inserter(embedded));
                edits_ = std::move(before);
                return whole;
            }
            return name == "content" ? blocks() : (name == "_meta" ? meta() : cursor_.value());
        });
        const auto named = said_at(type);
        if (named == "resource_link") {
            expose(links, kind::uri);
        } else if (named == "resource") {
            std::ranges::move(embedded, std::back_inserter(edits_));
        }
        return read;
    }

    bool resource()
    {
        return object([this](std::string_view name) {
            return name == "uri" ? expose_next(kind::uri) : (name == "_meta" ? meta() : cursor_.value());
        });
    }

    bool meta()
    {
        return object([this](std::string_view name) {
            if (name == "ui") {
                return object([this](std::string_view inner) {
                    return inner == "resourceUri" ? expose_next(kind::uri) : cursor_.value();
                });
            }
            return name == "ui/resourceUri" || name == "openai/outputTemplate" ? expose_next(kind::uri)
                                                                               : cursor_.value();
        });
    }

    std::string_view text_;
    const member_prefix& member_;
    core::json_cursor<core::wide_bytes> cursor_;
    std::vector<text_edit> edits_;
};

// Whether a letter is written as an escape: then a name may be written in any way.
bool has_escaped_letter(std::string_view text) noexcept
{
    constexpr std::string_view escape = "\\u00";
    for (auto at = text.find(escape); at != std::string_view::npos; at = text.find(escape, at + 1)) {
        if (const auto digit = at + escape.size(); digit < text.size() && text[digit] >= '4' && text[digit] <= '7') {
            return true;
        }
    }
    return false;
}

// The params of the notification. Nothing: the message is another one.
std::optional<raw_object> updated_params(std::string_view message)
{
    const auto read = members_of(message);
    if (read.text("method") != updated_method) {
        return std::nullopt;
    }
    auto params = members_of(read.object("params"));
    return is_string(params.find("uri")) ? std::optional{std::move(params)} : std::nullopt;
}

}  // namespace

bool may_name_uris(std::string_view message) noexcept
{
    constexpr std::array<std::string_view, 4> words{"uri\"", "esourceUri\"", "outputTemplate\"", "taskId\""};
    return std::ranges::any_of(words, [message](auto word) { return message.find(word) != std::string_view::npos; }) ||
           has_escaped_letter(message);
}

std::optional<std::string> exposed_message(std::string_view message, const member_prefix& member)
{
    if (member.scheme.empty() || !may_name_uris(message)) {
        return std::nullopt;
    }
    uri_reader reader{message, member};
    if (!reader.read_messages()) {
        return std::nullopt;
    }
    const auto edits = reader.take();
    return edits.empty() ? std::nullopt : std::optional{edited(message, edits)};
}

std::vector<text_edit> exposed_meta(std::string_view meta, std::string_view scheme)
{
    const member_prefix member{scheme};
    uri_reader reader{meta, member};
    return !scheme.empty() && reader.read_meta() ? reader.take() : std::vector<text_edit>{};
}

std::optional<std::string> updated_with_uri(std::string_view message, std::string_view uri)
{
    const auto params = updated_params(message);
    if (!params) {
        return std::nullopt;
    }
    const auto raw = params->find("uri");
    text_edit edit{{static_cast<std::size_t>(raw.data() - message.data()), raw.size()}, {}};
    core::append_json_string(edit.text, uri);
    return edited(message, {&edit, 1});
}

std::optional<std::string> updated_uri(std::string_view message)
{
    const auto params = updated_params(message);
    return params ? std::optional{params->text("uri")} : std::nullopt;
}

}  // namespace mcp
