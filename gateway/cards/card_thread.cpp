#include "gateway/cards/card_thread.hpp"

#include "gateway/model/version.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::cards {

card_thread::card_thread(const config::card_settings& settings, std::shared_ptr<net::dns_cache> names)
    : loop_{std::move(names)},
      fetcher_{std::make_unique<net::curl_fetcher>(loop_, "cardea/" + std::string{model::version()})},
      editor_{loop_.io(), *fetcher_, settings},
      origins_{editor_},
      largest_{settings.max_size}
{
}

card_thread::~card_thread()
{
    if (thread_.joinable()) {
        net::asio::post(loop_.io(), [this] { loop_.stop(); });
        thread_.join();
    }
}

void card_thread::start(std::shared_ptr<const card_signer> signer, std::string public_base, grpc_terms grpc)
{
    origins_.start(signer, public_base);
    editor_.start(std::move(signer), std::move(public_base), std::move(grpc));
    thread_ = std::thread{[this] { loop_.run(); }};
}

void card_thread::apply(const config::settings& now, const model::changed_settings& /*changed*/)
{
    largest_ = now.cards.max_size;
    editor_.set_settings(now.cards, !now.access.providers.empty());
}

void card_thread::stop()
{
    net::asio::post(loop_.io(), [this] {
        editor_.stop();
        fetcher_.reset();
    });
}

}  // namespace gateway::cards
