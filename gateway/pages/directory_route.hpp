// GET of the documents in which callers find agents, and of those about one MCP server. Readers who ask the same share one page: those who ask while it is made, and for
// a second those who ask while somebody has it. Plain pages are kept for that second.
#pragma once

#include "gateway/access/shared_question.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/request/route_base.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace gateway::pages {

class directory_route : public request::route_base {
public:
    using route_base::route_base;

    net::routine<> serve(request::request_context& request);

private:
    using page_pointer = std::shared_ptr<const model::directory_page>;
    using page_question = access::shared_question<page_pointer>;

    static constexpr std::size_t most_known = 256;  // pages, beside those that are being made

    // A page as one kind of caller sees it.
    struct known_page {
        std::uint64_t version = 0;                // of the local snapshot, when it was asked for
        std::shared_ptr<page_question> question;  // null: nobody makes it
        std::weak_ptr<const model::directory_page> page;
        page_pointer kept;  // the same of a plain one
        core::steady_time until{};
        // The addresses of these are in the key.
        std::shared_ptr<const access::access_plan> plan;
        request::caller_identity owner;
    };

    // Reads the question; fails with the reason why there is none.
    core::result<model::directory_request> read(request::request_context& request) const;

    // A question about one server. Fails with agent_not_found, and with not_found for another name than the server's or another kind
    // of agent.
    core::result<model::directory_request> read_of_one(request::request_context& request) const;

    // Fails with overloaded, without memory for the page, and with draining.
    net::routine<core::result<page_pointer>> obtain(request::request_context& request, model::directory_request asked);

    // Asks the control loop for the page, for all who wait by then.
    net::routine<page_pointer> make(net::loop& here, model::directory_request asked, std::string key);

    std::unordered_map<std::string, known_page> pages_;  // by query and caller
};

}  // namespace gateway::pages
