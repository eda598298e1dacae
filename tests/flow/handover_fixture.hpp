// A gateway's own binary with those that take its place: all of them end with the object.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow {

// Whether a process is gone, or only its parent has not noticed yet.
inline bool has_ended(pid_t process)
{
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string line;
    std::getline(file, line);
    const auto state = line.rfind(") ");
    return state == std::string::npos || line.substr(state + 2, 1) == "Z";
}

class succession {
public:
    // `configuration` is the text of the file; listeners have ports of the system's choice.
    explicit succession(const std::string& configuration, const handed_over& more = {})
    {
        std::filesystem::create_symlink(CARDEA_BIN, program());
        configure(configuration);
        const std::vector<std::string>
            arguments{"run", "-c", here_.file("c.yml"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"};
        first_.emplace(program(), arguments, more);
        const auto line = first_->wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        REQUIRE_MESSAGE(line.has_value(), first_->err());
        traffic_ = listening_port(*line, "traffic");
        admin_ = listening_port(*line, "admin");
        processes_.push_back(first_->id());
    }
    ~succession()
    {
        for (const auto each : processes_) {
            if (!has_ended(each)) {
                ::kill(each, SIGKILL);
            }
        }
    }
    succession(const succession&) = delete;
    succession& operator=(const succession&) = delete;

    std::uint16_t port() const noexcept { return traffic_; }
    std::uint16_t admin_port() const noexcept { return admin_; }
    child_process& first() noexcept { return *first_; }
    pid_t now() const noexcept { return processes_.back(); }
    std::string file(std::string_view name) const { return here_.file(name); }

    void configure(const std::string& text) const
    {
        test_support::write_whole(here_.file("c.yml"), "reload: {watch: false}\n" + text);
    }

    // From now on a script is where the gateway was started from.
    void replace_program(const std::string& script) const
    {
        std::filesystem::remove(program());
        test_support::write_whole(program(), "#!/bin/sh\n" + script);
        std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    }
    void restore_program() const
    {
        std::filesystem::remove(program());
        std::filesystem::create_symlink(CARDEA_BIN, program());
    }

    // With the patience for a new process that is slow to start.
    test_support::http_response ask() const
    {
        test_support::http_client client{admin_, std::chrono::seconds{30}};
        client.send(test_support::request_text("POST", "/handover"));
        return client.read_response();
    }

    // A hand-over that is done: the new process.
    pid_t hand_over()
    {
        const auto answer = ask();
        REQUIRE_MESSAGE(answer.status == 200, answer.body);
        processes_.push_back(core::json::parse(answer.body).at("process").get<pid_t>());
        return now();
    }

    // A process that took part without an answer to hand_over(): it ends with this.
    void note(pid_t process) { processes_.push_back(process); }

    // What a hand-over says that is refused or fails.
    std::string refusal() const
    {
        const auto answer = ask();
        CHECK(answer.status == 409);
        CHECK(answer.header("Cardea-Error") == "handover_failed");
        return core::json::parse(answer.body).at("error").at("message").get<std::string>();
    }

    bool logs(std::string_view text)
    {
        return first_->wait_for_line([text](auto line) { return line.find(text) != std::string_view::npos; }
        ).has_value();
    }

    // The result of a call of /rpc, or its error.
    core::json rpc(const std::string& method, const core::json& params = core::json::object()) const
    {
        const core::json call{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
        const auto answer =
            test_support::request(admin_, "POST", "/rpc", {{"Content-Type", "application/json"}}, call.dump());
        const auto body = core::json::parse(answer.body);
        return body.contains("result") ? body.at("result") : body.at("error");
    }

    std::string metrics() const { return test_support::request(admin_, "GET", "/metrics").body; }

private:
    std::string program() const { return here_.file("cardea"); }

    test_support::scratch_directory here_;
    std::optional<child_process> first_;
    std::vector<pid_t> processes_;
    std::uint16_t traffic_ = 0;
    std::uint16_t admin_ = 0;
};

}  // namespace flow
