#include "gateway/cards/session_card.hpp"

#include "gateway/model/snapshot.hpp"

#include <array>
#include <utility>

namespace gateway::cards {

using core::card_shape;

session_card_maker::session_card_maker(
    const mcp::server_lists& from,
    const core::agent& record,
    card_shape shape,
    signing how,
    std::size_t limit
)
    : from_{from},
      shape_{shape},
      how_{std::move(how)},
      limit_{limit},
      writer_{
          from,
          {.agent_id = record.id,
           .at = {model::public_address(how_.public_base, record.id)},
           .shape = shape,
           .limit = limit}
      }
{
}

core::result<bool> session_card_maker::step()
{
    core::result<> done;
    if (!writer_.is_prepared()) {
        done = writer_.prepare();
    } else if (unsigned_) {
        done = sign_one();
    } else if (!bodies_.empty() && !card_) {
        done = read_own();
    } else {
        done = write_one();
    }
    if (!done) {
        return std::move(done).error();
    }
    return unsigned_ || !card_ || bodies_.size() < all();
}

card_shape session_card_maker::next_shape() const noexcept
{
    constexpr std::array in_turn{card_shape::automatic, card_shape::v1, card_shape::v03};
    return shape_ == card_shape::automatic ? in_turn[bodies_.size()] : shape_;
}

core::result<> session_card_maker::write_one()
{
    const auto shape = next_shape();
    auto made = writer_.write(shape);
    if (!made) {
        auto why = std::move(made).error();
        if (bodies_.empty() || why.code != core::errc::card_too_large) {
            return why;
        }
        refusals_.push_back({shape, why});
        bodies_.emplace_back(std::move(why));
    } else if (shape == card_shape::v1 && how_.by != nullptr) {
        unsigned_ = std::move(made->document);
    } else {
        bodies_.emplace_back(model::body_with_strong_etag(std::move(made->text)));
    }
    return {};
}

core::result<> session_card_maker::sign_one()
{
    auto document = std::move(*unsigned_);  // NOLINT(bugprone-unchecked-optional-access): step() has looked
    unsigned_.reset();
    auto body = signed_body(std::move(document), how_);
    if (!body) {
        return std::move(body).error();
    }
    bodies_.push_back(std::move(body));
    signed_by_ = how_.by->kid();
    return {};
}

core::result<> session_card_maker::read_own()
{
    auto card = a2a::parse_card(bodies_.front()->text, {.bytes = limit_, .depth = 64});
    if (!card) {
        return std::move(card).error();
    }
    if (from_.server.version.empty()) {
        card->problems.push_back({"version", "empty: 0.0.0 is served", a2a::problem_severity::warning});
    }
    card_ = std::move(*card);
    return {};
}

session_card session_card_maker::take() &&
{
    auto& card = *card_;  // NOLINT(bugprone-unchecked-optional-access): read_own() was the last step
    auto bytes = shape_ == card_shape::automatic
                     ? model::make_card_bytes(
                           std::move(*bodies_[0]),
                           model::version_bodies{std::move(bodies_[1]), std::move(bodies_[2])}
                       )
                     : model::make_card_bytes(std::move(*bodies_[0]));
    return {{std::move(bytes), {}, std::move(refusals_), std::move(signed_by_)}, std::move(card)};
}

}  // namespace gateway::cards
