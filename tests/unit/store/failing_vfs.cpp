#include "tests/unit/store/failing_vfs.hpp"

#include "tests/support/scratch.hpp"

#include <sqlite3.h>

#include <map>
#include <string>
#include <system_error>

namespace store::testing {
namespace {

struct state {
    fault how = fault::none;
    std::uint64_t left = 0;
    bool failed = false;
    std::filesystem::path directory;
    std::uint64_t room = 0;
    int number = 0;  // errno of what has no room
    bool follows = false;
    std::map<std::string, std::string> synced;  // by path
    sqlite3_vfs* below = nullptr;
    sqlite3_vfs layer{};
    sqlite3_io_methods methods{};
};

state& all()
{
    static state only;
    return only;
}

struct layered_file {
    sqlite3_file base;
    sqlite3_file* below;  // behind this struct, in the same block
    const char* name;     // SQLite keeps it until the file is closed
    bool database;
};

sqlite3_file* below(sqlite3_file* file)
{
    return reinterpret_cast<layered_file*>(file)->below;
}

// Whether this operation is the one, or comes after it.
bool fails()
{
    auto& s = all();
    if (s.how == fault::none) {
        return false;
    }
    if (s.left > 0) {
        --s.left;
    }
    if (s.left > 0 || (s.how == fault::once && s.failed)) {
        return false;
    }
    s.failed = true;
    return true;
}

std::uint64_t used_room()
{
    std::uint64_t used = 0;
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator{all().directory, gone}) {
        const auto size = each.file_size(gone);
        used += gone ? 0 : size;
    }
    return used;
}

bool has_room(sqlite3_file* file, sqlite3_int64 end)
{
    sqlite3_int64 size = 0;
    file->pMethods->xFileSize(file, &size);
    return all().room == 0 || end <= size || used_room() + static_cast<std::uint64_t>(end - size) <= all().room;
}

int no_room()
{
    return all().number == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;  // as SQLite's own layer tells them apart
}

int close(sqlite3_file* file)
{
    auto& s = all();
    if (s.how == fault::until_closed && s.failed && reinterpret_cast<layered_file*>(file)->database) {
        s.how = fault::none;
    }
    return below(file)->pMethods->xClose(below(file));
}

int read(sqlite3_file* file, void* to, int size, sqlite3_int64 at)
{
    return fails() ? SQLITE_IOERR_READ : below(file)->pMethods->xRead(below(file), to, size, at);
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at)
{
    if (fails()) {
        return SQLITE_IOERR_WRITE;
    }
    return has_room(below(file), at + size) ? below(file)->pMethods->xWrite(below(file), from, size, at) : no_room();
}

int truncate(sqlite3_file* file, sqlite3_int64 size)
{
    return fails() ? SQLITE_IOERR_TRUNCATE : below(file)->pMethods->xTruncate(below(file), size);
}

int sync(sqlite3_file* file, int flags)
{
    const int done = below(file)->pMethods->xSync(below(file), flags);
    if (fails()) {
        return SQLITE_IOERR_FSYNC;
    }
    const char* name = reinterpret_cast<layered_file*>(file)->name;
    if (all().follows && name != nullptr && done == SQLITE_OK) {
        all().synced[name] = test_support::read_whole(name);
    }
    return done;
}

int file_size(sqlite3_file* file, sqlite3_int64* size)
{
    return fails() ? SQLITE_IOERR_FSTAT : below(file)->pMethods->xFileSize(below(file), size);
}

int lock(sqlite3_file* file, int level)
{
    return fails() ? SQLITE_IOERR_LOCK : below(file)->pMethods->xLock(below(file), level);
}

int unlock(sqlite3_file* file, int level)
{
    return below(file)->pMethods->xUnlock(below(file), level);
}

int check_reserved_lock(sqlite3_file* file, int* locked)
{
    return below(file)->pMethods->xCheckReservedLock(below(file), locked);
}

int file_control(sqlite3_file* file, int operation, void* argument)
{
    if (operation == SQLITE_FCNTL_LAST_ERRNO && all().room != 0) {
        *static_cast<int*>(argument) = all().number;
        return SQLITE_OK;
    }
    return below(file)->pMethods->xFileControl(below(file), operation, argument);
}

int sector_size(sqlite3_file* file)
{
    return below(file)->pMethods->xSectorSize(below(file));
}

int device_characteristics(sqlite3_file* file)
{
    return below(file)->pMethods->xDeviceCharacteristics(below(file));
}

int shm_map(sqlite3_file* file, int page, int size, int extend, volatile void** mapped)
{
    return fails() ? SQLITE_IOERR_SHMMAP : below(file)->pMethods->xShmMap(below(file), page, size, extend, mapped);
}

int shm_lock(sqlite3_file* file, int offset, int count, int flags)
{
    return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}

void shm_barrier(sqlite3_file* file)
{
    below(file)->pMethods->xShmBarrier(below(file));
}

int shm_unmap(sqlite3_file* file, int remove)
{
    return below(file)->pMethods->xShmUnmap(below(file), remove);
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got)
{
    auto* layered = reinterpret_cast<layered_file*>(file);
    layered->base.pMethods = nullptr;
    layered->name = name;
    layered->database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    if (fails()) {
        return SQLITE_CANTOPEN;
    }
    if (all().follows && name != nullptr && std::filesystem::exists(name)) {
        all().synced.try_emplace(name, test_support::read_whole(name));
    }
    layered->below = reinterpret_cast<sqlite3_file*>(layered + 1);
    const int done = all().below->xOpen(all().below, name, layered->below, flags, got);
    if (layered->below->pMethods != nullptr) {
        layered->base.pMethods = &all().methods;
    }
    return done;
}

int remove(sqlite3_vfs*, const char* name, int durably)
{
    if (fails()) {
        return SQLITE_IOERR_DELETE;
    }
    all().synced.erase(name);
    return all().below->xDelete(all().below, name, durably);
}

int last_error(sqlite3_vfs*, int size, char* text)
{
    return all().room != 0 ? all().number : all().below->xGetLastError(all().below, size, text);
}

int access(sqlite3_vfs*, const char* name, int flags, int* result)
{
    return fails() ? SQLITE_IOERR_ACCESS : all().below->xAccess(all().below, name, flags, result);
}

}  // namespace

void install_failing_vfs()
{
    auto& s = all();
    if (s.below != nullptr) {
        return;
    }
    s.below = sqlite3_vfs_find(nullptr);
    s.methods = {
        .iVersion = 2,
        .xClose = close,
        .xRead = read,
        .xWrite = write,
        .xTruncate = truncate,
        .xSync = sync,
        .xFileSize = file_size,
        .xLock = lock,
        .xUnlock = unlock,
        .xCheckReservedLock = check_reserved_lock,
        .xFileControl = file_control,
        .xSectorSize = sector_size,
        .xDeviceCharacteristics = device_characteristics,
        .xShmMap = shm_map,
        .xShmLock = shm_lock,
        .xShmBarrier = shm_barrier,
        .xShmUnmap = shm_unmap,
        .xFetch = nullptr,
        .xUnfetch = nullptr
    };
    s.layer = *s.below;
    s.layer.zName = failing_vfs;
    s.layer.pNext = nullptr;
    s.layer.szOsFile = s.below->szOsFile + static_cast<int>(sizeof(layered_file));
    s.layer.xOpen = open;
    s.layer.xDelete = remove;
    s.layer.xAccess = access;
    s.layer.xGetLastError = last_error;
    sqlite3_vfs_register(&s.layer, 0);
}

void fail_at(std::uint64_t step, fault how)
{
    auto& s = all();
    s.how = how;
    s.left = step;
    s.failed = false;
}

bool has_failed()
{
    return all().failed;
}

void heal()
{
    all().how = fault::none;
}

void limit_room(const std::filesystem::path& directory, std::uint64_t bytes, int number)
{
    all().directory = directory;
    all().room = bytes;
    all().number = number;
}

void follow_syncs()
{
    all().synced.clear();
    all().follows = true;
}

void cut_power(const std::filesystem::path& into)
{
    for (const auto& [path, content] : all().synced) {
        test_support::write_whole((into / std::filesystem::path{path}.filename()).string(), content);
    }
    all().follows = false;
}

}  // namespace store::testing
