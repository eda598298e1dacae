// The one thread on which cards are worked on, and what it has of its own.
#pragma once

#include "gateway/cards/card_editor.hpp"
#include "gateway/cards/card_origins.hpp"
#include "gateway/model/plane.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace gateway::cards {

class card_thread final : public model::plane {
public:
    card_thread(const config::card_settings& settings, std::shared_ptr<net::dns_cache> names);

    // Waits for what was asked, which after stop() is not long.
    ~card_thread() override;
    card_thread(const card_thread&) = delete;
    card_thread& operator=(const card_thread&) = delete;

    card_editor& editor() noexcept { return editor_; }
    card_origins& origins() noexcept { return origins_; }

    // Once; as card_editor::start().
    void start(std::shared_ptr<const card_signer> signer, std::string public_base, grpc_terms grpc);

    void apply(const config::settings& now, const model::changed_settings& changed) override;

    // Work that has not begun fails from now on. Any thread.
    void stop() override;

    // `cards.max_size`, which a reload changes. Any thread.
    std::uint64_t largest_card() const noexcept { return largest_.load(std::memory_order_relaxed); }

private:
    net::loop loop_;
    std::unique_ptr<net::curl_fetcher> fetcher_;
    card_editor editor_;
    card_origins origins_;
    std::atomic<std::uint64_t> largest_;
    std::thread thread_;
};

}  // namespace gateway::cards
