#include "tests/replicas/replica.hpp"

#include "tests/support/postgres_cluster.hpp"

#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace replicas {
namespace {

std::string address(std::uint16_t port)
{
    return "127.0.0.1:" + std::to_string(port);
}

}  // namespace

replica::replica(std::string name, std::string store, std::string more, std::string program)
    : name_{std::move(name)},
      program_{std::move(program)},
      traffic_{test_support::quiet_port()},
      admin_{test_support::quiet_port()}
{
    test_support::write_whole(
        folder_.file("c.yml"),
        "listen: " + address(traffic_) + "\nadmin: " + address(admin_) + "\nreplica: {name: " + name_ +
            ", url: \"http://" + address(traffic_) + "\"}\nstore: \"" + store + "\"\n" + more
    );
    if (!sanitized) {
        clock_ = std::make_unique<test_support::failing_calls>(folder_.file("clock"));
    }
}

replica::~replica() = default;

// It ends with the test, also with one that is killed.
void replica::start()
{
    flow::handed_over more;
    if (clock_ != nullptr) {
        more.variables = clock_->variables();
    }
    process_.reset();
    process_ = std::make_unique<flow::child_process>(
        "/bin/sh",
        std::vector<std::string>{
            "-c",
            R"(exec setpriv --pdeathsig KILL -- "$0" run -c "$1/c.yml" 2>>"$1/log")",
            program_,
            folder_.path().string()
        },
        more
    );
    life_ += life_ % 2;
}

void replica::kill()
{
    ++life_;
    process_->signal(SIGKILL);
    process_->wait();
}

void replica::move_clock(std::chrono::seconds by)
{
    if (clock_ != nullptr) {
        clock_->move_clock(by);
    }
}

unsigned replica::status_of(std::string_view page, std::chrono::milliseconds timeout) const
{
    try {
        test_support::http_client caller{admin_, timeout};
        caller.send(test_support::request_text("GET", page));
        return caller.read_response().status;
    } catch (const std::runtime_error&) {
        return 0;
    }
}

bool replica::wait_until_ready(std::chrono::milliseconds timeout) const
{
    return wait_until([this] { return status_of() == 200; }, timeout).has_value();
}

std::size_t replica::logged(std::string_view event) const
{
    const auto text = log();
    const auto wanted = R"("event":")" + std::string{event} + '"';
    std::size_t count = 0;
    for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
        ++count;
    }
    return count;
}

told manager::ask(std::string_view method, std::string_view params)
{
    std::string body = R"({"jsonrpc":"2.0","id":1,"method":")";
    body.append(method).append(R"(","params":)").append(params).append("}");
    bool sent = false;
    try {
        if (!connection_) {
            connection_.emplace(port_, patience_);
        }
        sent = true;
        connection_->send(test_support::request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, body));
        const auto answer = connection_->read_response();
        if (answer.header("Connection") == "close") {
            connection_.reset();
        }
        const auto said = core::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
        if (answer.status != 200) {
            return {nullptr, answer.header("Cardea-Error")};
        }
        if (const auto* result = core::member(said, "result")) {
            return {*result, {}};
        }
        return {nullptr, said.at("error").at("data").at("code").get<std::string>()};
    } catch (const std::runtime_error&) {
        connection_.reset();
        return {nullptr, sent ? "lost" : "unreached"};
    }
}

}  // namespace replicas
