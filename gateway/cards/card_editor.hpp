// All work on cards: those that are fetched, written by the operator, listed by MCP servers or recalled from the store, and
// those that agents hand out in answers to calls. It is done on one thread, so that a card, which its agent may make as
// expensive as it likes, holds up neither calls nor the control loop. Nothing is kept here but the keys that cards are
// verified with.
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/card/card_access.hpp"
#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_renderer.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/cards/card_turns.hpp"
#include "gateway/cards/card_verifier.hpp"
#include "gateway/cards/grpc_offer.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/answered_card.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::cards {

// Whether calls of other dialects of A2A reach the agent, of an MCP server any.
bool is_bridged(const core::agent& agent) noexcept;

// The address of an agent for callers, and what its card offers there, without gRPC. `authenticates`: callers are principals
// (core::extended_card_of).
::a2a::public_address public_address_of(const core::agent& agent, std::string_view public_base, bool authenticates);

// `reaches_grpc`: as model::reaches_grpc().
::a2a::upstream_address upstream_address_of(const core::agent& agent, bool reaches_grpc = false);

// A card that the rules of its agent accept, and the signature that counted.
struct accepted_card {
    ::a2a::card card;
    std::optional<good_signature> signature;  // nothing: it did not have to be verified
};

// The principal of an extended card, and its terms.
struct extended_terms {
    ::a2a::card_dialect dialect = ::a2a::card_dialect::v03;
    std::shared_ptr<const core::principal> caller;  // null: an anonymous one
    std::size_t bytes = 0;                          // of the card as it came
};

class card_editor final : public card_maker {
public:
    // Credentials that an agent's card asks callers for.
    using access_source = std::function<::a2a::card_access(const core::agent& agent)>;

    // Works on the thread that runs `io`. Both outlive the editor, `key_sets` only until stop() has been carried out there.
    card_editor(net::asio::io_context& io, net::fetcher& key_sets, config::card_settings settings);

    // Once, before anything is asked. A null signer: cards are not signed. `public_base` as in the snapshot.
    void start(std::shared_ptr<const card_signer> signer, std::string public_base, grpc_terms grpc = {});

    // Any thread: what is begun from now on goes by these. `authenticates`: callers are principals (core::extended_card_of).
    // Until there is an `access`, cards say of credentials what their agents say.
    void set_settings(config::card_settings now, bool authenticates);
    void set_access(access_source access);

    // Where edit() and extend() run; any thread may ask.
    net::executor executor() noexcept { return io_.get_executor(); }

    // An answer of an agent as its callers see it: a card in it is made to point at the gateway. Fails with card_not_json,
    // card_invalid, card_too_large, card_unrewritable and card_signature, as a fetched card would, and with draining.
    net::task<core::result<model::edited_answer>> edit(model::answered_card answer);

    // The extended card of a caller: the whole card, with the overlays that are for the caller, and then without the skills that
    // are not. Fails with extended_card_incomplete, as make() does, with overloaded if most_extended wait for one of this agent,
    // and with draining.
    net::task<core::result<std::string>> extend(model::extended_request asked);

    // For other work on cards, where those run.
    card_turns& turns() noexcept { return turns_; }

    static constexpr std::size_t most_extended = 64;
    static constexpr std::size_t most_explained = 16;  // waiting for the one that is under way

    net::task<core::result<served_card>> make(std::shared_ptr<const core::agent> agent, card_document document)
        override;
    net::task<core::result<served_card>> make_of_lists(std::shared_ptr<const core::agent> agent, listed_card listed)
        override;
    net::task<core::result<std::string>> compare(std::shared_ptr<const core::agent> agent, card_pair cards) override;
    net::task<core::result<std::string>> explain(std::shared_ptr<const core::agent> agent, shown_card card) override;

    // On the thread that runs `io`: what has not begun fails from now on.
    void stop();

private:
    template <class T>
    net::task<T> ask(net::task<T> work);

    // The card that the agent's rules accept: read, repaired, and verified if it has to be. In the agent's turn.
    net::task<core::result<accepted_card>> accept(std::shared_ptr<const core::agent> agent, card_document document);

    // Begun in the agent's turn; each further step in a turn of its own if `in_pieces`.
    net::task<core::result<rendered_card>> render(std::string agent, bool in_pieces, card_renderer renderer);

    net::task<core::result<served_card>> make_here(std::shared_ptr<const core::agent> agent, card_document document);
    net::task<core::result<served_card>>
    make_of_lists_here(std::shared_ptr<const core::agent> agent, listed_card listed);
    net::task<core::result<std::string>> compare_here(std::shared_ptr<const core::agent> agent, card_pair cards);
    net::task<core::result<std::string>> explain_here(std::shared_ptr<const core::agent> agent, shown_card card);
    net::task<core::result<std::string>> explained(std::shared_ptr<const core::agent> agent, shown_card card);
    void next_explanation();
    net::task<core::result<std::string>>
    edit_card(std::shared_ptr<const model::agent_entry> entry, std::string text, extended_terms terms);
    net::task<core::result<std::string>>
    render_extended(std::shared_ptr<const core::agent> agent, ::a2a::card card, extended_terms terms);
    ::mcp::card_request card_request_of(const core::agent& agent, core::card_shape shape) const;
    signing signing_of(const core::agent& agent) const;
    ::a2a::public_address address_of(const core::agent& agent, bool reaches_grpc) const;
    std::optional<::a2a::card_access> access_of(const core::agent& agent) const;

    net::asio::io_context& io_;
    config::card_settings settings_;
    std::shared_ptr<const card_signer> signer_;
    std::string public_base_;
    grpc_terms grpc_;
    access_source access_;
    card_turns turns_;
    card_verifier verifier_;
    std::deque<net::task_signal*> explanations_;  // that wait for the one under way
    bool explains_ = false;
    bool authenticates_ = false;
    bool stopped_ = false;
};

}  // namespace gateway::cards
