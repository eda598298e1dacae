#include "a2a/card/card_origin.hpp"

#include "core/json/json_cursor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace a2a {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

// The kind of a value of a card.
enum class part : std::uint8_t { other, card, address, endpoint, endpoints, capabilities, extensions, extension };

struct known_member {
    part of;
    std::string_view name;
    part is;
};

constexpr auto known_members = std::to_array<known_member>({
    {part::card, "url", part::address},
    {part::card, "additionalInterfaces", part::endpoints},
    {part::card, "supportedInterfaces", part::endpoints},
    {part::card, "agentCard", part::card},
    {part::card, "mcp", part::endpoint},
    {part::card, "capabilities", part::capabilities},
    {part::endpoint, "url", part::address},
    {part::capabilities, "extensions", part::extensions},
    {part::extension, "params", part::endpoint},
});

part member_of(part object, std::string_view name) noexcept
{
    for (const auto& each : known_members) {
        if (each.of == object && each.name == name) {
            return each.is;
        }
    }
    return part::other;
}

class mover {
public:
    mover(std::string_view text, std::string_view from, std::string_view to)
        : text_{text},
          from_{from},
          to_{to}
    {
    }

    core::result<std::string> move()
    {
        if (!walk(text_, part::card)) {
            return core::gateway_error(core::errc::internal, "a card that is served cannot be read");
        }
        out_.append(text_.substr(copied_));
        return std::move(out_);
    }

private:
    // `value` is one value within the text, without white space in front. As deep as a cursor goes, which has looked at it.
    bool walk(std::string_view value, part what)
    {
        cursor_type cursor{value, cursor_type::deepest};
        switch (what) {
            case part::address:
                replace(value);
                return true;
            case part::endpoints:
                return walk_list(value, part::endpoint);
            case part::extensions:
                return walk_list(value, part::extension);
            case part::other:
                return true;
            case part::card:
            case part::endpoint:
            case part::capabilities:
            case part::extension:
                break;
        }
        if (!value.starts_with('{')) {
            return true;
        }
        return cursor.object([&](std::string_view name, bool, std::string_view inner) {
            return walk(inner, member_of(what, name));
        });
    }

    bool walk_list(std::string_view value, part element)
    {
        cursor_type cursor{value, cursor_type::deepest};
        if (!value.starts_with('[')) {
            return true;
        }
        if (!cursor.open('[')) {
            return false;
        }
        if (cursor.close()) {
            return true;
        }
        do {
            const auto* const begin = cursor.position();
            if (!cursor.value() || !walk({begin, static_cast<std::size_t>(cursor.position() - begin)}, element)) {
                return false;
            }
            cursor.skip_space();
        } while (cursor.take(','));
        return cursor.close();
    }

    // `value` with its quotes, if it is a string.
    void replace(std::string_view value)
    {
        const bool is_text = value.size() >= 2 && value.front() == '"';
        const auto address = is_text ? value.substr(1, value.size() - 2) : std::string_view{};
        if (!is_text || !address.starts_with(from_) ||
            (address.size() > from_.size() && address[from_.size()] != '/')) {
            return;
        }
        const auto begin = static_cast<std::size_t>(address.data() - text_.data());
        out_.append(text_.substr(copied_, begin - copied_)).append(to_);
        copied_ = begin + from_.size();
    }

    std::string_view text_;
    std::string_view from_;
    std::string_view to_;
    std::string out_;
    std::size_t copied_ = 0;  // of the text, to `out_`
};

}  // namespace

core::result<std::string> move_card(std::string_view text, std::string_view from, std::string_view to)
{
    return mover{text, from, to}.move();
}

}  // namespace a2a
