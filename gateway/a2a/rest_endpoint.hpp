// Any method on /agents/<id>/rest/…: A2A over HTTP+JSON, of 0.3 below `v1/`. A request whose dialect the agent speaks passes as
// it is, below the agent's own address; any other is translated.
#pragma once

#include "a2a/dialect/rest_target.hpp"
#include "gateway/request/endpoint.hpp"

#include <string>
#include <string_view>

namespace gateway::a2a {

class rest_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    // Once it is known where the request goes: from here on a caller that asks at an address of HTTP+JSON is told of failures in
    // its words, whether or not there is such an agent.
    void note_words(request::request_context& request) const;

    // Whether the request, which is for a path below an agent, is one: the agent is known and speaks A2A, its `relay_paths` do
    // not let the path through as it is, and no other endpoint has it.
    bool takes(request::request_context& request) const;

    // After takes().
    net::routine<> look(request::request_context& request);

private:
    // Where a request goes, as text of our own: the head may move when the body is read.
    struct wanted {
        std::string path;   // below the address of an interface
        std::string query;  // with its '?', or empty
        ::a2a::rest_target target;
    };

    core::result<wanted> read_target(request::request_context& request) const;
    net::routine<> respond_unread(request::request_context& request, core::error failure, std::string_view path);
    bool answers_card(request::request_context& request, const wanted& asked, std::optional<net::routine<>>& answer)
        const;
    net::routine<bool> refuse_body(request::request_context& request, const wanted& asked, std::string_view body);
    net::routine<> pass_on(request::request_context& request, wanted asked);
    void pass_as_it_is(
        request::request_context& request,
        const wanted& asked,
        const model::agent_interface& to,
        std::string_view body
    ) const;
};

}  // namespace gateway::a2a
