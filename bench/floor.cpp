// The floor under every proxy: what the kernel alone costs. One thread, raw epoll, edge-triggered as the gateway's.
//   bench_floor card FILE       answers every GET with this file
//   bench_floor relay ADDRESS   joins each caller to a connection of its own to the agent and passes on what comes,
//                               without a look at it
// There is no parsing, no log, no limit and no deadline. On start it prints the port. It trusts its peers: nothing but
// the load of a bench may reach it.
#include "bench/sockets.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

struct connection {
    explicit connection(int socket)
        : descriptor{socket}
    {
    }
    ~connection() { ::close(descriptor); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    const int descriptor;
    connection* other = nullptr;  // the one that takes what comes here; null where the card is the answer
    std::string unsent;
    std::string head;  // of a GET, as far as it has come in pieces
};

class floor {
public:
    explicit floor(std::string card)
        : card_{
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(card.size()) +
              std::string{end_of_head} + card
          }
    {
    }

    explicit floor(const sockaddr_in& agent)
        : agent_{agent}
    {
    }

    std::uint16_t port() const { return port_of(listener_); }

    [[noreturn]] void run();

private:
    void accept_all();
    connection& add(int socket);
    void serve(connection& c, std::uint32_t events);
    bool receive(connection& c, bool ended);
    bool pass_on(connection& c, std::string_view bytes);
    bool answer(connection& c, std::string_view bytes);
    void close(connection& c);

    static bool send(connection& to, std::string_view bytes);

    const std::string card_;
    const std::optional<sockaddr_in> agent_;
    const int listener_ = listen_on(0);
    const int epoll_ = make_epoll();
    std::vector<std::unique_ptr<connection>> connections_;  // by descriptor
    std::array<char, 64 * 1024> bytes_;
};

void floor::run()
{
    watch(epoll_, listener_, EPOLLIN, EPOLL_CTL_ADD);
    std::array<epoll_event, 256> ready{};
    for (;;) {
        const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
        if (count < 0 && errno != EINTR) {
            fail("epoll_wait");
        }
        for (int i = 0; i < count; ++i) {
            const auto& event = ready[static_cast<std::size_t>(i)];
            if (event.data.fd == listener_) {
                accept_all();
            } else if (const auto& each = connections_[static_cast<std::size_t>(event.data.fd)]) {
                serve(*each, event.events);
            }
        }
    }
}

void floor::accept_all()
{
    for (int socket = 0; (socket = accept_next(listener_)) >= 0;) {
        auto& caller = add(socket);
        if (!agent_) {
            continue;
        }
        const int to_agent = connect_to(*agent_);
        if (to_agent < 0 || ::fcntl(to_agent, F_SETFL, O_NONBLOCK) != 0) {
            fail("connect");
        }
        auto& agent = add(to_agent);
        agent.other = &caller;
        caller.other = &agent;
    }
}

connection& floor::add(int socket)
{
    const auto at = static_cast<std::size_t>(socket);
    if (connections_.size() <= at) {
        connections_.resize(at + 1);
    }
    connections_[at] = std::make_unique<connection>(socket);
    watch(epoll_, socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, EPOLL_CTL_ADD);
    return *connections_[at];
}

void floor::serve(connection& c, std::uint32_t events)
{
    const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    bool alive = true;
    if ((events & EPOLLOUT) != 0 && !c.unsent.empty()) {
        const auto rest = std::move(c.unsent);
        // What feeds this connection has waited; its edge, perhaps that of its end, is gone.
        alive = send(c, rest) && receive(c.other != nullptr ? *c.other : c, true);
    }
    if (!alive || !receive(c, ended)) {
        close(c);
    }
}

// Reads until nothing is left or the other side takes no more. Less than was asked for is all there is, so that no call
// finds nothing, unless the end comes behind it.
bool floor::receive(connection& c, bool ended)
{
    const auto& waits = c.other != nullptr ? c.other->unsent : c.unsent;
    while (waits.empty()) {
        const auto got = ::recv(c.descriptor, bytes_.data(), bytes_.size(), 0);
        if (got <= 0) {
            return got < 0 && errno == EAGAIN;
        }
        const std::string_view bytes{bytes_.data(), static_cast<std::size_t>(got)};
        if (!pass_on(c, bytes)) {
            return false;
        }
        if (bytes.size() < bytes_.size() && !ended) {
            return true;
        }
    }
    return true;
}

bool floor::pass_on(connection& c, std::string_view bytes)
{
    return c.other != nullptr ? send(*c.other, bytes) : answer(c, bytes);
}

// A caller of a bench waits for the answer before it asks again, so that the end of a head is the end of what came.
bool floor::answer(connection& c, std::string_view bytes)
{
    if (c.head.empty() && bytes.ends_with(end_of_head)) {
        return send(c, card_);
    }
    c.head += bytes;
    if (!c.head.ends_with(end_of_head)) {
        return true;
    }
    c.head.clear();
    return send(c, card_);
}

// Keeps what does not fit until the socket is writable again; false if the peer is gone.
bool floor::send(connection& to, std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto sent = ::send(to.descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) {
            return false;
        }
        if (sent < 0) {
            to.unsent = bytes;
            return true;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void floor::close(connection& c)
{
    if (c.other != nullptr) {
        connections_[static_cast<std::size_t>(c.other->descriptor)].reset();
    }
    connections_[static_cast<std::size_t>(c.descriptor)].reset();
}

std::string read_file(const char* path)
{
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        throw std::invalid_argument{"cannot be read: " + std::string{path}};
    }
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::unique_ptr<floor> make_floor(const std::vector<std::string_view>& given)
{
    if (given.size() == 2 && given[0] == "card") {
        return std::make_unique<floor>(read_file(std::string{given[1]}.c_str()));
    }
    if (given.size() == 2 && given[0] == "relay") {
        return std::make_unique<floor>(read_address(given[1]));
    }
    throw std::invalid_argument{"wrong arguments: the first lines of bench/floor.cpp name the right ones"};
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv)
{
    try {
        const auto server = bench::make_floor({argv + 1, argv + argc});
        std::printf("%u\n", static_cast<unsigned>(server->port()));
        std::fflush(stdout);
        server->run();
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench_floor: %s\n", problem.what());
        return 1;
    }
}
