#include "gateway/session_card.hpp"

#include "gateway/snapshot.hpp"
#include "mcp/card.hpp"

#include <utility>

namespace gateway {
namespace {

using core::card_shape;

class session_card_maker {
public:
    session_card_maker(const mcp::snapshot& from, mcp::card_request asked, const signing& how)
        : from_{from},
          asked_{std::move(asked)},
          how_{how}
    {
    }

    core::result<card_body> body_of(card_shape shape)
    {
        asked_.shape = shape;
        auto text = mcp::synthesize_card(from_, asked_);
        if (!text) {
            return std::move(text).error();
        }
        if (shape != card_shape::v1 || how_.by == nullptr) {
            return body_with_strong_etag(std::move(*text));
        }
        auto document = core::parse_json(*text, {.bytes = asked_.limit, .depth = 64});
        if (!document) {
            return std::move(document).error();
        }
        signed_by = how_.by->kid();
        return signed_body(std::move(*document), how_);
    }

    std::string signed_by;

private:
    const mcp::snapshot& from_;
    mcp::card_request asked_;
    const signing& how_;
};

}  // namespace

core::result<session_card> make_session_card(
    const mcp::snapshot& from,
    const core::agent& record,
    card_shape shape,
    const signing& how,
    std::size_t limit
)
{
    mcp::card_request asked;
    asked.agent_id = record.id;
    asked.at = {public_address(how.public_base, record.id)};
    asked.limit = limit;
    session_card_maker maker{from, std::move(asked), how};
    auto own = maker.body_of(shape);
    if (!own) {
        return std::move(own).error();
    }
    auto card = a2a::parse_card(own->text, {.bytes = limit, .depth = 64});
    if (!card) {
        return std::move(card).error();
    }
    session_card made{{}, std::move(*card)};
    if (from.server.version.empty()) {
        made.card.problems.push_back({"version", "empty: 0.0.0 is served", a2a::problem_severity::warning});
    }
    if (shape != card_shape::automatic) {
        made.variants.bytes = make_card_bytes(std::move(*own));
    } else {
        version_bodies others{maker.body_of(card_shape::v1), maker.body_of(card_shape::v03)};
        for (const auto& [version, body] :
             {std::pair{card_shape::v1, &others.v1}, std::pair{card_shape::v03, &others.v03}}) {
            if (body->has_value()) {
                continue;
            }
            if (body->error().code != core::errc::card_too_large) {
                return body->error();
            }
            made.variants.refusals.push_back({version, body->error()});
        }
        made.variants.bytes = make_card_bytes(std::move(*own), std::move(others));
    }
    made.variants.signed_by = std::move(maker.signed_by);
    return made;
}

}  // namespace gateway
