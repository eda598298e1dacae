#include "mcp/pins/pinned_server.hpp"

#include "core/json/json_writer.hpp"
#include "core/pattern.hpp"
#include "mcp/pins/definition.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

// Whether a lenient reader may take the name for `other`; some fold letters beyond ASCII.
bool is_lookalike(std::string_view name, std::string_view other)
{
    return is_twin(name, other) ||
           std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) > 127; });
}

bool has_lookalike(const raw_object& object, std::string_view name)
{
    return std::ranges::any_of(object.members(), [name](const auto& each) { return is_lookalike(each.name, name); });
}

}  // namespace

pinned_server::pinned_server(approved_server approved, std::vector<std::string> except)
    : approved_{std::move(approved)},
      except_{std::move(except)}
{
    tools_.reserve(approved_.tools.size());
    for (const auto& [name, tool] : approved_.tools) {
        tools_[name].tool = &tool;
    }
}

bool pinned_server::leaves_out(std::string_view name) const noexcept
{
    return std::ranges::any_of(except_, [name](const std::string& each) { return core::fits(each, name); });
}

bool pinned_server::admits(std::string_view name) const noexcept
{
    const auto found = tools_.find(name);
    return (found != tools_.end() && found->second.tool->callable && !found->second.tool->variants.empty()) ||
           leaves_out(name);
}

std::uint64_t pinned_server::hash(std::string_view name, std::string_view raw) const noexcept
{
    return std::max<std::uint64_t>(hash_(name, raw)[0], 1);
}

std::optional<std::string_view> pinned_server::shown(std::string_view name, std::string_view raw) const
{
    const auto found = tools_.find(name);
    if (found == tools_.end()) {
        return std::nullopt;
    }
    const auto& variants = found->second.tool->variants;
    for (const auto& each : variants) {
        if (each.raw == raw) {
            return each.raw;
        }
    }
    auto& known = *found->second.known;
    const auto seen = hash(name, raw);
    for (std::size_t i = 0; i < known.hashes.size(); ++i) {
        if (known.hashes[i].load(std::memory_order_acquire) == seen) {
            const auto variant = known.variants[i].load(std::memory_order_relaxed);
            return variant < variants.size() ? std::optional<std::string_view>{variants[variant].raw} : std::nullopt;
        }
    }
    const auto print = print_of_tool(raw);
    if (!print) {
        return std::nullopt;
    }
    const auto fits = std::ranges::find(variants, print->shape, &approved_variant::shape);
    if (fits == variants.end()) {
        return std::nullopt;
    }
    // A reader that meets the hash of one writer and the variant of another would show an approved form all the same.
    const auto at = known.next.fetch_add(1, std::memory_order_relaxed) % known.hashes.size();
    known.variants[at].store(static_cast<std::uint8_t>(fits - variants.begin()), std::memory_order_relaxed);
    known.hashes[at].store(seen, std::memory_order_release);
    return fits->raw;
}

bool pinned_server::is_news(std::string_view name, std::string_view raw) const noexcept
{
    const auto seen = hash(name, raw);
    return news_[seen % news_.size()].exchange(seen, std::memory_order_relaxed) != seen;
}

std::string_view pinned_server::instructions() const noexcept
{
    return approved_.instructions ? std::string_view{*approved_.instructions} : std::string_view{};
}

server_lists approved_lists(const pinned_server& pins, const server_lists& seen)
{
    auto out = seen;
    auto& tools = out.lists[index_of(list_kind::tools)];
    std::vector<listed_item> kept;
    for (auto& each : tools) {
        if (pins.leaves_out(each.key)) {
            kept.push_back(std::move(each));
        } else if (const auto shown = pins.shown(each.key, each.raw)) {
            kept.push_back({each.key, std::string{*shown}});
        } else {
            out.held.push_back({each.key, pins.approved().tools.contains(each.key)});
        }
    }
    tools = std::move(kept);
    out.server.instructions = pins.instructions();
    return out;
}

core::result<std::optional<std::string>> with_approved_instructions(const pinned_server& pins, std::string_view message)
{
    const auto unusable = core::upstream_error(core::errc::upstream_protocol, "an answer that cannot be read");
    const auto read = raw_object::read(message);
    if (!read) {
        return unusable;
    }
    std::string edited;  // empty: the result stays
    if (const auto raw = read->find("result"); !raw.empty()) {
        const auto result = raw_object::read(raw);
        if (!result) {
            return unusable;
        }
        const auto approved = pins.instructions();
        const auto said = result->find("instructions");
        const bool same = said.empty() ? approved.empty() : text_of(said) == approved;
        if (!same || has_lookalike(*result, "instructions")) {
            edited = "{";
            for (const auto& each : result->members()) {
                if (each.name != "instructions" && !is_lookalike(each.name, "instructions")) {
                    append_member(edited, each.name, each.value);
                }
            }
            if (!approved.empty()) {
                append_text_member(edited, "instructions", approved);
            }
            close(edited, '}');
        }
    }
    if (edited.empty() && !has_lookalike(*read, "result")) {
        return std::optional<std::string>{};
    }
    std::string out{"{"};
    for (const auto& each : read->members()) {
        if (!is_lookalike(each.name, "result")) {
            append_member(out, each.name, each.name == "result" && !edited.empty() ? edited : each.value);
        }
    }
    close(out, '}');
    return std::optional{std::move(out)};
}

}  // namespace mcp
