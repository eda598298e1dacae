#include "gateway/sessions/long_texts.hpp"

#include "mcp/protocol/read_text.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace gateway::sessions {

::mcp::transport_factory read_on(
    threads::side_thread* thread,
    net::loop& loop,
    ::mcp::transport_factory made,
    std::size_t largest,
    std::size_t most_items
)
{
    using texts_read = std::shared_ptr<const ::mcp::read_text>;
    if (made == nullptr || thread == nullptr) {
        return made;
    }
    auto reading = [thread, &loop, largest, most_items](std::string text, std::function<void(texts_read)> done) {
        auto held = std::make_shared<std::string>(std::move(text));
        std::function<texts_read()> read = [held, largest, most_items] {
            return ::mcp::read_apart(std::move(*held), {.bytes = largest}, most_items);
        };
        net::asio::co_spawn(
            loop.get_executor(),
            thread->ask<texts_read>(std::move(read)),
            [done = std::move(done)](const std::exception_ptr& bug, texts_read got) {
                if (bug) {
                    std::rethrow_exception(bug);
                }
                done(std::move(got));
            }
        );
    };
    return ::mcp::reading_apart(std::move(made), std::move(reading), largest);
}

}  // namespace gateway::sessions
