// What goes wrong with the bytes of one direction of a connection. Pure: its seed alone decides, and it knows neither clock nor
// socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

// What happens once the bytes of a limit have passed.
enum class at_limit : std::uint8_t {
    reset,       // both connections
    close,       // both connections, in order
    half_close,  // the receiver reads an end; the other direction goes on
    silence,     // nothing more arrives, and nothing ends
};

// Every fault is off by default.
struct direction_faults {
    std::chrono::milliseconds latency{0};    // before each block that arrives
    std::chrono::milliseconds jitter{0};     // the latency is up to so much longer or shorter
    std::uint64_t bytes_per_second = 0;      // 0: as fast as it goes
    std::size_t slice = 0;                   // bytes of one write; 0: as it arrived
    std::optional<std::uint64_t> limit{};    // bytes that pass
    at_limit then = at_limit::reset;         // after them
    std::uint64_t corrupt_every = 0;         // one bit is wrong in each so many bytes; 0: none
    std::chrono::milliseconds end_delay{0};  // before the end of the connection passes
};

class fault_plan {
public:
    // To be written at once, after its pause.
    struct piece {
        std::string data;
        std::chrono::milliseconds pause{0};
    };

    fault_plan(const direction_faults& faults, std::uint64_t seed);

    // What becomes of a block, in order. What is beyond the limit is left out.
    std::vector<piece> take(std::string_view block);

    // So many bytes have passed that at_limit holds.
    bool spent() const noexcept { return faults_.limit && passed_ >= *faults_.limit; }

    const direction_faults& faults() const noexcept { return faults_; }

private:
    std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }
    void corrupt(std::string& block, std::uint64_t from);
    std::chrono::milliseconds delay();
    std::chrono::milliseconds time_of(std::size_t bytes);
    std::size_t piece_size(std::size_t block) const noexcept;

    direction_faults faults_;
    std::mt19937_64 random_;
    std::uint64_t passed_ = 0;
    std::uint64_t span_ = 0;       // where the bytes begin of which one bit is to be wrong next
    std::uint64_t next_flip_ = 0;  // its byte
    std::uint64_t owed_us_ = 0;    // of the bandwidth: less than a millisecond
};

}  // namespace test_support
