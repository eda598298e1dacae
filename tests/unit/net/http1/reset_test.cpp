// One parser reads the messages of a connection one after another, from one buffer.
#include "tests/unit/net/http1/outcome.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("net/http1/reset");

namespace {

using namespace net::http1;

// What a parser says of all that is in the buffer.
std::string outcome(request_parser& parser, std::string_view received)
{
    const auto parsed = parser.parse(received);
    return parsed ? std::to_string(*parsed) + (*parsed > 0 ? tests::describe(parser.head()) : "")
                  : tests::describe(parsed.error());
}

std::string outcome(response_parser& parser, std::string_view received)
{
    const auto parsed = parser.parse(received, method::get);
    return parsed ? std::to_string(*parsed) + (*parsed > 0 ? tests::describe(parser.head()) : "")
                  : tests::describe(parsed.error());
}

// Each message, however much of it has come, and after it each other one in the same place.
template <class Parser>
void check_messages(const std::vector<std::string>& messages)
{
    std::string buffer(512, '\0');
    const auto received = [&](std::string_view bytes) {
        buffer.replace(0, bytes.size(), bytes);
        return std::string_view{buffer}.substr(0, bytes.size());
    };
    for (const auto& second : messages) {
        Parser fresh{head_limits{}};
        const auto wanted = outcome(fresh, received(second));
        for (const auto& first : messages) {
            for (std::size_t come = 1; come <= first.size(); ++come) {
                CAPTURE(first);
                CAPTURE(second);
                CAPTURE(come);
                Parser parser{head_limits{}};
                outcome(parser, received(std::string_view{first}.substr(0, come)));
                parser.reset();
                REQUIRE(outcome(parser, received(second)) == wanted);
            }
        }
    }
}

}  // namespace

TEST_CASE("A request reads the same after any other request, or any part of one")
{
    check_messages<request_parser>({
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET /x HTTP/1.1\r\n\r\n",  // no Host: refused
        "POST http://b/y HTTP/1.1\r\nHost: b\r\nContent-Length: 7\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        "PUT /z HTTP/1.1\r\nHost: c\r\nTransfer-Encoding: chunked\r\nX-Field: value\r\n\r\n",
        "DELETE /z HTTP/1.1\r\nHost: c\r\nContent-Length: 12\r\nContent-Type: text/plain\r\n\r\n",
        "POST /z HTTP/1.1\r\nHost: c\r\nConnection: keep-alive\r\n\r\n",
        "POST /z HTTP/1.1\r\nHost: c\r\nConnection: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t\r\n\r\n",
        "POST /z HTTP/1.1\r\nHost: c\r\nExpect: 100-continue\r\n\r\n",  // no body: nothing to wait for
        "OPTIONS * HTTP/1.1\r\nHost: d\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: c\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",  // refused
    });
}

TEST_CASE("An answer reads the same after any other answer, or any part of one")
{
    check_messages<response_parser>({
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\nX-Field: value\r\n\r\n",
        "HTTP/1.0 500 Oh\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",  // refused
    });
}

TEST_SUITE_END();
