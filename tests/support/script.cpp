#include "tests/support/script.hpp"

#include "tests/support/agent_ledger.hpp"

#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <iterator>

namespace test_support {

std::string first_value(const field_list& fields, std::string_view name)
{
    const auto found =
        std::ranges::find_if(fields, [&](const auto& field) { return boost::beast::iequals(field.first, name); });
    return found == fields.end() ? std::string{} : found->second;
}

std::size_t count_values(const field_list& fields, std::string_view name)
{
    const auto count =
        std::ranges::count_if(fields, [&](const auto& field) { return boost::beast::iequals(field.first, name); });
    return static_cast<std::size_t>(count);
}

gate::gate()
    : state_{std::make_shared<state>()}
{
}

void gate::release(std::size_t passes)
{
    std::vector<std::weak_ptr<boost::asio::steady_timer>> waiting;
    {
        const std::lock_guard guard{state_->mutex};
        state_->passes += passes;
        waiting.swap(state_->waiting);
    }
    for (const auto& held : waiting) {
        if (const auto wake = held.lock()) {
            boost::asio::post(wake->get_executor(), [wake] { rouse(*wake); });
        }
    }
}

bool gate::wait_until_reached(std::size_t times, std::chrono::milliseconds timeout)
{
    std::unique_lock lock{state_->mutex};
    return state_->changed.wait_for(lock, timeout, [&] { return state_->reached >= times; });
}

char pattern_byte(std::uint64_t position) noexcept
{
    constexpr unsigned printable = 89;  // a prime: blocks that are lost or swapped do not look alike
    return static_cast<char>('!' + position % printable);
}

script answer(unsigned status, std::string body, field_list headers)
{
    return {message{status, std::move(headers), std::move(body)}};
}

script answer_json(std::string body, field_list headers)
{
    headers.emplace_back("Content-Type", "application/json");
    return answer(200, std::move(body), std::move(headers));
}

script redirect(std::string location, unsigned status)
{
    return answer(status, "", {{"Location", std::move(location)}});
}

script html(unsigned status)
{
    return answer(status, "<!doctype html><title>Hello</title><p>Not JSON.</p>", {{"Content-Type", "text/html"}});
}

script not_json()
{
    return answer_json("{\"name\": ");
}

script raw(std::vector<std::string> pieces)
{
    script made;
    for (auto& piece : pieces) {
        made.emplace_back(bytes{std::move(piece)});
    }
    return made;
}

script raw(std::vector<std::string> pieces, const gate& before_each)
{
    script made;
    for (auto& piece : pieces) {
        made.emplace_back(pass_gate{before_each.shared()});
        made.emplace_back(bytes{std::move(piece)});
    }
    return made;
}

script byte_by_byte(std::string_view data)
{
    script made;
    for (const char c : data) {
        made.emplace_back(bytes{std::string(1, c)});
    }
    return made;
}

script chunked_byte_by_byte(std::string_view body, std::string content_type)
{
    auto made = raw({"HTTP/1.1 200 OK\r\nContent-Type: " + content_type + "\r\nTransfer-Encoding: chunked\r\n\r\n"});
    for (const char c : body) {
        made.emplace_back(bytes{std::string{"1\r\n"} + c + "\r\n"});
    }
    made.emplace_back(bytes{"0\r\n\r\n"});
    return made;
}

script silence()
{
    return {hold{}};
}

script close_unanswered()
{
    return {close_now{}};
}

script reset()
{
    return {reset_now{}};
}

script half_head()
{
    return {bytes{"HTTP/1.1 200 OK\r\nContent-Type: applic"}, close_now{}};
}

script half_body()
{
    return {
        bytes{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"},
        bytes{std::string(50, 'x')},
        close_now{},
    };
}

script half_chunked()
{
    return {
        bytes{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"},
        bytes{"5\r\nhello\r\n"},
        close_now{},
    };
}

script answer_then_close(unsigned status, std::string body, field_list headers)
{
    return then(answer(status, std::move(body), std::move(headers)), {close_now{}});
}

script huge(std::uint64_t size, bool chunked)
{
    const auto framing =
        chunked ? std::string{"Transfer-Encoding: chunked"} : "Content-Length: " + std::to_string(size);
    return {
        bytes{"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" + framing + "\r\n\r\n"},
        pattern{size, chunked},
    };
}

script event_stream(field_list headers)
{
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";
    for (const auto& [name, value] : headers) {
        head += name + ": " + value + "\r\n";
    }
    return {bytes{head + "\r\n"}, events{}};
}

script then(script first, script second)
{
    std::ranges::move(second, std::back_inserter(first));
    return first;
}

handler closing_on_reuse(script first)
{
    return [first = std::move(first)](const recorded_request& request) {
        return request.number_on_connection == 1 ? first : close_unanswered();
    };
}

}  // namespace test_support
