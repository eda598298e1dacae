#include "gateway/cards/card_thread.hpp"

#include "gateway/model/version.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::cards {

card_thread::card_thread(const config::card_settings& settings)
    : work_{io_.get_executor()},
      fetcher_{std::make_unique<net::curl_fetcher>(io_, "cardea/" + std::string{model::version()})},
      editor_{io_, *fetcher_, settings},
      origins_{editor_}
{
}

card_thread::~card_thread()
{
    work_.reset();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void card_thread::start(std::shared_ptr<const card_signer> signer, std::string public_base)
{
    origins_.start(signer, public_base);
    editor_.start(std::move(signer), std::move(public_base));
    thread_ = std::thread{[this] { io_.run(); }};
}

void card_thread::stop()
{
    net::asio::post(io_, [this] {
        editor_.stop();
        fetcher_.reset();
    });
}

}  // namespace gateway::cards
