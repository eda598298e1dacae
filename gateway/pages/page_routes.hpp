// The routes of documents and of the store: the small pages that everybody may read, the documents in which callers find agents, and
// POST /rpc and POST /agent/register. On the thread of the caller's loop.
#pragma once

#include "gateway/access/shared_question.hpp"
#include "gateway/model/directory_page.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/request/route_base.hpp"
#include "gateway/responses/answer.hpp"
#include "net/loop/types.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>

namespace gateway::pages {

class public_pages : public request::route_base {
public:
    using route_base::route_base;

    // GET /: the addresses of the gateway.
    static net::routine<> serve_index(request::request_context& request);

    // Answers a request without a route.
    net::routine<> serve_nothing(request::request_context& request);

    // GET /agents/<id>: somebody reads where calls go, such as a browser, a probe, or a client that looks for a stream. Other
    // methods are refused: a POST is a call.
    net::routine<> serve_description(request::request_context& request);

    // GET of the keys that the cards are verified with.
    net::routine<> serve_keys(request::request_context& request);

    // GET of which authorization servers callers get their tokens from (RFC 9728). Every caller gets the same, and an agent that is not
    // there is answered for like one that not everybody may know of. An MCP server that logs callers in itself says what its document has.
    net::routine<> serve_metadata(request::request_context& request);

private:
    bool logs_callers_in(request::request_context& request) const;
    net::routine<> serve_login(request::request_context& request);
};

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

// Has `question` carried out on `control` and waits for it. When the caller leaves meanwhile, `leaving` is told, whose token
// the question has: a caller that was reset has left, and one that has closed its half of the connection a moment ago.
net::routine<model::rpc_answer> ask_for(
    net::caller_exchange& caller,
    net::executor control,
    net::task<model::rpc_answer> question,
    std::stop_source leaving
);

// The answer to the caller, if it is still there.
responses::answer answer_of(model::rpc_answer done);

class management_route : public request::route_base {
public:
    using route_base::route_base;

    // POST /rpc. Principals with cardea:read see all of the agents, others what callers may know of those that they may discover.
    net::routine<> serve(request::request_context& request);

    // POST /agent/register, for callers who may register agents.
    net::routine<> serve_registration(request::request_context& request);
};

}  // namespace gateway::pages
