#include "core/descriptor.hpp"
#include "tests/support/failing_calls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace test_support {

failing_calls::failing_calls(const std::string& file)
    : file_{file}
{
    const core::descriptor opened{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    void* memory = MAP_FAILED;
    if (opened.open() && ::ftruncate(opened.number(), sizeof(fault_board)) == 0) {
        memory = ::mmap(nullptr, sizeof(fault_board), PROT_READ | PROT_WRITE, MAP_SHARED, opened.number(), 0);
    }
    if (memory == MAP_FAILED) {
        throw std::system_error{errno, std::generic_category(), file};
    }
    board_ = static_cast<fault_board*>(memory);  // a file of zeros is a board on which nothing fails
}

failing_calls::~failing_calls()
{
    ::munmap(board_, sizeof(fault_board));
}

std::vector<std::string> failing_calls::variables() const
{
    return {"LD_PRELOAD=" FAILING_CALLS_LIBRARY, "CARDEA_FAULT_BOARD=" + file_};
}

void failing_calls::set(failing kind, const failing_range& range)
{
    auto& rule = rule_of(kind);
    rule.first = 0;
    rule.last = range.last;
    rule.every = range.every;
    rule.error = range.error;
    rule.failed = 0;
    rule.calls = 0;
    rule.first = range.first;
}

void failing_calls::only(std::string_view path)
{
    board_->path.fill('\0');
    std::copy_n(path.begin(), std::min(path.size(), board_->path.size() - 1), board_->path.begin());
}

void failing_calls::heal()
{
    for (auto& rule : board_->rules) {
        rule.first = 0;
    }
}

std::uint64_t failing_calls::calls(failing kind) const noexcept
{
    return board_->rules[static_cast<std::size_t>(kind)].calls;
}

std::uint64_t failing_calls::failed(failing kind) const noexcept
{
    return board_->rules[static_cast<std::size_t>(kind)].failed;
}

}  // namespace test_support
