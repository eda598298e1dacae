// An MCP server over stdio that costs next to nothing: what ./dev bench mcp has behind the gateway. A call is answered with 1 KiB.
// With the argument `modern` it speaks 2026-07-28 alone.
#include "bench/mcp_answers.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace {

// All that came at once is answered in one write.
bool answer_lines(bench::mcp_answers& answers, std::string& received)
{
    std::string out;
    std::size_t from = 0;
    for (auto end = received.find('\n'); end != std::string::npos; end = received.find('\n', from)) {
        const auto answer = answers.of(std::string_view{received}.substr(from, end - from));
        if (!answer.empty()) {
            out += answer;
            out += '\n';
        }
        from = end + 1;
    }
    received.erase(0, from);
    for (std::string_view left{out}; !left.empty();) {
        const auto written = ::write(STDOUT_FILENO, left.data(), left.size());
        if (written <= 0) {
            return false;
        }
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

int main(int argc, char** argv)
{
    const bool modern = argc > 1 && std::string_view{argv[1]} == "modern";
    bench::mcp_answers answers{1024, 1, modern};
    std::string received;
    std::array<char, 65536> bytes;
    for (;;) {
        const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (got <= 0) {
            return got < 0 ? 1 : 0;
        }
        received.append(bytes.data(), static_cast<std::size_t>(got));
        if (!answer_lines(answers, received)) {
            return 1;
        }
    }
}
