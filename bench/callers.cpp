// The callers that wrk cannot be: many that hold on to what they have, slow ones, and calls at a given rate whether or
// not earlier ones were answered. One thread, epoll. Every caller sends the POST of the file BODY, or a GET if that is -.
//   bench_callers hold ADDRESS TARGET BODY             reads numbers from stdin; has so many connections, each with the
//                                                      head and what came of its answer, then prints the number
//   bench_callers slow ADDRESS TARGET BODY COUNT       so many that read 1 kB a second; prints `slow` once all have begun
//   bench_callers open ADDRESS TARGET BODY RATE SECONDS  prints calls, failures, mean, p50, p99 and maximum in
//                                                      microseconds from when each call was due
//   bench_callers first ADDRESS TARGET                 asks with GET until there is a 200, then ends
// `hold` and `slow` end with stdin. BENCH_CREDENTIAL in the environment is a header line of every request.
#include "bench/sockets.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::microseconds;

struct destination {
    sockaddr_in address{};
    std::string request;
};

destination read_destination(const std::string& address, const std::string& target, const char* body_file)
{
    destination to;
    to.address = read_address(address);
    to.request = (body_file != nullptr ? "POST " : "GET ") + target + " HTTP/1.1\r\nHost: " + address + "\r\n";
    if (const char* const credential = std::getenv("BENCH_CREDENTIAL"); credential != nullptr && *credential != '\0') {
        to.request += std::string{credential} + "\r\n";
    }
    if (body_file != nullptr) {
        std::ifstream file{body_file, std::ios::binary};
        const std::string body{std::istreambuf_iterator<char>{file}, {}};
        to.request +=
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "Content-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body;
    } else {
        to.request += "Accept: */*\r\n\r\n";
    }
    return to;
}

int connect_and_ask(const destination& to, int receive_buffer = 0)
{
    const int socket = connect_to(to.address, receive_buffer);
    if (socket < 0 ||
        ::send(socket, to.request.data(), to.request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(to.request.size())) {
        fail("connect");
    }
    return socket;
}

// The length of the whole answer at the front of `text`: 0 if its head is not there yet. Of a stream, that of the head.
std::size_t answer_length(std::string_view text)
{
    const auto end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) {
        return 0;
    }
    if (!text.starts_with("HTTP/1.1 200 ")) {
        throw std::runtime_error{"an answer that is not 200: " + std::string{text.substr(0, end)}};
    }
    auto head = std::string{text.substr(0, end + 2)};
    std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    constexpr std::string_view name = "\r\ncontent-length: ";
    const auto at = head.find(name);
    const auto digits = at + name.size();
    return end + 4 +
           (at == std::string::npos ? 0
                                    : read_number<std::size_t>(head.substr(digits, head.find('\r', digits) - digits)));
}

void read_answer(int socket)
{
    std::string text;
    std::array<char, 16 * 1024> block;
    while (answer_length(text) == 0 || text.size() < answer_length(text)) {
        pollfd ready{socket, POLLIN, 0};
        const auto size = ::poll(&ready, 1, 20'000) == 1 ? ::recv(socket, block.data(), block.size(), 0) : 0;
        if (size <= 0) {
            throw std::runtime_error{"no answer"};
        }
        text.append(block.data(), static_cast<std::size_t>(size));
    }
}

void hold(const destination& to)
{
    std::vector<int> sockets;
    for (std::size_t wanted = 0; std::cin >> wanted;) {
        while (sockets.size() < wanted) {
            sockets.push_back(connect_and_ask(to));
            read_answer(sockets.back());
        }
        std::printf("%zu\n", sockets.size());
        std::fflush(stdout);
    }
}

void slow(const destination& to, std::size_t count)
{
    constexpr int receive_buffer = 4096;
    std::vector<int> sockets;
    while (sockets.size() < count) {
        sockets.push_back(connect_and_ask(to, receive_buffer));
    }
    std::puts("slow");
    std::fflush(stdout);
    // Each takes 100 bytes ten times a second; a tenth of them at a time, so that they come as evenly as they can.
    constexpr std::size_t parts = 10;
    std::array<char, 100> block;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    for (std::size_t part = 0; ::poll(&input, 1, 10) == 0; part = (part + 1) % parts) {
        for (std::size_t i = part; i < sockets.size(); i += parts) {
            if (::recv(sockets[i], block.data(), block.size(), MSG_DONTWAIT) == 0) {
                throw std::runtime_error{"a stream has ended"};
            }
        }
    }
}

struct call {
    int socket = -1;
    clock::time_point due;
    std::string received;
};

class open_loop {
public:
    open_loop(const destination& to, std::size_t rate, std::size_t seconds)
        : to_{to},
          interval_{std::chrono::nanoseconds{std::chrono::seconds{1}} / rate},
          wanted_{rate * seconds},
          epoll_{make_epoll()}
    {
        latencies_.reserve(wanted_);
    }

    void run()
    {
        const auto begin = clock::now();
        const auto end = begin + interval_ * static_cast<long>(wanted_) + std::chrono::seconds{10};
        while (latencies_.size() + failed_ < wanted_ && clock::now() < end) {
            while (begun_ < wanted_ && begin + interval_ * static_cast<long>(begun_) <= clock::now()) {
                ask(begin + interval_ * static_cast<long>(begun_++));
            }
            take_answers(begin);
        }
        report();
    }

private:
    void ask(clock::time_point due)
    {
        if (idle_.empty()) {
            const int socket = connect_to(to_.address);
            if (socket < 0) {
                ++failed_;
                return;
            }
            const auto at = static_cast<std::size_t>(socket);
            calls_.resize(std::max(calls_.size(), at + 1));
            calls_[at].socket = socket;
            watch(epoll_, socket, EPOLLIN, EPOLL_CTL_ADD);
            idle_.push_back(socket);
        }
        auto& next = calls_[static_cast<std::size_t>(idle_.back())];
        idle_.pop_back();
        next.due = due;
        if (::send(next.socket, to_.request.data(), to_.request.size(), MSG_NOSIGNAL) < 0) {
            drop(next);
        }
    }

    void take_answers(clock::time_point begin)
    {
        std::array<epoll_event, 64> ready{};
        const auto next = begin + interval_ * static_cast<long>(begun_) - clock::now();
        const auto wait =
            std::clamp<std::chrono::nanoseconds>(next, std::chrono::nanoseconds{0}, std::chrono::milliseconds{100});
        const timespec most{0, wait.count()};
        const int count = ::epoll_pwait2(epoll_, ready.data(), static_cast<int>(ready.size()), &most, nullptr);
        for (int i = 0; i < count; ++i) {
            receive(calls_[static_cast<std::size_t>(ready[static_cast<std::size_t>(i)].data.fd)]);
        }
    }

    void receive(call& one)
    {
        std::array<char, 64 * 1024> block;
        const auto size = ::recv(one.socket, block.data(), block.size(), MSG_DONTWAIT);
        if (size <= 0) {
            drop(one);
            return;
        }
        one.received.append(block.data(), static_cast<std::size_t>(size));
        const auto whole = answer_length(one.received);
        if (whole > 0 && one.received.size() >= whole) {
            latencies_.push_back(std::chrono::duration_cast<microseconds>(clock::now() - one.due).count());
            if (is_last(one.received)) {
                ::close(one.socket);
                one = {};
                return;
            }
            one.received.clear();
            idle_.push_back(one.socket);
        }
    }

    // A connection carries no more calls than its server allows.
    static bool is_last(std::string_view answer)
    {
        return answer.substr(0, answer.find("\r\n\r\n")).find("\r\nConnection: close") != std::string_view::npos;
    }

    void drop(call& one)
    {
        ++failed_;
        std::erase(idle_, one.socket);
        ::close(one.socket);
        one = {};
    }

    void report()
    {
        std::sort(latencies_.begin(), latencies_.end());
        const auto at = [&](std::size_t percent) {
            return latencies_.empty() ? 0 : latencies_[(latencies_.size() - 1) * percent / 100];
        };
        const auto sum = std::accumulate(latencies_.begin(), latencies_.end(), std::int64_t{0});
        const auto mean = sum / static_cast<std::int64_t>(std::max<std::size_t>(latencies_.size(), 1));
        std::printf(
            "%zu %zu %lld %lld %lld %lld\n",
            latencies_.size(),
            wanted_ - latencies_.size(),
            static_cast<long long>(mean),
            static_cast<long long>(at(50)),
            static_cast<long long>(at(99)),
            static_cast<long long>(at(100))
        );
    }

    const destination& to_;
    const std::chrono::nanoseconds interval_;
    const std::size_t wanted_;
    const int epoll_;
    std::size_t begun_ = 0;
    std::size_t failed_ = 0;
    std::vector<call> calls_;  // by descriptor
    std::vector<int> idle_;
    std::vector<std::int64_t> latencies_;
};

void first(const destination& to)
{
    for (const auto until = clock::now() + std::chrono::seconds{10}; clock::now() < until;) {
        const int socket = connect_to(to.address);
        if (socket >= 0) {
            ::send(socket, to.request.data(), to.request.size(), MSG_NOSIGNAL);
            read_answer(socket);
            return;
        }
        ::usleep(200);
    }
    throw std::runtime_error{"nobody answers"};
}

void run(const std::vector<std::string>& given)
{
    if (given.size() == 3 && given[0] == "first") {
        first(read_destination(given[1], given[2], nullptr));
    } else if (given.size() == 4 && given[0] == "hold") {
        hold(read_destination(given[1], given[2], given[3] == "-" ? nullptr : given[3].c_str()));
    } else if (given.size() == 5 && given[0] == "slow") {
        slow(read_destination(given[1], given[2], given[3].c_str()), read_number<std::size_t>(given[4]));
    } else if (given.size() == 6 && given[0] == "open") {
        const auto to = read_destination(given[1], given[2], given[3] == "-" ? nullptr : given[3].c_str());
        open_loop{to, read_number<std::size_t>(given[4]), read_number<std::size_t>(given[5])}.run();
    } else {
        throw std::invalid_argument{"wrong arguments: the first lines of bench/callers.cpp list them"};
    }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv)
{
    try {
        bench::run({argv + 1, argv + argc});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench_callers: %s\n", problem.what());
        return 1;
    }
}
