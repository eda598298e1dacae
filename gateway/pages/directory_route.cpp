#include "core/url.hpp"
#include "gateway/pages/page_routes.hpp"
#include "net/loop/ask.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

namespace gateway::pages {
namespace {

// How long a page may say of an agent what is not so any more. What comes and goes is seen at once.
constexpr std::chrono::seconds page_kept{1};

// Validators of a page that another caller would see differently.
std::string private_validators(const model::directory_page& page)
{
    return "ETag: " + page.etag + "\r\nCache-Control: private, no-cache\r\n";
}

std::string number_of(const void* address)
{
    return std::to_string(reinterpret_cast<std::uintptr_t>(address));  // NOLINT(*-reinterpret-cast)
}

// Equal for those who see the same page.
std::string key_of(const request::request_context& request, const model::directory_request& asked)
{
    auto key = std::to_string(static_cast<unsigned>(asked.kind)) + ' ' + std::to_string(asked.limit);
    if (request.sender.access) {
        key += ' ' + number_of(request.sender.access.get()) + ' ' + number_of(request.principal());
    }
    key += asked.cursor ? '\n' + *asked.cursor : std::string{};
    for (const auto* text : {&asked.agent, &asked.address, &asked.version, &asked.search}) {
        key += '\n' + std::to_string(text->size()) + ' ' + *text;
    }
    return key;
}

core::result<std::shared_ptr<const model::directory_page>> page_or_error(
    std::shared_ptr<const model::directory_page> page
)
{
    if (page == nullptr) {
        return core::gateway_error(core::errc::overloaded, "limits.rpc_memory");
    }
    return page;
}

}  // namespace

net::routine<> directory_route::serve(request::request_context& request)
{
    if (!request::reads(request.caller.head().verb)) {
        co_await request::refuse_method(request, request::reading_methods);
        co_return;
    }
    auto asked = read(request);
    if (!asked && asked.error().code == core::errc::agent_not_found) {
        co_await refuse_agent(request);
        co_return;
    }
    if (!asked && asked.error().code == core::errc::invalid_params) {
        auto answer = responses::explained_answer(asked.error().code, asked.error().detail);
        co_await request::respond_error(request, core::caller_error(core::errc::invalid_params), std::move(answer));
        co_return;
    }
    if (!asked) {
        co_await request::respond_error(request, std::move(asked).error());
        co_return;
    }
    const bool is_public = !request.sender.access || (request.agent && request.open_to_anyone());
    if (request.sender.access) {
        asked->shows = [plan = request.sender.access, owner = *request.sender.owner](const core::agent& agent) {
            return plan->may_discover(agent, owner.get());
        };
    }
    auto found = co_await obtain(request, std::move(*asked));
    if (!found) {
        co_await request::respond_error(request, std::move(found).error());
        co_return;
    }
    const auto page = std::move(*found);
    if (page->body.empty()) {
        co_await request::respond_error(request, core::caller_error(core::errc::not_found));
        co_return;
    }
    const auto* etag = net::http1::find(request.caller.head().fields, net::http1::field_name::if_none_match);
    auto& head = request::begin_document(request, etag != nullptr && model::none_match_hits(*etag, page->etag));
    head += is_public ? page->validators : private_validators(*page);
    co_await request::send_document(request, page->fields, page->body);
}

core::result<model::directory_request> directory_route::read(request::request_context& request) const
{
    if (model::is_of_one(request.to.directory)) {
        return read_of_one(request);
    }
    const auto query = request.sender.access ? request.sender.access->reader().without_keys(request.to.query)
                                             : std::string{request.to.query};
    return model::read_directory_request(request.to.directory, query);
}

core::result<model::directory_request> directory_route::read_of_one(request::request_context& request) const
{
    const auto& to = request.to;
    const bool in_registry = to.directory != model::directory_kind::server_card;
    if (in_registry && to.rest != model::server_namespace(known_.public_base())) {
        return core::caller_error(core::errc::not_found, "the name of a server of another gateway");
    }
    const auto* const known = find_agent(request);
    if (known == nullptr) {
        return core::caller_error(core::errc::agent_not_found);
    }
    if (known->entry->record.speaks != core::protocol::mcp) {
        return core::caller_error(core::errc::not_found, "the agent is no MCP server");
    }
    model::directory_request out;
    out.kind = to.directory;
    out.agent = known->entry->record.id;
    out.address = own_origin(request);
    if (to.directory == model::directory_kind::server_version && to.below != model::latest_version) {
        out.version = core::decoded(to.below);
    }
    return out;
}

net::routine<core::result<directory_route::page_pointer>>
directory_route::obtain(request::request_context& request, model::directory_request asked)
{
    auto& here = request.caller.owner();
    auto key = key_of(request, asked);
    const auto version = known_.version();
    const auto known = pages_.find(key);
    if (known != pages_.end() && known->second.version == version) {
        if (auto page = here.now() < known->second.until ? known->second.page.lock() : nullptr) {
            co_return page;
        }
        if (const auto question = known->second.question) {
            auto waits = page_question::wait(question, request.caller, net::never);
            auto page = co_await std::move(waits);
            if (!page) {
                co_return net::gave_up(request.caller);
            }
            co_return page_or_error(std::move(*page));
        }
    }
    if (pages_.size() >= most_known) {
        std::erase_if(pages_, [](const auto& each) { return each.second.question == nullptr; });
    }
    auto& begun = pages_[key];
    begun = known_page{};
    begun.version = version;
    begun.plan = request.sender.access;
    begun.owner = request.shared_principal();
    auto makes = make(here, std::move(asked), std::move(key));
    auto page = co_await std::move(makes);
    co_return page_or_error(std::move(page));
}

net::routine<directory_route::page_pointer>
directory_route::make(net::loop& here, model::directory_request asked, std::string key)
{
    const auto question = std::make_shared<page_question>();
    pages_.at(key).question = question;
    const bool plain = asked.plain();
    page_pointer page;
    std::exception_ptr failure;
    try {
        auto made = control_.directory(std::move(asked));
        page = co_await net::ask(control_.executor, here.get_executor(), std::move(made));
    } catch (...) {
        failure = std::current_exception();
    }
    if (const auto own = pages_.find(key); own != pages_.end() && own->second.question == question) {
        own->second.question = nullptr;
        // A change may have arrived here before a page that does not show it.
        if (page && own->second.version == known_.version()) {
            own->second.page = page;
            own->second.kept = plain ? page : nullptr;
            own->second.until = here.now() + page_kept;
        }
    }
    if (failure) {
        question->fail(failure);
        std::rethrow_exception(failure);
    }
    question->answer(page);
    co_return page;
}

}  // namespace gateway::pages
