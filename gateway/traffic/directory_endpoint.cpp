#include "gateway/traffic/directory_endpoint.hpp"

#include "net/loop/ask.hpp"

#include <chrono>

namespace gateway::traffic {
namespace {

// How long a page may say of an agent what is not so any more. What comes and goes is seen at once.
constexpr std::chrono::seconds page_kept{1};

// Of a page that another caller would see differently.
constexpr std::string_view private_page = "Cache-Control: private, no-store\r\n";

}  // namespace

net::routine<> directory_endpoint::answer(request_context& request)
{
    const auto query =
        request.access ? request.access->reader().without_keys(request.to.query) : std::string{request.to.query};
    auto asked = model::read_directory_request(request.to.directory, query);
    if (!asked) {
        auto answer = model::explained_answer(asked.error().code, asked.error().detail);
        co_await respond_error(request, core::caller_error(core::errc::invalid_params), std::move(answer));
        co_return;
    }
    if (request.access) {
        asked->shows = [plan = request.access, owner = *request.owner](const core::agent& agent) {
            return plan->may_discover(agent, owner.get());
        };
    }
    const bool plain = asked->plain();
    auto& loop = request.caller.owner();
    auto& kept = pages_[static_cast<std::size_t>(request.to.directory)];
    const auto version = known_.version();
    auto page = plain && kept.version == version && loop.now() < kept.until ? kept.page : nullptr;
    if (!page) {
        auto question = control_.directory(std::move(*asked));
        page = co_await net::ask(control_.executor(), loop.get_executor(), std::move(question));
        // A change may have arrived here before a page that does not show it.
        if (plain && known_.version() == version) {
            kept = {page, loop.now() + page_kept, version};
        }
    }
    const auto* etag = net::http1::find(request.caller.head().fields, net::http1::field_name::if_none_match);
    auto& head = begin_document(request, etag != nullptr && model::none_match_hits(*etag, page->etag));
    head += request.access ? private_page : page->validators;
    co_await send_document(request, page->fields, page->body);
}

}  // namespace gateway::traffic
