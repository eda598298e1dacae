#include "store/postgres_schema.hpp"

namespace store {

// What replicas tell each other; the writes are in postgres_sql.cpp.
constinit const std::string_view first_feed_functions = R"sql(
-- Whose latest beat is behind this lives. Time in which nobody could beat is nobody's silence, and afterwards all have 15 s to beat again.
CREATE FUNCTION cardea.live_since() RETURNS timestamptz LANGUAGE sql STABLE AS $f$
    SELECT CASE WHEN latest < clock_timestamp() - interval '6 s' THEN latest
        WHEN clock_timestamp() < resumed + interval '15 s' THEN paused ELSE clock_timestamp() END - interval '15 s'
    FROM cardea.meta, (SELECT max(at) AS latest FROM cardea.replicas) AS all_replicas
$f$;

CREATE FUNCTION cardea.beat(
    p_patience bigint, p_id bigint, p_name text, p_url text, p_version text, p_configuration text, p_applied bigint) RETURNS void
LANGUAGE plpgsql AS $f$
DECLARE gone bigint[]; base bigint; forgotten bigint; latest timestamptz; since timestamptz;
BEGIN
    PERFORM cardea.prepare(p_patience);
    latest := (SELECT max(at) FROM cardea.replicas);
    IF latest < clock_timestamp() - interval '6 s' THEN
        UPDATE cardea.meta SET paused = latest, resumed = clock_timestamp();
    END IF;
    INSERT INTO cardea.replicas (id, name, url, version, configuration, applied, at)
    VALUES (p_id, p_name, p_url, p_version, p_configuration, p_applied, clock_timestamp())
    ON CONFLICT (id) DO UPDATE
    SET name = excluded.name, url = excluded.url, version = excluded.version, configuration = excluded.configuration,
        applied = excluded.applied, at = excluded.at;
    since := cardea.live_since();
    gone := ARRAY(SELECT holder FROM (SELECT DISTINCT holder FROM cardea.deliveries) AS each
        WHERE NOT EXISTS (SELECT FROM cardea.replicas WHERE id = holder AND at > since));
    IF gone <> '{}' THEN
        PERFORM FROM cardea.feeds WHERE name = 'deliveries' FOR UPDATE;
        gone := ARRAY(SELECT each FROM unnest(gone) AS each
            WHERE NOT EXISTS (SELECT FROM cardea.replicas WHERE id = each AND at > since));
        base := cardea.raise_feed(
            'deliveries', (SELECT count(*) FROM cardea.deliveries WHERE holder = ANY (gone)), uuid_send(gen_random_uuid()));
        UPDATE cardea.deliveries AS d SET holder = p_id, moved = base + n
        FROM (SELECT number AS its, row_number() OVER (ORDER BY number) AS n FROM cardea.deliveries WHERE holder = ANY (gone)) AS each
        WHERE d.number = its;
    END IF;
    DELETE FROM cardea.replicas WHERE at < since - interval '1 h';
    DELETE FROM cardea.tokens
    WHERE at < clock_timestamp() - interval '10 min' AND (number IS NOT NULL OR at < clock_timestamp() - interval '1 day');
    WITH old AS (DELETE FROM cardea.documents WHERE dropped < clock_timestamp() - interval '1 h' RETURNING number)
    SELECT max(number) INTO forgotten FROM old;
    IF forgotten IS NOT NULL THEN
        UPDATE cardea.feeds SET number = greatest(number, forgotten) WHERE name = 'tombstones';
    END IF;
    PERFORM pg_notify('cardea', '');
END $f$;

CREATE FUNCTION cardea.leave(p_patience bigint, p_id bigint) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM cardea.prepare(p_patience);
    PERFORM FROM cardea.feeds WHERE name = 'deliveries' FOR UPDATE;
    UPDATE cardea.deliveries SET holder = 0 WHERE holder = p_id;
    DELETE FROM cardea.replicas WHERE id = p_id;
    PERFORM pg_notify('cardea', '');
END $f$;

-- Everything behind a position, in one snapshot. `kind` says what a row is: store/postgres_feed.cpp. Without the deliveries that the
-- replica has accepted for itself; without `p_all` a reload is only announced, because it takes its time. `p_marks`: feeds besides that of agents as the replica saw them last. Their next write must say that it came
-- behind that, or the database is not the one that the replica saw.
CREATE FUNCTION cardea.poll(
    p_replica bigint, p_agents bigint, p_token bytea, p_cards bigint, p_tasks bigint, p_documents bigint, p_deliveries bigint,
    p_most bigint, p_marks text[], p_numbers bigint[], p_tokens bytea[], p_all boolean)
RETURNS TABLE (
    kind bigint, n1 bigint, n2 bigint, n3 bigint, n4 bigint, n5 bigint, n6 bigint, b1 bytea, b2 bytea, b3 bytea, b4 bytea, b5 bytea,
    b6 bytea)
LANGUAGE plpgsql STABLE AS $f$
DECLARE f record; mine bytea; reload bigint; latest bigint; none bytea := NULL; zero bigint := 0;
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this server only follows another' USING ERRCODE = '25006';
    END IF;
    SELECT max(number) FILTER (WHERE name = 'agents') AS agents, max(number) FILTER (WHERE name = 'cards') AS cards,
        max(number) FILTER (WHERE name = 'tasks') AS tasks, max(number) FILTER (WHERE name = 'documents') AS documents,
        max(number) FILTER (WHERE name = 'deliveries') AS deliveries, max(number) FILTER (WHERE name = 'tombstones') AS tombstones
    INTO f FROM cardea.feeds;
    IF f.agents + f.cards + f.tasks + f.documents + f.deliveries + f.tombstones IS NULL THEN
        RAISE EXCEPTION 'cardea.feeds lacks a row' USING ERRCODE = 'XX001';
    END IF;
    reload := (
        SELECT max(CASE WHEN now.number < mark.number OR (now.number = mark.number AND now.token <> mark.token) THEN 2
            WHEN now.number = mark.number OR (later.first = mark.number AND later.before = mark.token) THEN 0
            WHEN later.first IS NULL OR later.first > mark.number THEN 1 ELSE 2 END)
        FROM unnest(p_marks, p_numbers, p_tokens) AS mark (name, number, token) JOIN cardea.feeds AS now ON now.name = mark.name
        LEFT JOIN LATERAL (SELECT first, before FROM cardea.tokens AS t WHERE t.feed = mark.name AND t.number > mark.number
            ORDER BY t.number LIMIT 1) AS later ON now.number > mark.number);
    mine := (SELECT token FROM cardea.changes WHERE version = p_agents);
    IF f.agents < p_agents OR mine <> p_token THEN
        reload := 2;
    ELSIF reload = 0 AND (f.tombstones > p_documents OR (mine IS NULL AND f.agents > p_agents
        AND (p_token <> '' OR NOT EXISTS (SELECT FROM cardea.changes WHERE version = p_agents + 1)))) THEN
        reload := 1;
    END IF;
    IF reload <> 0 THEN
        p_cards := f.cards; p_tasks := 0; p_deliveries := 0;  -- each replica has its own cards, and knows how old they are
    END IF;
    RETURN QUERY SELECT 8::bigint, number, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, zero, zero, zero, zero, convert_to(name, 'UTF8'), token, none, none, none, none
    FROM cardea.feeds WHERE name = ANY (p_marks);
    RETURN QUERY SELECT zero, reload, f.agents, f.cards, f.tasks, f.documents, f.deliveries,
        (SELECT token FROM cardea.changes WHERE version = f.agents), none, none, none, none, none;
    IF reload <> 0 AND NOT p_all THEN
        RETURN;
    ELSIF reload <> 0 THEN
        RETURN QUERY SELECT 2::bigint, version, written, zero, zero, zero, zero, convert_to(id, 'UTF8'), convert_to(definition, 'UTF8'),
            none, none, none, none
        FROM cardea.agents ORDER BY id;
    ELSIF f.agents > p_agents THEN
        latest := (
            SELECT max(version) FROM (
                SELECT version, sum(coalesce(octet_length(definition), 0)) OVER (ORDER BY c.version) - coalesce(octet_length(definition), 0)
                    AS before
                FROM (SELECT changes.version, agent FROM cardea.changes WHERE changes.version > p_agents ORDER BY 1 LIMIT p_most) AS c
                LEFT JOIN (SELECT id, definition FROM cardea.agents) AS a ON id = agent) AS each
            WHERE before < 16777216);
        RETURN QUERY SELECT 1::bigint, version, at, action::bigint, replica, zero, zero, convert_to(who, 'UTF8'),
            convert_to(agent, 'UTF8'), token, none, none, none
        FROM cardea.changes WHERE version > p_agents AND version <= latest ORDER BY version;
        RETURN QUERY SELECT 2::bigint, version, written, zero, zero, zero, zero, convert_to(id, 'UTF8'), convert_to(definition, 'UTF8'),
            none, none, none, none
        FROM cardea.agents
        WHERE id IN (SELECT agent FROM cardea.changes AS c WHERE c.version > p_agents AND c.version <= latest);
    END IF;
    IF f.cards > p_cards THEN
        RETURN QUERY SELECT 3::bigint, number, fetched, fresh_for, zero, zero, zero, convert_to(agent, 'UTF8'),
            convert_to(source, 'UTF8'), document, convert_to(url, 'UTF8'), etag, last_modified
        FROM (SELECT *, sum(octet_length(document)) OVER (ORDER BY number) - octet_length(document) AS before
              FROM (SELECT * FROM cardea.cards WHERE number > p_cards ORDER BY number LIMIT p_most) AS page) AS each
        WHERE before < 16777216 ORDER BY number;
    END IF;
    IF f.tasks > p_tasks THEN
        RETURN QUERY SELECT 4::bigint, number, name, word, seen, zero, zero, none, none, none, none, none, none
        FROM cardea.tasks WHERE number > p_tasks ORDER BY number LIMIT p_most;
    END IF;
    IF reload <> 0 THEN
        RETURN QUERY SELECT 5::bigint, number, zero, zero, zero, zero, zero, convert_to(d.kind, 'UTF8'), name,
            convert_to(agent, 'UTF8'), text, none, none
        FROM cardea.documents AS d ORDER BY d.kind, name;
    ELSIF f.documents > p_documents THEN
        RETURN QUERY SELECT 5::bigint, number, zero, zero, zero, zero, zero, convert_to(d.kind, 'UTF8'), name,
            convert_to(agent, 'UTF8'), text, none, none
        FROM cardea.documents AS d WHERE number > p_documents ORDER BY number LIMIT p_most;
    END IF;
    IF f.deliveries > p_deliveries THEN
        RETURN QUERY SELECT 6::bigint, moved, number, octet_length(body)::bigint, received, zero, zero, id, convert_to(agent, 'UTF8'),
            lane, none, none, none
        FROM cardea.deliveries
        WHERE holder = p_replica AND moved > p_deliveries AND NOT (accepted = p_replica AND moved = number)
        ORDER BY moved LIMIT p_most;
    END IF;
    RETURN QUERY SELECT 7::bigint, id, applied, greatest(0, extract(epoch FROM clock_timestamp() - at) * 1000)::bigint, zero, zero,
        zero, convert_to(name, 'UTF8'), convert_to(url, 'UTF8'), convert_to(version, 'UTF8'), convert_to(configuration, 'UTF8'), none,
        none
    FROM cardea.replicas WHERE at > cardea.live_since() ORDER BY name, id;
END $f$;
)sql";

}  // namespace store
