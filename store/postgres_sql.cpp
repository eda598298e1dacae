#include "store/postgres_schema.hpp"

namespace store {
namespace {

// Ids, kinds and what people read are text; bytes of peers are bytea, because text takes no zero byte. Times are milliseconds of the gateway
// that wrote; `at` of replicas and tokens is the database's clock.
constexpr std::string_view first_schema = R"sql(
DO $do$ BEGIN
    IF to_regnamespace('cardea') IS NULL THEN CREATE SCHEMA cardea; END IF;
END $do$;

-- From `paused` to `resumed` no replica could beat, the latest time.
CREATE TABLE cardea.meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), schema bigint NOT NULL, reader bigint NOT NULL,
    paused timestamptz NOT NULL DEFAULT '-infinity', resumed timestamptz NOT NULL DEFAULT '-infinity');
INSERT INTO cardea.meta (schema, reader) VALUES (1, 1);

-- `token`: of the write that raised it last.
CREATE TABLE cardea.feeds (
    name text PRIMARY KEY, number bigint NOT NULL DEFAULT 0, token bytea NOT NULL DEFAULT '') WITH (fillfactor = 10);
INSERT INTO cardea.feeds (name)
VALUES ('agents'), ('cards'), ('tasks'), ('documents'), ('deliveries'), ('tombstones');

-- Of writes that were carried out, each with the one before it in its feed, and (number NULL) of those that never may be. `away`: a
-- delivery that goes by the feed.
CREATE TABLE cardea.tokens (
    token bytea PRIMARY KEY, feed text, first bigint, number bigint, before bytea, away boolean NOT NULL DEFAULT false,
    at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX tokens_by_number ON cardea.tokens (feed, number);
CREATE INDEX tokens_by_time ON cardea.tokens (at);

CREATE TABLE cardea.agents (
    id text COLLATE "C" PRIMARY KEY, definition text NOT NULL, version bigint NOT NULL, written bigint NOT NULL);
CREATE TABLE cardea.hosts (name text COLLATE "C" PRIMARY KEY, agent text COLLATE "C" NOT NULL);
CREATE INDEX hosts_by_agent ON cardea.hosts (agent);
CREATE TABLE cardea.changes (
    version bigint PRIMARY KEY, at bigint NOT NULL, who text NOT NULL, action smallint NOT NULL, agent text NOT NULL,
    replica bigint NOT NULL, token bytea NOT NULL);
CREATE INDEX removals ON cardea.changes (agent, version) WHERE action = 2;

CREATE TABLE cardea.cards (
    agent text COLLATE "C" PRIMARY KEY, source text NOT NULL, document bytea NOT NULL, url text NOT NULL, etag bytea NOT NULL,
    last_modified bytea NOT NULL, fetched bigint NOT NULL, fresh_for bigint NOT NULL, number bigint NOT NULL);
CREATE INDEX cards_by_number ON cardea.cards (number);
CREATE TABLE cardea.card_versions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agent text COLLATE "C" NOT NULL, at bigint NOT NULL, sha256 text NOT NULL,
    size bigint NOT NULL, patch bytea NOT NULL, document bytea NOT NULL, bytes bigint NOT NULL);
CREATE INDEX card_versions_by_agent ON cardea.card_versions (agent, number) INCLUDE (bytes);

CREATE TABLE cardea.tasks (name bigint PRIMARY KEY, word bigint NOT NULL, seen bigint NOT NULL, number bigint NOT NULL);
CREATE INDEX tasks_by_time ON cardea.tasks (seen, name);
CREATE INDEX tasks_by_number ON cardea.tasks (number);

-- `text` is NULL of one that was dropped, for an hour, so that others hear of it.
CREATE TABLE cardea.documents (
    kind text COLLATE "C" NOT NULL, name bytea NOT NULL, agent text COLLATE "C" NOT NULL, text bytea, number bigint NOT NULL,
    dropped timestamptz, PRIMARY KEY (kind, name));
CREATE INDEX documents_by_agent ON cardea.documents (agent) WHERE agent <> '';
CREATE INDEX documents_by_number ON cardea.documents (number);

CREATE TABLE cardea.keys (name text PRIMARY KEY, text text NOT NULL);

-- `moved`: the number at which `holder` became what it is; `accepted`: the replica that knows it without its feed.
CREATE TABLE cardea.deliveries (
    number bigint PRIMARY KEY, id bytea NOT NULL, agent text NOT NULL, lane bytea NOT NULL, address bytea NOT NULL, body bytea NOT NULL,
    received bigint NOT NULL, holder bigint NOT NULL, moved bigint NOT NULL, accepted bigint NOT NULL);
CREATE INDEX deliveries_by_lane ON cardea.deliveries (lane, number);
CREATE INDEX deliveries_by_holder ON cardea.deliveries (holder, moved);

CREATE TABLE cardea.replicas (
    id bigint PRIMARY KEY, name text NOT NULL, url text NOT NULL, version text NOT NULL, configuration text NOT NULL,
    applied bigint NOT NULL, at timestamptz NOT NULL) WITH (fillfactor = 50);
)sql"
                                          R"sql(
-- What each write begins with. Returns the number before the `p_rows` that are this write's.
CREATE FUNCTION cardea.begin_write(p_feed text, p_rows bigint, p_token bytea, p_patience bigint, p_reads bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE before bigint;
BEGIN
    PERFORM cardea.prepare(p_patience);
    before := cardea.raise_feed(p_feed, p_rows, p_token);
    IF (SELECT reader > p_reads FROM cardea.meta) THEN
        RAISE EXCEPTION 'the schema is of a newer version' USING ERRCODE = 'ZC002';
    END IF;
    RETURN before;
END $f$;

-- One that has no rows leaves the feed as it is.
CREATE FUNCTION cardea.raise_feed(p_feed text, p_rows bigint, p_token bytea) RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE f record;
BEGIN
    SELECT number, token INTO STRICT f FROM cardea.feeds WHERE name = p_feed FOR UPDATE;
    INSERT INTO cardea.tokens (token, feed, first, number, before)
    VALUES (p_token, CASE WHEN p_rows > 0 THEN p_feed END, f.number, f.number + p_rows, f.token) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this write was given up' USING ERRCODE = 'ZC003';
    END IF;
    IF p_rows > 0 THEN
        UPDATE cardea.feeds SET number = f.number + p_rows, token = p_token WHERE name = p_feed;
    END IF;
    RETURN f.number;
END $f$;

-- In any other isolation a function would read what was there before it had the lock.
CREATE FUNCTION cardea.prepare(p_patience bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'transactions are %; expected read committed', current_setting('transaction_isolation')
            USING ERRCODE = 'ZC001';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM set_config('lock_timeout', p_patience::text, true);
END $f$;

-- Whether a write was carried out: its number, or 0, as its function returned it; -1: it was not, and never will be.
CREATE FUNCTION cardea.settle(p_feed text, p_token bytea, p_patience bigint) RETURNS bigint LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM cardea.prepare(p_patience);
    PERFORM FROM cardea.feeds WHERE name = p_feed FOR UPDATE;
    INSERT INTO cardea.tokens (token) VALUES (p_token) ON CONFLICT DO NOTHING;
    RETURN coalesce((SELECT CASE WHEN away THEN 0 ELSE number END FROM cardea.tokens WHERE token = p_token), -1);
END $f$;

-- Holds removals of agents off. Before begin_write(), whose feed a removal locks behind that of agents.
CREATE FUNCTION cardea.hold_agents(p_patience bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM cardea.prepare(p_patience);
    PERFORM FROM cardea.feeds WHERE name = 'agents' FOR SHARE;
END $f$;
-- Whether a writer that has applied so much of the trail does not know that this agent was removed.
CREATE FUNCTION cardea.is_removed(p_agent text, p_applied bigint) RETURNS boolean LANGUAGE sql STABLE AS $f$
    SELECT EXISTS (SELECT FROM cardea.changes WHERE agent = p_agent AND action = 2 AND version > p_applied)
$f$;

-- The trail keeps at least 100,000 lines.
CREATE FUNCTION cardea.note(
    p_version bigint, p_at bigint, p_who text, p_action bigint, p_agent text, p_replica bigint, p_token bytea) RETURNS void
LANGUAGE plpgsql AS $f$
BEGIN
    INSERT INTO cardea.changes (version, at, who, action, agent, replica, token)
    VALUES (p_version, p_at, p_who, p_action, p_agent, p_replica, p_token);
    IF p_version % 100 = 0 THEN
        DELETE FROM cardea.changes WHERE version <= p_version - 100000;
    END IF;
    PERFORM pg_notify('cardea', '');
END $f$;

CREATE FUNCTION cardea.put(
    p_token bytea, p_patience bigint, p_reads bigint, p_replica bigint, p_id text, p_definition text, p_hosts text[], p_who text,
    p_at bigint, p_if bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE given bigint; there bigint; taken record;
BEGIN
    given := cardea.begin_write('agents', 1, p_token, p_patience, p_reads) + 1;
    there := coalesce((SELECT version FROM cardea.agents WHERE id = p_id), 0);
    IF p_if >= 0 AND p_if <> there THEN
        RAISE EXCEPTION '%', there USING ERRCODE = 'ZC004';
    END IF;
    DELETE FROM cardea.hosts WHERE agent = p_id AND name <> ALL (p_hosts);
    INSERT INTO cardea.hosts (name, agent) SELECT DISTINCT each, p_id FROM unnest(p_hosts) AS each ON CONFLICT DO NOTHING;
    SELECT name, agent INTO taken FROM cardea.hosts WHERE name = ANY (p_hosts) AND agent <> p_id ORDER BY name LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '"%" is a name of the agent %; expected another name', taken.name, taken.agent USING ERRCODE = 'ZC006';
    END IF;
    INSERT INTO cardea.agents (id, definition, version, written) VALUES (p_id, p_definition, given, p_at)
    ON CONFLICT (id) DO UPDATE
    SET definition = excluded.definition, version = excluded.version, written = excluded.written;
    PERFORM cardea.note(given, p_at, p_who, CASE WHEN there = 0 THEN 0 ELSE 1 END, p_id, p_replica, p_token);
    RETURN given;
END $f$;

CREATE FUNCTION cardea.remove(
    p_token bytea, p_patience bigint, p_reads bigint, p_replica bigint, p_id text, p_who text, p_at bigint, p_if bigint)
RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE given bigint; there bigint; each record; raised bigint; gone bigint;
BEGIN
    given := cardea.begin_write('agents', 1, p_token, p_patience, p_reads) + 1;
    DELETE FROM cardea.agents WHERE id = p_id RETURNING version INTO there;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no such agent' USING ERRCODE = 'ZC005';
    END IF;
    IF p_if >= 0 AND p_if <> there THEN
        RAISE EXCEPTION '%', there USING ERRCODE = 'ZC004';
    END IF;
    DELETE FROM cardea.hosts WHERE agent = p_id;
    DELETE FROM cardea.cards WHERE agent = p_id;
    DELETE FROM cardea.card_versions WHERE agent = p_id;
    IF EXISTS (SELECT FROM cardea.documents WHERE agent = p_id AND agent <> '' AND text IS NOT NULL) THEN
        PERFORM FROM cardea.feeds WHERE name = 'documents' FOR UPDATE;
        gone := (SELECT count(*) FROM cardea.documents WHERE agent = p_id AND text IS NOT NULL);
        raised := cardea.raise_feed('documents', gone, p_token || 'documents');
        FOR each IN SELECT kind, name FROM cardea.documents WHERE agent = p_id AND text IS NOT NULL LOOP
            raised := raised + 1;
            UPDATE cardea.documents SET text = NULL, dropped = clock_timestamp(), number = raised
            WHERE kind = each.kind AND name = each.name;
        END LOOP;
    END IF;
    PERFORM cardea.note(given, p_at, p_who, 2, p_id, p_replica, p_token);
    RETURN given;
END $f$;

CREATE FUNCTION cardea.keep_cards(
    p_token bytea, p_patience bigint, p_reads bigint, p_agents text[], p_sources text[], p_documents bytea[], p_urls text[],
    p_etags bytea[], p_last_modified bytea[], p_fetched bigint[], p_fresh_for bigint[], p_applied bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE base bigint;
BEGIN
    PERFORM cardea.hold_agents(p_patience);
    base := cardea.begin_write('cards', cardinality(p_agents), p_token, p_patience, p_reads);
    INSERT INTO cardea.cards (agent, source, document, url, etag, last_modified, fetched, fresh_for, number)
    SELECT DISTINCT ON (a) a, s, d, u, e, l, f, v, base + n
    FROM unnest(p_agents, p_sources, p_documents, p_urls, p_etags, p_last_modified, p_fetched, p_fresh_for)
        WITH ORDINALITY AS each (a, s, d, u, e, l, f, v, n)
    WHERE d <> '' AND NOT cardea.is_removed(a, p_applied) ORDER BY a, n DESC
    ON CONFLICT (agent) DO UPDATE
    SET source = excluded.source, document = excluded.document, url = excluded.url, etag = excluded.etag,
        last_modified = excluded.last_modified, fetched = excluded.fetched, fresh_for = excluded.fresh_for, number = excluded.number;
    UPDATE cardea.cards SET url = u, etag = e, last_modified = l, fetched = f, fresh_for = v, number = base + n
    FROM unnest(p_agents, p_sources, p_documents, p_urls, p_etags, p_last_modified, p_fetched, p_fresh_for)
        WITH ORDINALITY AS each (a, s, d, u, e, l, f, v, n)
    WHERE d = '' AND agent = a AND source = s;
    PERFORM pg_notify('cardea', '');
    RETURN base;
END $f$;

-- Each replica that publishes a card keeps it; one line is enough.
CREATE FUNCTION cardea.keep_card_version(
    p_token bytea, p_patience bigint, p_reads bigint, p_agent text, p_at bigint, p_sha256 text, p_size bigint, p_patch bytea,
    p_document bytea, p_bytes bigint, p_kept bigint, p_applied bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM cardea.hold_agents(p_patience);
    PERFORM cardea.begin_write('cards', 0, p_token, p_patience, p_reads);
    IF cardea.is_removed(p_agent, p_applied)
        OR p_sha256 = (SELECT sha256 FROM cardea.card_versions WHERE agent = p_agent ORDER BY number DESC LIMIT 1) THEN
        RETURN 0;
    END IF;
    UPDATE cardea.card_versions SET bytes = bytes - octet_length(document), document = ''
    WHERE agent = p_agent AND document <> '';
    INSERT INTO cardea.card_versions (agent, at, sha256, size, patch, document, bytes)
    VALUES (p_agent, p_at, p_sha256, p_size, p_patch, p_document, p_bytes);
    DELETE FROM cardea.card_versions WHERE number IN (
        SELECT number FROM cardea.card_versions WHERE agent = p_agent ORDER BY number DESC OFFSET p_kept);
    RETURN 0;
END $f$;

-- By itself, because it looks at all of them: no write waits for it.
CREATE FUNCTION cardea.trim_card_versions(p_most bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
    IF (SELECT sum(bytes) FROM cardea.card_versions) > p_most THEN
        DELETE FROM cardea.card_versions WHERE number IN (
            SELECT number FROM (SELECT number, sum(bytes) OVER (ORDER BY number DESC) AS all_since FROM cardea.card_versions) AS each
            WHERE all_since > p_most);
    END IF;
END $f$;

-- Of a word each part stays as it was first, once it is not zero; but the replica that has seen how the task was created is right at once
-- (`p_created`). Whoever knows it differently hears of it.
CREATE FUNCTION cardea.keep_tasks(
    p_token bytea, p_patience bigint, p_reads bigint, p_names bigint[], p_words bigint[], p_seen bigint[], p_owner bigint, p_home bigint,
    p_created bigint)
RETURNS bigint LANGUAGE plpgsql AS $f$
DECLARE base bigint;
BEGIN
    base := cardea.begin_write('tasks', cardinality(p_names), p_token, p_patience, p_reads);
    INSERT INTO cardea.tasks AS t (name, word, seen, number)
    SELECT DISTINCT ON (a) a, w, s, base + n FROM unnest(p_names, p_words, p_seen) WITH ORDINALITY AS each (a, w, s, n)
    ORDER BY a, n DESC
    ON CONFLICT (name) DO UPDATE
    SET seen = greatest(t.seen, excluded.seen),
        word = CASE WHEN t.word & p_created < excluded.word & p_created THEN excluded.word
            ELSE (CASE WHEN t.word & p_owner <> 0 THEN t.word ELSE excluded.word END & p_owner)
                | (CASE WHEN t.word & p_home <> 0 THEN t.word ELSE excluded.word END & p_home) | (t.word & p_created)
                | (excluded.word & ~(p_owner | p_home | p_created)) END,
        number = CASE WHEN (t.word # excluded.word) & (p_owner | p_home | p_created) <> 0 THEN excluded.number ELSE t.number END;
    PERFORM pg_notify('cardea', '');
    RETURN base;
END $f$;

CREATE FUNCTION cardea.trim_tasks(p_token bytea, p_patience bigint, p_reads bigint, p_since bigint, p_most bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM cardea.begin_write('tasks', 0, p_token, p_patience, p_reads);
    DELETE FROM cardea.tasks
    WHERE seen < p_since OR name IN (SELECT name FROM cardea.tasks ORDER BY seen DESC, name DESC OFFSET p_most);
    RETURN 0;
END $f$;

CREATE FUNCTION cardea.keep_document(
    p_token bytea, p_patience bigint, p_reads bigint, p_kind text, p_name bytea, p_agent text, p_text bytea,
    p_applied bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE given bigint;
BEGIN
    IF p_agent <> '' THEN
        PERFORM cardea.hold_agents(p_patience);
    END IF;
    given := cardea.begin_write('documents', 1, p_token, p_patience, p_reads) + 1;
    IF p_agent <> '' AND cardea.is_removed(p_agent, p_applied) THEN
        RETURN given;
    END IF;
    INSERT INTO cardea.documents (kind, name, agent, text, number) VALUES (p_kind, p_name, p_agent, p_text, given)
    ON CONFLICT (kind, name) DO UPDATE
    SET agent = excluded.agent, text = excluded.text, number = excluded.number, dropped = NULL;
    PERFORM pg_notify('cardea', '');
    RETURN given;
END $f$;

CREATE FUNCTION cardea.drop_document(p_token bytea, p_patience bigint, p_reads bigint, p_kind text, p_name bytea) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE given bigint;
BEGIN
    given := cardea.begin_write('documents', 1, p_token, p_patience, p_reads) + 1;
    UPDATE cardea.documents SET text = NULL, dropped = clock_timestamp(), number = given
    WHERE kind = p_kind AND name = p_name AND text IS NOT NULL;
    PERFORM pg_notify('cardea', '');
    RETURN given;
END $f$;

-- The first one stays, unless it is damaged: all have one length.
CREATE FUNCTION cardea.keep_session_key(p_token bytea, p_patience bigint, p_reads bigint, p_text text) RETURNS bigint
LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM cardea.begin_write('tombstones', 0, p_token, p_patience, p_reads);
    INSERT INTO cardea.keys (name, text) VALUES ('session', p_text)
    ON CONFLICT (name) DO UPDATE SET text = excluded.text WHERE length(keys.text) <> length(excluded.text);
    RETURN 0;
END $f$;

-- One of a lane that has others goes to their holder. 0: by its feed, which it may be behind of with the others of the lane.
CREATE FUNCTION cardea.keep_delivery(
    p_token bytea, p_patience bigint, p_reads bigint, p_replica bigint, p_id bytea, p_agent text, p_lane bytea, p_address bytea,
    p_body bytea, p_received bigint) RETURNS bigint
LANGUAGE plpgsql AS $f$
DECLARE given bigint; whose bigint; direct boolean;
BEGIN
    given := cardea.begin_write('deliveries', 1, p_token, p_patience, p_reads) + 1;
    SELECT holder, holder = p_replica AND accepted = p_replica AND moved = number INTO whose, direct
    FROM cardea.deliveries WHERE lane = p_lane ORDER BY number DESC LIMIT 1;
    IF NOT FOUND THEN
        whose := p_replica; direct := true;
    END IF;
    INSERT INTO cardea.deliveries (number, id, agent, lane, address, body, received, holder, moved, accepted)
    VALUES (given, p_id, p_agent, p_lane, p_address, p_body, p_received, whose, given, CASE WHEN direct THEN p_replica ELSE 0 END);
    IF direct THEN
        RETURN given;
    END IF;
    UPDATE cardea.tokens SET away = true WHERE token = p_token;
    PERFORM pg_notify('cardea', '');
    RETURN 0;
END $f$;
)sql";

}  // namespace

const std::array<postgres_migration, 1> postgres_migrations{{{first_schema, first_feed_functions}}};

}  // namespace store
