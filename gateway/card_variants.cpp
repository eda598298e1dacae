#include "gateway/card_variants.hpp"

#include "a2a/card_shape.hpp"

#include <utility>

namespace gateway {
namespace {

// The rendered card of one shape; what it lost is noted.
core::result<std::string> body_of(
    const core::json& rewritten,
    core::card_shape shape,
    const a2a::public_address& at,
    std::vector<card_loss>& losses
)
{
    auto made = a2a::shape_card(rewritten, shape, at);
    if (!made) {
        return std::move(made).error();
    }
    if (!made->lost.empty()) {
        losses.push_back({shape, std::move(made->lost)});
    }
    return a2a::render(made->document);
}

}  // namespace

core::result<card_variants>
make_variants(const core::json& rewritten, core::card_shape shape, const a2a::public_address& at)
{
    card_variants made;
    auto body = body_of(rewritten, shape, at, made.losses);
    if (!body) {
        return std::move(body).error();
    }
    if (shape != core::card_shape::automatic) {
        made.bytes = make_card_bytes(std::move(*body));
        return made;
    }
    version_bodies other;
    for (const auto& [each, into] : {std::pair{core::card_shape::v1, &other.v1}, {core::card_shape::v03, &other.v03}}) {
        auto variant = body_of(rewritten, each, at, made.losses);
        if (!variant) {
            return std::move(variant).error();
        }
        *into = std::move(*variant);
    }
    made.bytes = make_card_bytes(std::move(*body), std::move(other));
    return made;
}

}  // namespace gateway
