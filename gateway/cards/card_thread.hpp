// The one thread on which cards are worked on, and what it has of its own.
#pragma once

#include "gateway/cards/card_editor.hpp"
#include "gateway/cards/card_origins.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <string>
#include <thread>

namespace gateway::cards {

class card_thread {
public:
    card_thread(const config::card_settings& settings, std::shared_ptr<net::name_book> names);

    // Waits for what was asked, which after stop() is not long.
    ~card_thread();
    card_thread(const card_thread&) = delete;
    card_thread& operator=(const card_thread&) = delete;

    card_editor& editor() noexcept { return editor_; }
    card_origins& origins() noexcept { return origins_; }

    // Once; as card_editor::start().
    void start(std::shared_ptr<const card_signer> signer, std::string public_base);

    // Any thread: what has not begun fails from now on.
    void stop();

private:
    net::loop loop_;
    std::unique_ptr<net::curl_fetcher> fetcher_;
    card_editor editor_;
    card_origins origins_;
    std::thread thread_;
};

}  // namespace gateway::cards
