// The latest lines of the log for whoever watches it live (GET /events of admin). It stands in front of the sink where lines end, and keeps
// what passes: a batch costs one copy and one lock, whether or not anybody watches; nobody waits for a viewer.
#pragma once

#include "core/log.hpp"
#include "gateway/telemetry/replica_field.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

struct live_log_limits {
    std::size_t lines = 1000;
    std::size_t bytes = 512 * 1024;        // with a line break for each line
    std::size_t unread = 4 * 1024 * 1024;  // the same of lines that a reader has not taken yet, besides
};

// Any thread, unless a function says otherwise.
class live_log final : public core::log_sink {
public:
    // `behind` outlives this. Lines have the numbers from `first` on. Of two processes, the later one is to have the higher ones.
    live_log(core::log_sink& behind, std::uint64_t first, live_log_limits limits = {});

    // Before the first line: what each line has besides.
    void set_replica(replica_field replica) { replica_ = std::move(replica); }

    // Passes the lines on and keeps them.
    void write(std::string_view lines) override;

    // A sink for lines that the log does not have: they are kept, and go no further.
    core::log_sink& viewers() noexcept { return viewers_; }

    // Lines that follow one another. Immutable.
    struct batch {
        std::uint64_t first = 0;                  // the number of the first line
        std::size_t count = 0;                    // of lines
        std::shared_ptr<const std::string> text;  // each line with its line break
        std::size_t begin = 0;                    // where the first one begins
        std::string_view lines() const { return std::string_view{*text}.substr(begin); }
    };

    // Lines from the number `from` on that are kept, whole batches of them: the first may begin before it. At least one batch, if there is
    // any, and no more once `most` bytes are reached.
    std::vector<batch> since(std::uint64_t from, std::size_t most);

    // The numbers of the first line of all, of the first that is kept and of the next that will come.
    struct numbers {
        std::uint64_t of_process = 0;
        std::uint64_t kept = 0;
        std::uint64_t next = 0;
    };
    numbers range();

    // There is a reader, and it has taken the lines before the number `from`: those from there on are kept for longer. null: there is none
    // any more.
    void keep_for_reader(std::optional<std::uint64_t> from);

    // `wake` is called, on any thread and under a lock, once for the first line from the number `from` on that comes after this call, or at
    // once if one is there; with a reader. Null: never.
    void await(std::uint64_t from, std::function<void()> wake);

private:
    class viewers_only final : public core::log_sink {
    public:
        explicit viewers_only(live_log& of)
            : of_{of}
        {
        }
        void write(std::string_view lines) override
        {
            of_.keep(of_.replica_.empty() ? lines : std::string_view{of_.replica_.added_to(lines)});
        }

    private:
        live_log& of_;
    };

    void keep(std::string_view lines);
    bool is_unread(const batch& oldest) const noexcept;
    void drop_batches(std::list<batch>& dropped);
    void drop_lines(std::list<batch>& dropped);

    core::log_sink& behind_;
    viewers_only viewers_{*this};
    replica_field replica_;
    const std::uint64_t first_;
    const live_log_limits limits_;
    std::mutex mutex_;
    std::list<batch> kept_;  // none is empty; lines over the limits lie in the first one until somebody reads
    std::size_t lines_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t next_;
    std::uint64_t wanted_ = 0;  // with a reader: the first line that it has not taken
    bool read_ = false;         // there is a reader
    std::function<void()> wake_;
};

}  // namespace gateway::telemetry
