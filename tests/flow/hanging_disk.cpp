// Loaded before a gateway's libraries (LD_PRELOAD): while the file exists that CARDEA_TEST_HANG names, nothing is written to a disk, and
// whoever writes waits.
#include <dlfcn.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void wait_while_it_hangs()
{
    const char* const file = std::getenv("CARDEA_TEST_HANG");  // NOLINT(concurrency-mt-unsafe): nothing sets it
    const timespec pause{0, 10'000'000};
    while (file != nullptr && ::access(file, F_OK) == 0) {
        ::nanosleep(&pause, nullptr);
    }
}

template <class Function>
Function* next(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at)
{
    wait_while_it_hangs();
    static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    return real(file, bytes, size, at);
}

extern "C" int fdatasync(int file)
{
    wait_while_it_hangs();
    static auto* const real = next<int(int)>("fdatasync");
    return real(file);
}

extern "C" int fsync(int file)
{
    wait_while_it_hangs();
    static auto* const real = next<int(int)>("fsync");
    return real(file);
}
