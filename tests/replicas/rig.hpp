// Replicas with an agent behind them, what their clients saw, and what it comes to.
#pragma once

#include "tests/replicas/clients.hpp"
#include "tests/replicas/history.hpp"
#include "tests/replicas/replica.hpp"
#include "tests/replicas/steady_load.hpp"
#include "tests/support/plain_agent.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace replicas {

std::string lines_of(const std::vector<std::string>& problems);

std::vector<std::string> twenty_keys();

// Its agent `plain` is declared, and `steady` is stored: calls go to both. Checks fail the test.
class rig {
public:
    using place = std::function<std::string(std::size_t replica)>;

    // All run and know of the agents when it returns. `more` goes into each configuration file, before the agents.
    rig(std::size_t replicas, const place& store, const std::string& more = {});

    bool all_ready() const;

    // Whether all list the same agents with the same versions, fresh and as they know them.
    bool agree() const;
    std::string lists() const;  // for messages, with the end of the logs

    // What the clients saw and what there is now, which all have to say alike. Nobody writes any more.
    history take_history();

    test_support::plain_agent agent{answer_call};
    recorder lines;
    fleet members;

private:
    void keep_steady_agent();
};

std::size_t writes(const history& all, outcome came);

// By both checkers, and nothing surprised a client.
void check_history(const rig& x, const history& all);

void check_calls(const steady_load& load);

}  // namespace replicas
