// Questions about credentials to services elsewhere: one at a time about a credential, however many requests bring it, and
// not too many at once. Control loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::access {

// Held by shared_ptr: a question goes on when whoever asked it has left.
class question_line : public std::enable_shared_from_this<question_line> {
public:
    static constexpr std::size_t most_questions = 64;  // under way
    static constexpr std::size_t most_waiting = 256;   // requests that wait for their answers

    using answer = core::result<model::accepted_credential>;

    question_line() = default;
    question_line(const question_line&) = delete;
    question_line& operator=(const question_line&) = delete;

    // The answer of `question` about the credential that has this `key`; the answer of one that is under way about the same, if
    // there is one. Fails with access_unavailable if there are too many, or if the question throws.
    net::task<answer> ask(std::string key, std::function<net::task<answer>()> question);

private:
    struct asked {
        std::optional<answer> answered;
        std::vector<net::task_signal*> waiting;
    };

    static net::task<>
    carry_out(std::shared_ptr<question_line> line, std::string key, std::function<net::task<answer>()> question);

    std::unordered_map<std::string, std::shared_ptr<asked>> under_way_;
    std::size_t waiting_ = 0;
};

}  // namespace gateway::access
