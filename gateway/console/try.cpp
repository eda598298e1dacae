#include "gateway/console/try.hpp"

#include "config/exposure.hpp"
#include "gateway/console/try_head.hpp"
#include "gateway/model/inner_calls.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/stream.hpp"
#include "net/loop/transport.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <utility>

namespace gateway::console {
namespace {

using core::errc;
using net::http1::framing;
using net::http1::method;

constexpr std::string_view agents_path = "/try/agents/";
constexpr std::string_view session_end = "/mcp";
// The gateway adds these to an agent's answer.
constexpr std::size_t own_fields = 4 * 1024;

net::tcp::endpoint endpoint_of(const std::string& address)
{
    net::error_code unreadable;
    const auto parsed = net::asio::ip::make_address(address, unreadable);
    return unreadable ? net::tcp::endpoint{} : net::tcp::endpoint{parsed, 0};
}

// A try under way: the operator's connection, the worker's, and the answer from the one to the other as it comes.
class try_relay {
public:
    try_relay(net::caller_exchange& caller, core::descriptor worker, std::size_t longest_head)
        : caller_{caller},
          limits_{
              .bytes = longest_head,
              .fields = longest_head,
              .value = longest_head
          },  // fields: a worker has counted them
          worker_{caller.owner(), std::move(worker)}
    {
        worker_.set_listener(&caller_.clock().wake());
    }

    // `request` outlives this, until release_request() of the caller.
    net::routine<> run(net::pieces request)
    {
        const auto verb = caller_.head().verb;
        caller_.clock().stop();
        worker_.write(request);
        const bool headed = co_await read_head(verb);
        if (!headed) {
            worker_.close(/*hard=*/true);
            caller_.close_after_answer();
            if (!left_ && !caller_.interrupted()) {
                auto reply = responses::error_answer(failure_, {});
                co_await responses::send_answer(caller_, std::move(reply));
            }
            co_return;
        }
        whole_ = body_ == framing::none || (body_ == framing::length && length_ == 0);
        bool more = !whole_;
        while (more) {
            more = co_await pass_piece();
        }
        if (!whole_) {
            caller_.cut();
        }
        worker_.close();
    }

private:
    // False: the caller has left for good. One that has closed its half may wait for the answer, or has left: the worker decides it.
    bool watch()
    {
        if (caller_.aborted() || caller_.was_reset() || caller_.interrupted()) {
            left_ = true;
            return false;
        }
        caller_.watch_caller();
        if (caller_.caller_left() && !std::exchange(half_closed_, true)) {
            worker_.shutdown_send();
        }
        worker_.arm();
        return true;
    }

    // Until the head of the answer is out. False: there is none.
    net::routine<bool> read_head(method verb)
    {
        net::http1::response_parser parser{limits_};
        std::size_t length = 0;
        while (length == 0 || parser.head().status < 200) {
            const auto parsed = parser.parse(worker_.received(), verb);
            if (!parsed) {
                failure_ = errc::upstream_protocol;
                co_return false;
            }
            if (*parsed == 0 && (worker_.ended() || worker_.closed())) {
                co_return false;
            }
            length = *parsed;
            if (length == 0) {
                if (worker_.full()) {
                    worker_.grow();
                }
                if (!watch()) {
                    co_return false;
                }
                co_await caller_.clock().wait();
            } else if (parser.head().status < 200) {
                worker_.consume(length);
                parser.reset();
            }
        }
        if (caller_.interrupted()) {
            co_return false;
        }
        body_ = parser.head().body;
        length_ = parser.head().content_length;
        auto head = head_of(parser.head(), verb);
        worker_.consume(length);
        if (!worker_.writing()) {
            caller_.release_request();  // a stream may stay for days
        }
        const bool bodiless = body_ == framing::none || (body_ == framing::length && length_ == 0);
        const net::answer_part first{.head = head, .last = bodiless};
        const auto sent = co_await caller_.send(first);
        left_ = !sent;
        co_return sent.has_value();
    }

    std::string head_of(const net::http1::response_head& answered, method verb)
    {
        std::string text;
        responses::begin_head(text, caller_, answered.status);
        text += fields_of_try(answered);
        auto length = net::answer_length::open();
        if (body_ == framing::length) {
            length = net::answer_length::known(length_);
        } else if (body_ == framing::none) {
            const bool told = verb != method::head && answered.status != 204 && answered.status != 304;
            length = told ? net::answer_length::known(0) : net::answer_length::untold();
        }
        caller_.complete_head(text, length);
        return text;
    }

    // Passes on what has come, or waits for it. False: whole_ says whether that was all.
    net::routine<bool> pass_piece()
    {
        if (worker_.received().empty()) {
            if (worker_.ended() || worker_.closed()) {
                whole_ = body_ == framing::until_close && !worker_.broken();
                if (whole_) {
                    const std::string_view nothing;
                    co_await send(nothing, /*last=*/true);
                }
                co_return false;
            }
            if (!watch()) {
                co_return false;
            }
            co_await caller_.clock().wait();
            co_return true;
        }
        auto data = worker_.received();
        auto consumed = data.size();
        if (body_ == framing::chunked) {
            const auto step = chunks_.decode(data);
            if (!step) {
                co_return false;
            }
            data = step->data;
            consumed = step->consumed;
            whole_ = step->finished;
        } else if (body_ == framing::length) {
            data = data.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(length_, data.size())));
            length_ -= data.size();
            whole_ = length_ == 0;
        }
        const auto sent = co_await send(data, whole_);
        worker_.consume(consumed);
        co_return sent && !whole_;
    }

    net::routine<bool> send(std::string_view data, bool last)
    {
        net::answer_part piece{.last = last};
        piece.body.add(data);
        const auto sent = co_await caller_.send(piece);
        left_ = !sent;
        co_return sent.has_value();
    }

    net::caller_exchange& caller_;
    net::http1::head_limits limits_;
    net::stream worker_;
    net::http1::chunked_decoder chunks_;
    framing body_ = framing::none;
    std::uint64_t length_ = 0;  // what is left of a body with a length
    bool whole_ = false;        // nothing of the answer is left
    bool half_closed_ = false;
    bool left_ = false;
    errc failure_ = errc::draining;  // the answer if the worker's has no head
};

}  // namespace

bool is_try_path(std::string_view path) noexcept
{
    return path == try_path || (path.starts_with(try_path) && path[try_path.size()] == '/');
}

std::optional<responses::answer> refusal_of_try(const net::http1::request_head& asked)
{
    const auto path = asked.target.substr(0, asked.target.find('?'));
    if (path.size() <= agents_path.size() || !path.starts_with(agents_path) || path[agents_path.size()] == '/') {
        return responses::error_answer(errc::not_found, {});
    }
    auto below = path.substr(std::min(path.find('/', agents_path.size()), path.size()));
    if (below.ends_with('/')) {
        below.remove_suffix(1);  // as on every route
    }
    const bool ends_session = asked.verb == method::delete_ && below == session_end;
    if (asked.verb == method::post || ends_session) {
        return std::nullopt;
    }
    return responses::method_not_allowed(below == session_end ? "POST, DELETE" : "POST");
}

net::routine<> tries::serve(net::caller_exchange& caller)
{
    auto refusal = settings_.console ? refusal_of_try(caller.head()) : responses::error_answer(errc::not_found, {});
    if (const auto why = config::untriable(settings_); !refusal && !why.empty()) {
        refusal = responses::explained_answer(errc::forbidden, why);
    }
    if (!refusal && under_way_ >= most) {
        refusal = responses::error_answer(errc::overloaded, {});
    }
    if (refusal) {
        co_await responses::send_answer(caller, std::move(*refusal));
        co_return;
    }
    struct place {
        std::size_t& of;
        explicit place(std::size_t& count)
            : of{count}
        {
            ++of;
        }
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        ~place() { --of; }
    };
    const place counted{under_way_};
    const auto body = co_await caller.read_body(settings_.limits.body);
    auto ends = net::connected_pair();
    if (caller.interrupted()) {
        caller.close_after_answer();
        co_return;
    }
    if (!body || !ends[0].open()) {
        auto reply = responses::error_answer(body ? errc::overloaded : body.error().code, {});
        co_await responses::send_answer(caller, std::move(reply));
        co_return;
    }
    serve_(net::accepted_socket{std::move(ends[1]), endpoint_of(caller.peer()), {}, model::console_sender()});
    const auto head = head_of_try(caller.head(), body->size(), public_base_, settings_);
    net::pieces request;
    request.add(head);
    request.add(*body);
    try_relay relayed{caller, std::move(ends[0]), settings_.limits.upstream_header + own_fields};
    co_await relayed.run(request);
}

}  // namespace gateway::console
