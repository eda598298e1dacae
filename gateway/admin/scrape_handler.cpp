#include "gateway/admin/scrape_handler.hpp"

#include "gateway/responses/answer.hpp"

#include <string>
#include <utility>

namespace gateway::admin {

scrape_handler::scrape_handler(status_services& services, const core::logger& log)
    : operator_handler{"metrics", log},
      pages_{services}
{
}

net::routine<> scrape_handler::handle(net::server_connection& caller)
{
    std::string path{caller.head().target.substr(0, caller.head().target.find('?'))};
    if (auto refusal = refusal_of_relayed(caller)) {
        co_await responses::send_answer(caller, std::move(*refusal));
        co_return;
    }
    if (status_pages::serves(path)) {
        co_await pages_.answer(caller, std::move(path));
        co_return;
    }
    auto reply = responses::error_answer(core::errc::not_found, {});
    co_await responses::send_answer(caller, std::move(reply));
}

}  // namespace gateway::admin
