// What a scripted agent remembers of a request, and what it can be told to answer, write by write.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace test_support {

using field_list = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::chrono::milliseconds patience{10'000};  // longer than anything a test waits for

// Field names compare without case. first_value is empty when there is none.
std::string first_value(const field_list& fields, std::string_view name);
std::size_t count_values(const field_list& fields, std::string_view name);

struct recorded_request {
    std::string method;
    std::string target;
    field_list headers;  // as they came, in order
    std::string body;
    std::size_t connection = 0;            // 1 for the first connection the agent accepted
    std::size_t number_on_connection = 0;  // 1 for the first request on it

    std::string header(std::string_view name) const { return first_value(headers, name); }
    std::size_t count(std::string_view name) const { return count_values(headers, name); }
};

// Holds a script back until the test lets it go on. Made by the test, given to `raw`; any thread. May outlive the
// agent.
class gate {
public:
    gate();
    void release(std::size_t passes = 1);
    // Whether `times` scripts (or one script so many times) have come to this gate, waiting or gone on.
    bool wait_until_reached(std::size_t times = 1, std::chrono::milliseconds timeout = patience);

    struct state;
    const std::shared_ptr<state>& shared() const noexcept { return state_; }

private:
    std::shared_ptr<state> state_;
};

// The steps of an answer. A script that ends without hold, close_now or reset_now goes on to the next request of the
// connection, unless one of the two sides said `Connection: close` in a message.
struct
    message {  // serialised by Beast: Content-Length added unless there is Transfer-Encoding; for HEAD without the body
    unsigned status = 200;
    field_list headers;
    std::string body;
};
struct bytes {  // one write of its own
    std::string data;
};
struct pass_gate {
    std::shared_ptr<gate::state> at;
};
struct pattern {  // pattern_byte(0), pattern_byte(1)… in writes of 64 KiB
    std::uint64_t size = 0;
    bool chunked = false;  // each write a chunk, then the last chunk
};
struct events {};  // send_event() and so on, until end_streams() or cut_streams() or the peer leaves
struct hold {};    // nothing more, until the peer leaves
struct close_now {
    bool silently = false;  // with TLS: without saying so
};  // orderly: FIN, over TLS with close_notify
struct reset_now {};  // RST

using step = std::variant<message, bytes, pass_gate, pattern, events, hold, close_now, reset_now>;
using script = std::vector<step>;
using handler = std::function<script(const recorded_request&)>;  // runs in the agent's thread

char pattern_byte(std::uint64_t position) noexcept;

script answer(unsigned status, std::string body, field_list headers = {});
script answer_json(std::string body, field_list headers = {});
script redirect(std::string location, unsigned status = 302);
script html(unsigned status = 200);
script not_json();
script raw(std::vector<std::string> pieces);
script raw(std::vector<std::string> pieces, const gate& before_each);  // also the first waits for a release
script byte_by_byte(std::string_view data);
script chunked_byte_by_byte(std::string_view body, std::string content_type = "application/json");  // a chunk a byte
script silence();           // the request is read, nothing comes
script close_unanswered();  // the request is read, then FIN
script reset();             // the request is read, then RST
script half_head();         // then FIN
script half_body();         // Content-Length 100, 50 bytes, then FIN
script half_chunked();      // one chunk, no end, then FIN
script answer_then_close(unsigned status, std::string body, field_list headers = {});  // keep-alive promised, not kept
script huge(std::uint64_t size, bool chunked = false);  // application/octet-stream of pattern_byte
script event_stream(field_list headers = {});           // head of text/event-stream, chunked; then `events`
script then(script first, script second);

// `first` for the first request of each connection, FIN when a second one arrives.
handler closing_on_reuse(script first);

}  // namespace test_support
