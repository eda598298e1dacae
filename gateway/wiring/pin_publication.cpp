#include "gateway/wiring/pin_publication.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace gateway::wiring {

std::unique_ptr<management::pin_book> make_pin_book(const pin_audience& told)
{
    auto book = std::make_unique<management::pin_book>(
        told.control.timers(),
        management::pin_services{
            told.control.get_executor(),
            told.settings,
            told.registry,
            told.store,
            told.log,
            std::chrono::system_clock::now,
            std::chrono::steady_clock::now,
            [told](const std::string& id) { told.cards.make_again(id); }
        }
    );
    auto& made = *book;
    told.registry.set_pins([&made](const core::agent& record) { return made.pins_of(record); });
    told.cards.set_judge([&made](auto agent, auto text, auto place) {
        return made.judge_card(std::move(agent), std::move(text), std::move(place));
    });
    told.sessions.set_judge([&made](auto agent, auto seen) {
        return made.judge_lists(std::move(agent), std::move(seen));
    });
    return book;
}

std::function<void(std::string id, std::vector<::mcp::listed_item> tools)>
note_tools_with(net::loop& control, const std::unique_ptr<management::pin_book>& book)
{
    return [&control, &book](std::string id, std::vector<::mcp::listed_item> tools) {
        net::asio::post(control.get_executor(), [&book, id = std::move(id), tools = std::move(tools)]() mutable {
            book->note_tools(std::move(id), std::move(tools));
        });
    };
}

}  // namespace gateway::wiring
