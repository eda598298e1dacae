#include "tests/unit/store/refused_statement.hpp"

#include <sqlite3.h>

#include <utility>

namespace store::testing {
namespace {

struct state {
    int kind = 0;
    std::string name;
    int skip = 0;
    bool refused = true;
};

state& all()
{
    static state only;
    return only;
}

int judge(void*, int kind, const char* name, const char*, const char*, const char*)
{
    auto& s = all();
    if (s.refused || kind != s.kind || name == nullptr || name != s.name || s.skip-- > 0) {
        return SQLITE_OK;
    }
    s.refused = true;
    return SQLITE_DENY;
}

int on_open(sqlite3* connection, char**, const sqlite3_api_routines*)
{
    return sqlite3_set_authorizer(connection, judge, nullptr);
}

}  // namespace

void refuse_once(int kind, std::string name, int skip)
{
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_open));
    all() = {kind, std::move(name), skip, false};
}

bool has_been_refused()
{
    return all().refused;
}

}  // namespace store::testing
