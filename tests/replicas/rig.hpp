// Replicas with an agent behind them, the history that their clients saw, and its verdict.
#pragma once

#include "tests/replicas/clients.hpp"
#include "tests/replicas/history.hpp"
#include "tests/replicas/replica.hpp"
#include "tests/replicas/steady_load.hpp"
#include "tests/support/plain_agent.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replicas {

std::string lines_of(const std::vector<std::string>& problems);

std::vector<std::string> twenty_keys();

inline constexpr std::chrono::milliseconds store_timeout{2000};  // of all replicas: shorter than many faults

// Its agent `plain` is declared, and `steady` is stored: calls go to both. Checks fail the test.
class rig {
public:
    using place = std::function<std::string(std::size_t replica)>;

    // All run and know of the agents when it returns. `more` goes into each configuration file, before the agents.
    rig(std::size_t replicas, const place& store, const std::string& more = {});

    bool all_ready() const;

    // From now on the database is asked directly, what all should list: versions by id. Without it they are compared with each other.
    using versions = std::map<std::string, std::uint64_t>;
    void set_truth(std::function<versions()> truth) { truth_ = std::move(truth); }

    // Whether all list the same agents with the same versions, without having been asked for what is new.
    bool agree() const;
    bool agree_when_fresh() const;
    std::string lists() const;  // for messages, with the end of the logs

    // The time until each of them carries out a write, of agents `after0` to `after2`.
    std::optional<std::chrono::milliseconds> until_all_write(std::chrono::milliseconds limit) const;

    // What the clients saw and what there is now, which all have to say alike. Nobody writes any more.
    history take_history();

    test_support::plain_agent agent{answer_call};
    recorder lines;
    fleet members;

private:
    void keep_steady_agent();

    std::function<versions()> truth_;
};

// What agents/upsert takes for an agent that nobody reaches.
std::string write_of(const std::string& id);

std::size_t writes(const history& all, outcome came);

// By both checkers, and nothing surprised a client.
void check_history(const rig& x, const history& all);

void check_calls(const steady_load& load);

}  // namespace replicas
