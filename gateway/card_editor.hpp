// Cards that agents hand out in answers to calls, made fit for callers. On a thread of its own: such a card is read anew for
// each call and may be long, which neither calls nor other cards shall feel. Nothing of it is kept but the keys that it is
// verified with.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "gateway/answered_card.hpp"
#include "gateway/card_signer.hpp"
#include "gateway/card_source.hpp"
#include "net/fetch.hpp"
#include "net/types.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace gateway {

class card_editor {
public:
    // `settings` outlives the editor.
    explicit card_editor(const config::settings& settings);

    // Waits for what was asked, which after stop() is not long.
    ~card_editor();
    card_editor(const card_editor&) = delete;
    card_editor& operator=(const card_editor&) = delete;

    // Once. A null signer: cards are not signed. `public_base` as in the snapshot.
    void start(std::shared_ptr<const card_signer> signer, std::string public_base);

    // Where edit() runs; any thread may ask.
    net::executor executor() noexcept { return io_.get_executor(); }

    // An answer of an agent as its callers see it: a card in it is made to point at the gateway. Fails with card_not_json,
    // card_invalid, card_too_large, card_unrewritable and card_signature, as a fetched card would, and with draining.
    net::task<core::result<edited_answer>> edit(answered_card what);

    // Any thread: what has not been begun fails from now on.
    void stop();

private:
    net::task<core::result<std::string>>
    edit_card(std::shared_ptr<const agent_entry> agent, std::string document, a2a::card_dialect dialect);

    const config::settings& settings_;
    std::shared_ptr<const card_signer> signer_;
    std::string public_base_;
    net::asio::io_context io_{1};
    net::asio::executor_work_guard<net::executor> work_;
    std::unique_ptr<net::curl_fetcher> fetcher_;
    card_source source_;
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

}  // namespace gateway
