#include "gateway/cli/fetch_once.hpp"

#include "gateway/model/version.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <string>
#include <utility>

namespace gateway::cli {

core::result<net::fetch_response> fetch_once(net::fetch_request request)
{
    boost::asio::io_context io{1};
    net::curl_fetcher fetcher{io, "cardea/" + std::string{model::version()}};
    core::result<net::fetch_response> outcome = core::gateway_error(core::errc::internal);
    boost::asio::co_spawn(
        io.get_executor(),
        fetcher.fetch(std::move(request)),
        [&](const std::exception_ptr& bug, core::result<net::fetch_response> done) {
            if (bug) {
                std::rethrow_exception(bug);
            }
            outcome = std::move(done);
            io.stop();
        }
    );
    io.run();
    return outcome;
}

}  // namespace gateway::cli
