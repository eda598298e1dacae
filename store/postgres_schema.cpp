#include "store/postgres_schema.hpp"

#include <chrono>
#include <thread>

namespace store {
namespace {

using core::errc;
using namespace std::chrono_literals;

constexpr auto migration_patience = 30s;
constexpr auto migration_pause = 100ms;

struct schema_facts {
    std::int64_t schema = 0;  // 0: there is none
    std::int64_t reader = 0;
};

pg_result<schema_facts> look_at(pg_session& session)
{
    const auto by = std::chrono::steady_clock::now() + migration_patience;
    const auto there = session.run("SELECT count(to_regclass('cardea.meta'))", {}, by);
    if (!there) {
        return there.error();
    }
    if (there->number(0, 0) == 0) {
        return schema_facts{};
    }
    const auto meta = session.run("SELECT schema, reader FROM cardea.meta", {}, by);
    if (!meta) {
        return meta.error();
    }
    return schema_facts{meta->number(0, 0), meta->number(0, 1)};
}

// The lock is the transaction's, so that it is given back through a pooler too.
std::string step_from(std::int64_t schema)
{
    const auto number = std::to_string(schema);
    std::string text =
        "DO $do$ BEGIN PERFORM set_config('lock_timeout', '2s', true);"
        "IF NOT pg_try_advisory_xact_lock(4861132600338081)"
        " THEN RAISE EXCEPTION 'another process migrates' USING ERRCODE = 'ZC007'; END IF;";
    text +=
        schema == 0 ? "IF to_regclass('cardea.meta') IS NOT NULL" : "IF (SELECT schema FROM cardea.meta) <> " + number;
    text += " THEN RAISE EXCEPTION 'another process has migrated' USING ERRCODE = 'ZC008'; END IF; END $do$;";
    const auto& next = postgres_migrations[static_cast<std::size_t>(schema)];
    text.append(next.schema).append(next.feed);
    return text + ";UPDATE cardea.meta SET schema = " + std::to_string(schema + 1);
}

bool passes_by_itself(const pg_failure& why)
{
    return why.state == sql_state::busy || why.state == sql_state::migrated || why.state == "55P03";
}

core::error without_rights(const pg_failure& why, const std::string& url)
{
    return core::gateway_error(
        errc::config_invalid,
        "the role may not make the schema (" + why.message + "); run `cardea store migrate --store " + url +
            "` as a role that may, then grant the gateway's role USAGE on the schema cardea, and SELECT, INSERT, "
            "UPDATE and DELETE on "
            "its tables"
    );
}

}  // namespace

core::result<> bring_up_to_date(pg_session& session, const std::string& url)
{
    const auto known = static_cast<std::int64_t>(postgres_migrations.size());
    const auto until = std::chrono::steady_clock::now() + migration_patience;
    for (;;) {
        const auto found = look_at(session);
        if (!found) {
            return found.error().state == "42501" ? without_rights(found.error(), url) : error_of(found.error());
        }
        if (found->reader > postgres_schema) {
            return core::gateway_error(
                errc::config_invalid,
                "has the schema " + std::to_string(found->schema) + ", which needs a Cardea that knows " +
                    std::to_string(found->reader) + ", and this one knows " + std::to_string(postgres_schema) +
                    "; start the newer Cardea that wrote it"
            );
        }
        if (found->schema >= known) {
            return {};
        }
        const auto link = session.connection(until, true);
        if (!link) {
            return error_of(link.error());
        }
        const auto done = (*link)->script(step_from(found->schema), until);
        if (done) {
            continue;
        }
        const auto why = done.error();
        session.note(&why);
        if (why.state == "42501") {
            return without_rights(why, url);
        }
        if (!passes_by_itself(why) || std::chrono::steady_clock::now() > until) {
            return error_of(why);
        }
        std::this_thread::sleep_for(migration_pause);
    }
}

}  // namespace store
