// Cards at the origins of names that agents have for themselves: made of those that are served, when one is asked for there, and
// kept while there is room, because every agent may have such names and few of them are asked for. On the card thread.
#pragma once

#include "core/error.hpp"
#include "gateway/cards/card_editor.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/published_card.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gateway::cards {

class card_origins {
public:
    static constexpr std::size_t most_bytes = 32 * 1024 * 1024;  // of bodies that are kept

    // Works where the editor does, which outlives it.
    explicit card_origins(card_editor& editor, std::size_t most = most_bytes);

    // Works as card_editor::start().
    void start(std::shared_ptr<const card_signer> signer, std::string public_base);

    // The card there: the same bytes but for addresses, ETag and signature. Whoever asks for the same gets the same object while
    // it is kept. Fails with internal.
    net::task<core::result<std::shared_ptr<const model::card_bytes>>> move(model::rebased_card asked);

    // These work as those of card_editor, at `origin` if they have one.
    net::task<core::result<model::edited_answer>> edit(model::answered_card answer);
    net::task<core::result<std::string>> extend(model::extended_request asked);

private:
    struct kept_card {
        std::string origin;
        std::weak_ptr<const model::card_bytes> of;
        std::shared_ptr<const model::card_bytes> card;
        std::size_t bytes = 0;
    };
    using order = std::list<kept_card>;

    std::shared_ptr<const void> begin(const std::string& origin);
    net::task<core::result<std::shared_ptr<const model::card_bytes>>> make(const model::rebased_card& asked);
    net::task<core::result<model::card_body>>
    moved_version(const model::rebased_card& asked, const model::card_bytes* bytes, const std::string& own_etag);
    net::task<core::result<model::card_body>>
    moved_body(const model::rebased_card& asked, const model::card_bytes& bytes);
    net::task<core::result<std::string>>
    moved_text(std::string_view card, const std::string& agent, const std::string& origin);
    std::shared_ptr<const model::card_bytes> find(const model::rebased_card& asked);
    void keep(const model::rebased_card& asked, std::shared_ptr<const model::card_bytes> card);
    void drop(order::iterator which);

    card_editor& editor_;
    std::size_t most_;
    std::shared_ptr<const card_signer> signer_;
    std::string public_base_;
    order kept_;  // the card that was asked for last comes first
    std::unordered_map<std::string, order::iterator> by_origin_;
    std::size_t bytes_ = 0;
    // Origins whose card is being made, which takes several turns if it is long. What waits may outlive this.
    std::shared_ptr<std::set<std::string>> under_way_ = std::make_shared<std::set<std::string>>();
};

}  // namespace gateway::cards
