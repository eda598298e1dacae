#include "gateway/upgrade/old_process.hpp"

#include "gateway/model/snapshot.hpp"
#include "gateway/model/version.hpp"
#include "store/sqlite.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <sys/auxv.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace gateway::upgrade {
namespace {

constexpr std::size_t block_size = 64 * 1024;

}  // namespace

old_process::old_process(core::descriptor end)
    : end_{std::move(end)}
{
}

core::result<std::optional<handover_hello>> old_process::greet()
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

core::result<upgrade_state> old_process::prepare(const handover_prepared& self)
{
    say(handover_word::prepared, content_of(self));
    upgrade_state state;
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

void old_process::watch(net::loop& on, observers told)
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

void old_process::stop()
{
    told_ = {};
    if (socket_ != nullptr) {
        net::error_code ignored;
        socket_->close(ignored);
    }
}

// Nothing: it has ended.
core::result<std::optional<handover_message>> old_process::hear()
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

void old_process::say(handover_word word, std::string content)
{
    if (const auto frame = framed({word, std::move(content)})) {
        send(*frame);
    }
}

void old_process::tell_contained(const store::kept_document& document)
{
    send(frame_of_unwritten(document));
}

// All of it, or nothing is sent any more: what came next would be read as the rest of it. Never waits for an old process that drains.
void old_process::send(std::string_view frame)
{
    const auto socket = socket_ != nullptr && socket_->is_open() ? socket_->native_handle() : end_.number();
    std::size_t sent = 0;
    while (socket >= 0 && sent < frame.size()) {
        const auto count = ::send(socket, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
        if (count > 0) {
            sent += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            ::shutdown(socket, SHUT_WR);
            return;
        }
    }
}

void old_process::read_on()
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

void old_process::take(const handover_message& message)
{
    if (message.word == handover_word::tasks) {
        if (const auto known = tasks_in(message.content); known && told_.tasks) {
            told_.tasks(*known);
        }
    } else if (message.word == handover_word::unwritten) {
        if (const auto document = document_in(message.content); document && told_.contained) {
            told_.contained(*document);
        }
    } else if (message.word == handover_word::settled) {
        tell_settled();
    } else if (message.word == handover_word::free) {
        tell_free();
    }
}

void old_process::tell_settled()
{
    if (const auto told = std::exchange(told_.settled, nullptr)) {
        told();
    }
}

void old_process::tell_free()
{
    tell_settled();
    if (const auto told = std::exchange(told_.free, nullptr)) {
        told();
    }
}

core::result<taken_over> greet_old_process(core::descriptor end)
{
    taken_over out;
    if (end.open()) {
        out.from = std::make_unique<old_process>(std::move(end));
        auto hello = out.from->greet();
        if (!hello) {
            return std::move(hello).error();
        }
        out.hello = std::move(*hello);
    }
    return out;
}

reload::configuration read_configuration_for(
    lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello,
    const cli::command_line& asked,
    const config::environment& variables
)
{
    auto configured = reload::read_configuration(asked, variables, reload::reading::first, sockets.addresses());
    if (hello && sockets.keep_unchanged(configured.written, hello->configured)) {
        configured = reload::read_configuration(asked, variables, reload::reading::first, sockets.addresses());
    }
    return configured;
}

core::result<> take_over(taken_over& all, const reload::configuration& configured)
{
    if (all.from == nullptr) {
        return {};
    }
    if (auto agents = model::make_snapshot(configured.settings, "http://localhost"); !agents) {
        return std::move(agents).error();
    }
    auto state = all.from->prepare({store::sqlite_schema(), std::string{model::version()}});
    if (!state) {
        return std::move(state).error();
    }
    all.state = std::move(*state);
    return {};
}

reload::inherited_addresses written_addresses(
    reload::inherited_addresses written,
    const lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello
)
{
    const auto before = hello ? hello->configured : reload::inherited_addresses{};
    const auto forget_fixed = [](auto& address, const auto& socket, const auto& was) {
        if (socket && !was) {
            address.reset();
        }
    };
    forget_fixed(written.listen, sockets.traffic, before.listen);
    forget_fixed(written.admin, sockets.admin, before.admin);
    forget_fixed(written.metrics, sockets.metrics, before.metrics);
    return written;
}

handover_source
how_started(const std::vector<std::string>& words, const net::service_manager& manager, const std::string& store)
{
    handover_source out;
    // The path that execve() was given: a name from the PATH is a path by then.
    if (const auto* const program = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)); program != nullptr) {
        std::error_code failed;
        const auto path = std::filesystem::absolute(program, failed);
        out.program = failed ? std::string{} : path.string();
    }
    out.arguments = words;
    out.manager = manager;
    out.open_store = [store] { return store::open_sqlite({.path = store}); };
    return out;
}

}  // namespace gateway::upgrade
