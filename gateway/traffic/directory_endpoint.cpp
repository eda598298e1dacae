#include "gateway/traffic/directory_endpoint.hpp"

#include "net/loop/ask.hpp"

#include <chrono>

namespace gateway::traffic {
namespace {

// How long a page may say of an agent what is not so any more. What comes and goes is seen at once.
constexpr std::chrono::seconds page_kept{1};

}  // namespace

net::routine<> directory_endpoint::answer(request_context& request)
{
    auto asked = model::read_directory_request(request.to.directory, request.to.query);
    if (!asked) {
        auto answer = model::explained_answer(asked.error().code, asked.error().detail);
        co_await respond_error(request, core::caller_error(core::errc::invalid_params), std::move(answer));
        co_return;
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
    begin_document(request, etag != nullptr && model::none_match_hits(*etag, page->etag)) += page->validators;
    co_await send_document(request, page->fields, page->body);
}

}  // namespace gateway::traffic
