#include "gateway/upgrade/predecessor.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <utility>
#include <vector>

namespace gateway::upgrade {
namespace {

constexpr std::size_t block_size = 64 * 1024;

}  // namespace

predecessor::predecessor(core::descriptor end)
    : end_{std::move(end)}
{
}

core::result<std::optional<handover_hello>> predecessor::greet()
{
    const auto heard = hear();
    if (!heard) {
        return heard.error();
    }
    if (!*heard) {
        return std::optional<handover_hello>{};
    }
    auto hello = hello_in((*heard)->content);
    if ((*heard)->word != handover_word::hello || !hello || hello->speaks != handover_hello::protocol) {
        auto error = core::gateway_error(
            core::errc::internal,
            "the running gateway hands over in a way that this version does not know"
        );
        say_failed(error.detail);
        return error;
    }
    return hello;
}

core::result<carried_state> predecessor::prepare(const handover_prepared& self)
{
    say(handover_word::prepared, content_of(self));
    carried_state state;
    for (;;) {
        const auto heard = hear();
        if (!heard) {
            return heard.error();
        }
        if (!*heard || (*heard)->word == handover_word::store_closed) {
            return state;
        }
        add_to(state, **heard);
    }
}

void predecessor::watch(net::loop& on, observers told)
{
    told_ = std::move(told);
    socket_ = std::make_unique<net::asio::basic_stream_socket<stream, net::executor>>(on.get_executor());
    net::error_code failed;
    if (end_.open()) {
        socket_->assign(stream{}, end_.number(), failed);
    }
    if (!end_.open() || failed) {
        net::asio::post(on.get_executor(), [this] { tell_free(); });
        return;
    }
    end_.release();
    read_on();
}

void predecessor::stop()
{
    told_ = {};
    if (socket_ != nullptr) {
        net::error_code ignored;
        socket_->close(ignored);
    }
}

// Nothing: it has ended.
core::result<std::optional<handover_message>> predecessor::hear()
{
    std::vector<char> block(block_size);
    for (;;) {
        auto read = reader_.next();
        if (!read || *read || !end_.open()) {
            return read;
        }
        const auto count = ::recv(end_.number(), block.data(), block.size(), 0);
        if (count > 0) {
            reader_.add({block.data(), static_cast<std::size_t>(count)});
        } else if (count == 0 || errno != EINTR) {
            end_.reset();
        }
    }
}

void predecessor::say(handover_word word, std::string content)
{
    const auto frame = framed({word, std::move(content)});
    if (!frame || !end_.open()) {
        return;
    }
    std::size_t sent = 0;
    while (sent < frame->size()) {
        const auto count = ::send(end_.number(), frame->data() + sent, frame->size() - sent, MSG_NOSIGNAL);
        if (count > 0) {
            sent += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void predecessor::read_on()
{
    socket_->async_read_some(net::asio::buffer(piece_), [this](net::error_code ec, std::size_t count) {
        if (ec == net::asio::error::operation_aborted) {
            return;
        }
        reader_.add({piece_.data(), count});
        auto read = reader_.next();
        while (read && *read) {
            take(**read);
            read = reader_.next();
        }
        if (ec || !read) {
            tell_free();
        } else {
            read_on();
        }
    });
}

void predecessor::take(const handover_message& message)
{
    if (message.word == handover_word::tasks) {
        if (const auto known = tasks_in(message.content); known && told_.tasks) {
            told_.tasks(*known);
        }
    } else if (message.word == handover_word::settled) {
        tell_settled();
    } else if (message.word == handover_word::free) {
        tell_free();
    }
}

void predecessor::tell_settled()
{
    if (const auto told = std::exchange(told_.settled, nullptr)) {
        told();
    }
}

void predecessor::tell_free()
{
    tell_settled();
    if (const auto told = std::exchange(told_.free, nullptr)) {
        told();
    }
}

}  // namespace gateway::upgrade
