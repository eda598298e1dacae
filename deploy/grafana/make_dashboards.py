#!/usr/bin/python3
"""Writes dashboards/*.json, the five dashboards for Grafana 10 or newer. A dashboard is rows of panels: change them here and
run this again; tests/deploy/check_dashboards.py compares. `--output FOLDER` writes them somewhere else."""

import argparse
import json
import pathlib

WIDTH = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
GATEWAY = 'job="$job"'
AGENT = 'job="$job", agent=~"$agent"'
NOT_OK = 'outcome!="ok"'
INSTANCE = 'job="$job", instance=~"$instance"'
RED_FROM_ONE = [("green", None), ("red", 1)]
GREEN_FROM_ONE = [("red", None), ("green", 1)]


def panel(title, description, unit, queries, *, kind="timeseries", width=8, height=8, steps=None, names=None, stack=False):
    """`queries`: (expression, legend). `steps`: (colour, from which value). `names`: text instead of a value."""
    return {"title": title, "description": description, "unit": unit, "queries": queries, "kind": kind, "width": width,
            "height": height, "steps": steps, "names": names, "stack": stack}


def stat(title, description, unit, expression, **more):
    return panel(title, description, unit, [(expression, "")], kind="stat", width=more.pop("width", 4), height=4, **more)


def rate(metric, labels, by, where=""):
    selector = ", ".join(part for part in (labels, where) if part)
    return f"sum by ({by}) (rate({metric}{{{selector}}}[$__rate_interval]))"


def quantile(of, metric, labels, by="agent"):
    return f"histogram_quantile({of}, sum by ({by}, le) (rate({metric}_bucket{{{labels}}}[$__rate_interval])))"


def error_ratio(labels, by):
    failed = rate("cardea_agent_calls_total", labels, by, 'outcome=~"upstream_error|gateway_error"')
    return f"{failed} / ({rate('cardea_agent_calls_total', labels, by)} > 0)"


OVERVIEW = ("overview", "Cardea: overview", "What callers get, and which agents are in trouble.", "agent", [
    ("Now", [
        stat("Gateways ready", "Gateways whose /readyz says ready. 0 or no value: nobody is served.", "none",
             f"sum(cardea_ready{{{GATEWAY}}})", steps=GREEN_FROM_ONE),
        stat("Agents", "Agents that can be reached.", "none", f"max(cardea_agents{{{GATEWAY}}})"),
        stat("Unhealthy agents", "Agents without a card that can be served, or without a session.", "none",
             f'sum(max by (agent) (cardea_agent_status{{{AGENT}, status="unhealthy"}}))', steps=RED_FROM_ONE),
        stat("Degraded agents", "Agents that work in part: an older card, failing calls, a session that misses something.",
             "none", f'sum(max by (agent) (cardea_agent_status{{{AGENT}, status="degraded"}}))',
             steps=[("green", None), ("orange", 1)]),
        stat("Failed calls", "The share of calls that failed at the agent or in the gateway. What callers did wrong is not in it.",
             "percentunit", error_ratio(AGENT, "job"), steps=[("green", None), ("orange", 0.01), ("red", 0.05)]),
        stat("Requests in flight", "Requests of callers that have no complete answer yet, streams included.", "none",
             f"sum(cardea_requests_in_flight{{{GATEWAY}}})"),
    ]),
    ("Calls", [
        panel("Calls by outcome", "Calls and messages to MCP servers. `caller_error`: the request was wrong.", "reqps",
              [(rate("cardea_agent_calls_total", AGENT, "outcome"), "{{outcome}}")], stack=True),
        panel("Failed calls by agent", "The share that failed at the agent or in the gateway.", "percentunit",
              [(error_ratio(AGENT, "agent"), "{{agent}}")]),
        panel("99 % of the calls are faster", "Time from a call to the end of its answer, without streams.", "s",
              [(quantile(0.99, "cardea_agent_request_duration_seconds", AGENT), "{{agent}}"),
               (quantile(0.99, "cardea_mcp_request_seconds", AGENT), "{{agent}} (MCP)")]),
        panel("Calls by agent", "Which agents are called most.", "reqps",
              [(rate("cardea_agent_calls_total", AGENT, "agent"), "{{agent}}")]),
        panel("Open event streams", "Streams that agents send to callers now.", "none",
              [(f"sum by (agent) (cardea_streams_active{{{AGENT}}})", "{{agent}}")]),
        panel("Answers by HTTP status", "All requests of callers, those for cards and the directory too.", "reqps",
              [(rate("cardea_http_requests_total", GATEWAY, "code"), "{{code}}")], stack=True),
    ]),
    ("Load", [
        panel("Overload", "0: none. 1: cards are not fetched ahead. 2: no new streams, no large calls. 3: no new calls.", "none",
              [(f"max by (instance) (cardea_overload_level{{{GATEWAY}}})", "{{instance}}")]),
        panel("Refused for load", "Calls that got 503 `overloaded`, by reason.", "reqps",
              [(rate("cardea_shed_total", GATEWAY, "reason"), "{{reason}}")], stack=True),
        panel("Time in the queue", "99 % of the calls had a place at their agent after this time.", "s",
              [(quantile(0.99, "cardea_queue_seconds", GATEWAY, "instance"), "{{instance}}")]),
        panel("Calls that were sent again", "By reason. `unconnected`: another endpoint got the call at once.", "reqps",
              [(rate("cardea_retries_total", GATEWAY, "reason"), "{{reason}}")], stack=True),
    ]),
    ("Agents", [
        panel("Status of agents", "One line an agent. Grey: unknown, for example never fetched.", "none",
              [(f'max by (agent) (cardea_agent_status{{{AGENT}, status="healthy"}} * 1'
                f' or cardea_agent_status{{{AGENT}, status="degraded"}} * 2'
                f' or cardea_agent_status{{{AGENT}, status="unhealthy"}} * 3'
                f' or cardea_agent_status{{{AGENT}, status="contained"}} * 4)', "{{agent}}")],
              kind="state-timeline", width=16, height=10,
              names={"0": ("unknown", "gray"), "1": ("healthy", "green"), "2": ("degraded", "orange"), "3": ("unhealthy", "red"),
                     "4": ("contained", "blue")}),
        panel("What agents are", "Name, protocol and version, as their cards and sessions say.", "none",
              [(f"max by (agent, name, protocol, version, source) (cardea_agent_info{{{AGENT}}})", "")], kind="table", height=10),
    ]),
    ("Callers", [
        panel("Credentials", "Requests by what became of their credential. Only with `access.providers`.", "reqps",
              [(rate("cardea_access_total", GATEWAY, "outcome"), "{{outcome}}")]),
        panel("Denied", "Requests that access denied, by reason.", "reqps",
              [(rate("cardea_denied_total", GATEWAY, "reason"), "{{reason}}")]),
        panel("Contained", "Agents and principals that operators have stopped now.", "none",
              [(f"max by (kind) (cardea_contained{{{GATEWAY}}})", "{{kind}}")]),
        panel("Cut by containments", "Calls, streams and sessions that a containment has ended.", "none",
              [(rate("cardea_contained_cut_total", GATEWAY, "kind"), "{{kind}}")]),
        panel("Over a rate limit", "Requests that got 429, by the limit.", "reqps",
              [(rate("cardea_rate_limited_total", GATEWAY, "limit"), "{{limit}}")]),
    ]),
])

ONE_AGENT = ("agent", "Cardea: one agent", "Everything about one agent. Choose it at the top.", "agent", [
    ("Now", [
        stat("Status", "As `cardea agents health` says.", "none",
             f'max(cardea_agent_status{{{AGENT}, status="healthy"}} * 1 or cardea_agent_status{{{AGENT}, status="degraded"}} * 2'
             f' or cardea_agent_status{{{AGENT}, status="unhealthy"}} * 3'
             f' or cardea_agent_status{{{AGENT}, status="contained"}} * 4)',
             names={"0": ("unknown", "gray"), "1": ("healthy", "green"), "2": ("degraded", "orange"), "3": ("unhealthy", "red"),
                     "4": ("contained", "blue")}),
        stat("Calls", "Calls and messages each second.", "reqps", rate("cardea_agent_calls_total", AGENT, "job")),
        stat("Failed calls", "The share that failed at the agent or in the gateway.", "percentunit", error_ratio(AGENT, "job"),
             steps=[("green", None), ("orange", 0.01), ("red", 0.05)]),
        stat("Budget burnt", "How many times faster than allowed the last hour used the error budget of a month.", "none",
             f"max(agent:cardea_call_errors:burn1h{{{AGENT}}})", steps=[("green", None), ("orange", 1), ("red", 14.4)]),
        stat("Age of the card", "Since the card was fetched or confirmed.", "s", f"max(cardea_card_age_seconds{{{AGENT}}})"),
        stat("Open streams", "Event streams that the agent sends now.", "none", f"sum(cardea_streams_active{{{AGENT}}})"),
    ]),
    ("Calls", [
        panel("Calls by method", "Methods of A2A.", "reqps",
              [(rate("cardea_agent_requests_total", AGENT, "rpc_method"), "{{rpc_method}}")], stack=True),
        panel("Calls by outcome", "`upstream_error`: the agent failed. `gateway_error`: the gateway did.", "reqps",
              [(rate("cardea_agent_calls_total", AGENT, "outcome"), "{{outcome}}")], stack=True),
        panel("Errors of the agent", "By reason: a code of the table of answers.", "reqps",
              [(rate("cardea_upstream_errors_total", AGENT, "reason"), "{{reason}}")]),
        panel("Duration", "Time to the end of the answer, without streams.", "s",
              [(quantile(q, "cardea_agent_request_duration_seconds", AGENT), f"{round(q * 100)} %") for q in (0.5, 0.9, 0.99)]),
        panel("Time to the first byte", "Time until the agent's answer began, streams included.", "s",
              [(quantile(q, "cardea_agent_time_to_first_byte_seconds", AGENT), f"{round(q * 100)} %") for q in (0.5, 0.9, 0.99)]),
        panel("Ended streams", "`complete` is good. `upstream`: the agent broke off. `idle`: it was silent for too long.", "reqps",
              [(rate("cardea_streams_ended_total", AGENT, "reason"), "{{reason}}")]),
        panel("Waiting calls", "Calls that wait until another one of the agent ends.", "none",
              [(f"sum by (agent) (cardea_queue_length{{{AGENT}}})", "{{agent}}")]),
        panel("Endpoints", "Red: calls keep away from it. Orange: one call tries whether it works again.", "none",
              [(f'max by (agent, endpoint) (cardea_endpoint_state{{{AGENT}, state="closed"}} * 1'
                f' or cardea_endpoint_state{{{AGENT}, state="half_open"}} * 2'
                f' or cardea_endpoint_state{{{AGENT}, state="open"}} * 3)', "{{endpoint}}")],
              kind="state-timeline",
              names={"1": ("closed", "green"), "2": ("half open", "orange"), "3": ("open", "red")}),
        panel("Opened breakers", "How often calls were kept away from an endpoint.", "reqps",
              [(rate("cardea_breaker_openings_total", AGENT, "endpoint"), "{{endpoint}}")]),
        panel("Calls by gRPC", "By the status that callers got.", "reqps",
              [(rate("cardea_grpc_calls_total", AGENT, "status"), "{{status}}")], stack=True),
        panel("Rounded numbers", "Numbers of answers by gRPC that no double equals, in translation.", "none",
              [(rate("cardea_grpc_numbers_rounded_total", AGENT, "agent"), "{{agent}}")]),
        panel("Tasks by state", "Tasks that came to a state, as answers of the agent show. Only with `access.providers` or `push: mediate`.",
              "reqps", [(rate("cardea_task_states_total", AGENT, "state"), "{{state}}")]),
    ]),
    ("Its card and its credentials", [
        panel("Requests for the card", "What the cache had. `stale`: callers got an older card.", "reqps",
              [(rate("cardea_card_cache_total", AGENT, "result"), "{{result}}")]),
        panel("Fetches of the card", "By outcome. Everything but `ok` and `not_modified` is a failure.", "reqps",
              [(rate("cardea_card_fetch_total", AGENT, "outcome"), "{{outcome}}")]),
        panel("Tokens for the agent", "Requests to its OAuth server (`credentials.oauth2`).", "reqps",
              [(rate("cardea_agent_token_refreshes_total", AGENT, "outcome"), "{{outcome}}")]),
        panel("Age of the token", "Since the token in use came.", "s",
              [(f"max by (agent) (cardea_agent_token_age_seconds{{{AGENT}}})", "{{agent}}")]),
    ]),
])

CARDS = ("cards", "Cardea: cards", "Cards of agents: fresh, stale, failing, changing.", "agent", [
    ("Callers", [
        panel("Served from the cache", "The share of requests for cards that needed no fetch.", "percentunit",
              [(rate("cardea_card_cache_total", AGENT, "job", 'result="hit"')
                + f" / ({rate('cardea_card_cache_total', AGENT, 'job')} > 0)", "from the cache")]),
        panel("Requests for cards", "What the cache had, all agents together.", "reqps",
              [(rate("cardea_card_cache_total", AGENT, "result"), "{{result}}")], stack=True),
        panel("Stale cards served", "Callers get an older card because the agent fails.", "reqps",
              [(rate("cardea_card_cache_total", AGENT, "agent", 'result="stale"'), "{{agent}}")]),
    ]),
    ("Agents", [
        panel("Fetches", "By outcome, all agents together.", "reqps",
              [(rate("cardea_card_fetch_total", AGENT, "outcome"), "{{outcome}}")]),
        panel("Failed fetches", "By agent.", "reqps",
              [(rate("cardea_card_fetch_total", AGENT, "agent", 'outcome!~"ok|not_modified"'), "{{agent}}")]),
        panel("Age of cards", "Since a card was fetched or confirmed.", "s",
              [(f"max by (agent) (cardea_card_age_seconds{{{AGENT}}})", "{{agent}}")]),
        panel("Changes within an hour", "How often a different card was published. More than ten is an alert.", "none",
              [(f"sum by (agent) (increase(cardea_card_changes_total{{{AGENT}}}[1h]))", "{{agent}}")]),
        panel("Problems of cards", "What is wrong with the agents' own cards, as `cardea card lint` says.", "none",
              [(f"max by (agent, severity) (cardea_card_problems{{{AGENT}}})", "{{agent}}: {{severity}}")]),
    ]),
])

MCP = ("mcp", "Cardea: MCP sessions", "Sessions with MCP servers, and what callers do with them.", "agent", [
    ("Sessions", [
        panel("Session", "One line a server. Red: no session.", "none",
              [(f"min by (agent) (cardea_mcp_session_up{{{AGENT}}})", "{{agent}}")], kind="state-timeline", width=16,
              names={"0": ("down", "red"), "1": ("up", "green")}),
        panel("State", "The state of each session now.", "none",
              [(f"max by (agent, state) (cardea_mcp_session_state{{{AGENT}}} == 1)", "")], kind="table"),
        panel("Lost sessions", "By reason; sessions that could not start are in it.", "reqps",
              [(rate("cardea_mcp_session_losses_total", AGENT, "agent, reason"), "{{agent}}: {{reason}}")]),
        panel("Attempts and restarts", "Attempts to connect, and connections that were made after the first.", "reqps",
              [(rate("cardea_mcp_attempts_total", AGENT, "agent"), "{{agent}}: attempts"),
               (rate("cardea_mcp_session_restarts_total", AGENT, "agent"), "{{agent}}: restarts")]),
        panel("Latest handshake", "How long the latest handshake took.", "s",
              [(f"max by (agent) (cardea_mcp_initialize_seconds{{{AGENT}}})", "{{agent}}")]),
        panel("Walks over the lists", "`incomplete` and `failed`: a list cannot be read.", "reqps",
              [(rate("cardea_mcp_list_refreshes_total", AGENT, "outcome"), "{{outcome}}")]),
    ]),
    ("Messages", [
        panel("Messages with servers", "Those of the gateway's own sessions.", "reqps",
              [(rate("cardea_mcp_messages_total", AGENT, "agent, direction"), "{{agent}}: {{direction}}")]),
        panel("Refused messages", "What servers sent that is no message of MCP.", "reqps",
              [(rate("cardea_mcp_messages_refused_total", AGENT, "agent"), "{{agent}}")]),
        panel("Not read by the program", "What waits for a program that does not read its stdin.", "bytes",
              [(f"max by (agent) (cardea_mcp_write_queue_bytes{{{AGENT}}})", "{{agent}}")]),
    ]),
    ("Callers", [
        panel("Messages by method", "Messages that callers posted.", "reqps",
              [(rate("cardea_mcp_requests_total", AGENT, "method"), "{{method}}")], stack=True),
        panel("Messages by era and outcome", "`legacy`: with sessions, up to 2025-11-25. `modern`: without.", "reqps",
              [(rate("cardea_mcp_requests_total", AGENT, "era, outcome"), "{{era}}: {{outcome}}")]),
        panel("Duration", "Time to the end of the answer, without requests that stay open.", "s",
              [(quantile(q, "cardea_mcp_request_seconds", AGENT), f"{{{{agent}}}}: {round(q * 100)} %") for q in (0.5, 0.99)]),
        panel("Calls of tools", "The ten tools that are called most.", "reqps",
              [(f"topk(10, {rate('cardea_mcp_tool_calls_total', AGENT, 'agent, tool')})", "{{agent}}: {{tool}}")]),
        panel("Errors of tools", "Results with `isError: true`, and calls without a result.", "reqps",
              [(f"topk(10, {rate('cardea_mcp_tool_calls_total', AGENT, 'agent, tool, outcome', NOT_OK)})",
                "{{agent}}: {{tool}}, {{outcome}}")]),
        panel("Hidden tools", "Tools that the server lists and callers do not get.", "none",
              [(f"max by (agent) (cardea_mcp_tools_hidden{{{AGENT}}})", "{{agent}}")]),
        panel("Sessions of callers", "Sessions with programs, and programs that wait for clients.", "none",
              [(f"sum by (agent) (cardea_mcp_client_sessions{{{AGENT}}})", "{{agent}}"),
               (f"sum by (agent) (cardea_mcp_warm_programs{{{AGENT}}})", "{{agent}}: waiting")]),
        panel("Ended sessions of callers", "By reason. `lost`: the server lost it, and it did not begin again.", "reqps",
              [(rate("cardea_mcp_client_sessions_ended_total", GATEWAY, "reason"), "{{reason}}")]),
        panel("Translated messages", "Between clients and servers of different eras, by the client's era.", "reqps",
              [(rate("cardea_mcp_translated_total", AGENT, "agent, era"), "{{agent}}: {{era}}")]),
        panel("Calls that wait for their client", "The server has asked for input; the client has not answered yet.", "none",
              [(f"sum by (instance) (cardea_mcp_parked_calls{{{GATEWAY}}})", "{{instance}}")]),
        panel("Questions of servers", "`passed` to a client, or `answered` by the gateway.", "reqps",
              [(rate("cardea_mcp_server_requests_total", GATEWAY, "method, outcome"), "{{method}}: {{outcome}}")]),
        panel("Recovered sessions", "Sessions that a server had lost and that began again behind the caller's id.", "reqps",
              [(rate("cardea_mcp_recoveries_total", GATEWAY, "instance"), "{{instance}}")]),
    ]),
    ("Bundles and bridges", [
        panel("Messages to bundles", "By outcome. `upstream_error`: a member did not answer.", "reqps",
              [(rate("cardea_bundle_requests_total", GATEWAY, "bundle, outcome"), "{{bundle}}: {{outcome}}")]),
        panel("Tools of bundles", "Tools that a bundle shows to somebody.", "none",
              [(f"max by (bundle) (cardea_bundle_tools{{{GATEWAY}}})", "{{bundle}}")]),
        panel("Searches for tools", "`nothing`: no tool was near. `unknown_name`: a model made a name up.", "reqps",
              [(rate("cardea_bundle_searches_total", GATEWAY, "bundle, outcome"), "{{bundle}}: {{outcome}}")]),
        panel("Tasks of bridges", "Tasks of callers who speak the other protocol than the agent, by direction and state.", "none",
              [(f"sum by (agent, direction, state) (cardea_bridge_tasks{{{AGENT}}})", "{{agent}} {{direction}}: {{state}}")]),
    ]),
])

ITSELF = ("gateway", "Cardea: the gateway itself", "Resources, configuration, connections and losses of the process.", "instance", [
    ("Now", [
        stat("Ready", "1: /readyz says ready.", "none", f"min(cardea_ready{{{INSTANCE}}})", steps=GREEN_FROM_ONE),
        stat("Running for", "Since the gateway started.", "s", f"time() - max(cardea_start_time_seconds{{{INSTANCE}}})"),
        stat("Configuration", "1: the latest reload was accepted. 0: the gateway runs with the previous configuration.", "none",
             f"min(cardea_config_last_reload_successful{{{INSTANCE}}})", steps=GREEN_FROM_ONE),
        stat("Restart needed", "1: settings have changed that only a restart applies.", "none",
             f"max(cardea_config_restart_needed{{{INSTANCE}}})", steps=[("green", None), ("orange", 1)]),
        stat("Age of the configuration", "Since the configuration in use was read.", "s",
             f"time() - min(cardea_config_last_success_timestamp_seconds{{{INSTANCE}}})"),
        stat("Certificates end in", "The first certificate of a listener that ends.", "s",
             f"min(cardea_tls_certificate_not_after_timestamp_seconds{{{INSTANCE}}}) - time()",
             steps=[("red", None), ("orange", 2 * 86400), ("green", 14 * 86400)]),
        panel("Versions", "Of each gateway, with its compiler.", "none",
              [(f"max by (instance, version, revision, compiler) (cardea_build_info{{{INSTANCE}}})", "")], kind="table", width=12,
              height=5),
        panel("Reloads", "`refused`: the file had problems and nothing has changed.", "none",
              [(f"sum by (outcome) (increase(cardea_config_reloads_total{{{INSTANCE}}}[$__rate_interval]))", "{{outcome}}")],
              width=12, height=5),
    ]),
    ("Resources", [
        panel("CPU", "Cores that the process uses.", "none",
              [(rate("process_cpu_seconds_total", INSTANCE, "instance"), "{{instance}}")]),
        panel("Memory", "Resident and virtual.", "bytes",
              [(f"process_resident_memory_bytes{{{INSTANCE}}}", "{{instance}}: resident"),
               (f"process_virtual_memory_bytes{{{INSTANCE}}}", "{{instance}}: virtual")]),
        panel("File descriptors", "The share in use. Over 80 % is an alert; at 100 % callers are refused.", "percentunit",
              [(f"process_open_fds{{{INSTANCE}}} / process_max_fds{{{INSTANCE}}}", "{{instance}}")]),
        panel("Threads", "Of the process, without the programs of MCP servers.", "none",
              [(f"process_threads{{{INSTANCE}}}", "{{instance}}")]),
        panel("Writes of the store", "By outcome. Everything but `ok` is a failure.", "reqps",
              [(rate("cardea_store_writes_total", INSTANCE, "outcome"), "{{outcome}}")]),
        panel("Lost lines", "Lines of the log and of the audit that are lost.", "reqps",
              [(rate("cardea_log_lines_dropped_total", INSTANCE, "instance"), "{{instance}}: log"),
               (rate("cardea_audit_dropped_total", INSTANCE, "instance"), "{{instance}}: audit")]),
    ]),
    ("Connections and requests", [
        panel("Connections", "Of callers, and idle ones to agents.", "none",
              [(f"cardea_connections_open{{{INSTANCE}}}", "{{instance}}: callers"),
               (f"cardea_upstream_connections_idle{{{INSTANCE}}}", "{{instance}}: idle to agents")]),
        panel("Refused connections", "Callers for whom there was no room.", "reqps",
              [(rate("cardea_connections_refused_total", INSTANCE, "instance"), "{{instance}}")]),
        panel("TLS handshakes", "Of callers, by outcome.", "reqps",
              [(rate("cardea_tls_handshakes_total", INSTANCE, "outcome"), "{{outcome}}")]),
        panel("Requests by route", "By the kind of address that was requested.", "reqps",
              [(rate("cardea_http_requests_total", INSTANCE, "route"), "{{route}}")], stack=True),
        panel("Duration by route", "99 % of the requests are faster.", "s",
              [(quantile(0.99, "cardea_http_request_duration_seconds", INSTANCE, "route"), "{{route}}")]),
        panel("Failed lookups", "Names of agents that could not be looked up, or not in time.", "reqps",
              [(rate("cardea_dns_failures_total", INSTANCE, "instance"), "{{instance}}")]),
        panel("Hand-overs", "To a new process, by outcome.", "none",
              [(f"sum by (outcome) (increase(cardea_handovers_total{{{INSTANCE}}}[$__rate_interval]))", "{{outcome}}")]),
        panel("Bytes", "From and to callers.", "Bps",
              [(rate("cardea_request_bytes_total", INSTANCE, "instance"), "{{instance}}: received"),
               (rate("cardea_response_bytes_total", INSTANCE, "instance"), "{{instance}}: sent")]),
    ]),
    ("HTTP/2", [
        panel("Connections", "Of HTTP/2, with callers and with agents.", "none",
              [(f"sum by (instance, side) (cardea_http2_connections{{{INSTANCE}}})", "{{instance}}: {{side}}")]),
        panel("Streams", "Open, or reset with their work not ended yet.", "none",
              [(f"sum by (instance, side) (cardea_http2_streams{{{INSTANCE}}})", "{{instance}}: {{side}}")]),
        panel("Resets", "Streams that ended early, by whom and why.", "reqps",
              [(rate("cardea_http2_resets_total", INSTANCE, "side, by, code"), "{{side}} by {{by}}: {{code}}")]),
        panel("GOAWAY", "Connections that were ended, by whom and why. `no_error`: age, drain, no use.", "reqps",
              [(rate("cardea_http2_goaways_total", INSTANCE, "side, by, code"), "{{side}} by {{by}}: {{code}}")]),
        panel("Refused", "What went over a limit of HTTP/2.", "reqps",
              [(rate("cardea_http2_refused_total", INSTANCE, "limit"), "{{limit}}")]),
    ]),
    ("Store and replicas", [
        panel("Database", "1: the database that replicas share answers, and says when others have written. Only with such a store, "
              "as the panels beside it.", "none",
              [(f"cardea_store_up{{{INSTANCE}}}", "{{instance}}: answers"),
               (f"cardea_store_notify_up{{{INSTANCE}}}", "{{instance}}: notifies")]),
        panel("Replicas", "Gateways that live, as each of them sees it.", "none",
              [(f"cardea_replicas{{{INSTANCE}}}", "{{instance}}")]),
        panel("Lag", "How old what the database was last asked for is. More than a few seconds: it does not answer.", "s",
              [(f"cardea_store_lag_seconds{{{INSTANCE}}}", "{{instance}}")]),
        panel("Applied version", "The latest change of agents in effect. Replicas that work have the same.", "none",
              [(f"cardea_store_applied_version{{{INSTANCE}}}", "{{instance}}")]),
        panel("Duration of writes", "99 % of the writes to the store are faster.", "s",
              [(quantile(0.99, "cardea_store_write_seconds", INSTANCE, "instance"), "{{instance}}")]),
        panel("Forwarded requests", "Of sessions that live in another replica, by what became of them.", "reqps",
              [(rate("cardea_forwarded_total", INSTANCE, "outcome"), "{{outcome}}")]),
        panel("Everything read again", "`regressed`: the database has lost changes.", "none",
              [(f"sum by (instance, reason) (increase(cardea_store_reloads_total{{{INSTANCE}}}[$__rate_interval]))",
                "{{instance}}: {{reason}}")]),
    ]),
    ("Push notifications and traces", [
        panel("Waiting notifications", "Push notifications that are not delivered yet. Only with `push: mediate`.", "none",
              [(f"cardea_push_queue{{{INSTANCE}}}", "{{instance}}")]),
        panel("Their bytes", "What waiting notifications take in the store.", "bytes",
              [(f"cardea_push_queue_bytes{{{INSTANCE}}}", "{{instance}}")]),
        panel("The oldest of them", "How long it has waited: its receiver does not answer, or is slow.", "s",
              [(f"cardea_push_oldest_seconds{{{INSTANCE}}}", "{{instance}}")]),
        panel("Deliveries", "Attempts by outcome. `retried`: another one follows.", "reqps",
              [(rate("cardea_push_attempts_total", INSTANCE, "outcome"), "{{outcome}}")]),
        panel("Spans", "Of recorded traces. Everything but `exported` is lost. Only with `trace.endpoint`.", "reqps",
              [(rate("cardea_trace_spans_total", INSTANCE, "outcome"), "{{outcome}}")]),
    ]),
    ("Keys", [
        panel("Age of key sets", "Since the keys were read that tokens of a provider are checked with.", "s",
              [(f"max by (provider) (cardea_key_set_age_seconds{{{INSTANCE}}})", "{{provider}}")]),
        panel("Keys of callers", "How long ago each key was used last.", "s",
              [(f"time() - max by (provider, key) (cardea_access_key_last_used_timestamp_seconds{{{INSTANCE}}})", "")], kind="table"),
        panel("Agents without series", "Agents beyond the first `metrics_agents` by id.",
              "none", [(f"max by (instance) (cardea_metrics_agents_omitted{{{INSTANCE}}})", "{{instance}}")]),
    ]),
])


def field_config(of):
    defaults = {"unit": of["unit"], "mappings": [], "color": {"mode": "palette-classic"}}
    if of["steps"]:
        defaults["color"] = {"mode": "thresholds"}
        defaults["thresholds"] = {"mode": "absolute", "steps": [{"color": color, "value": value} for color, value in of["steps"]]}
    if of["names"]:
        options = {value: {"text": text, "color": color, "index": i} for i, (value, (text, color)) in enumerate(of["names"].items())}
        defaults["mappings"] = [{"type": "value", "options": options}]
    if of["kind"] == "timeseries":
        defaults["min"] = 0
        custom = {"drawStyle": "line", "fillOpacity": 10, "lineWidth": 1, "showPoints": "never", "spanNulls": False}
        custom["stacking"] = {"mode": "normal" if of["stack"] else "none", "group": "A"}
        defaults["custom"] = custom
    return {"defaults": defaults, "overrides": []}


def options(kind):
    if kind == "timeseries":
        return {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}, "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "stat":
        return {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value", "graphMode": "none"}
    if kind == "state-timeline":
        return {"mergeValues": True, "showValue": "never", "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}}
    return {"showHeader": True}


def target(i, query, kind):
    expression, legend = query
    made = {"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression, "editorMode": "code"}
    if kind in ("stat", "table"):
        made.update(instant=True, range=False, format="table" if kind == "table" else "time_series")
    else:
        made.update(instant=False, range=True, legendFormat=legend)
    return made


def panel_json(of, number, x, y):
    made = {
        "id": number, "type": of["kind"], "title": of["title"], "description": of["description"], "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": of["width"], "h": of["height"]}, "fieldConfig": field_config(of),
        "options": options(of["kind"]), "targets": [target(i, query, of["kind"]) for i, query in enumerate(of["queries"])],
    }
    if of["kind"] == "table":  # only labels and the value
        made["transformations"] = [{"id": "organize", "options": {"excludeByName": {"Time": True}, "indexByName": {}, "renameByName": {}}}]
    return made


def layout(rows):
    """Panels from left to right; a new line begins when the next one does not fit."""
    panels, y = [], 0
    for title, members in rows:
        panels.append({"id": len(panels) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}})
        x, y, lowest = 0, y + 1, 0
        for member in members:
            if x + member["width"] > WIDTH:
                x, y, lowest = 0, y + lowest, 0
            panels.append(panel_json(member, len(panels) + 1, x, y))
            x, lowest = x + member["width"], max(lowest, member["height"])
        y += lowest
    return panels


def variables(choice, many):
    def query(name, label, text, **more):
        return {"type": "query", "name": name, "label": label, "datasource": SOURCE, "query": {"query": text, "refId": name},
                "refresh": 2, "sort": 1, "hide": 0, "regex": "", **more}

    source = {"agent": "cardea_agent_status", "instance": "cardea_ready"}[choice]
    several = {"multi": True, "includeAll": True, "allValue": ".*", "current": {"text": ["All"], "value": ["$__all"]}}
    return [
        {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "hide": 0, "regex": ""},
        query("job", "Job", "label_values(cardea_ready, job)"),
        query(choice, choice.capitalize(), f'label_values({source}{{job="$job"}}, {choice})', **(several if many else {})),
    ]


def dashboard(name, title, description, choice, rows):
    return {
        "uid": f"cardea-{name}", "title": title, "description": description, "tags": ["cardea"], "schemaVersion": 38, "version": 1,
        "editable": True, "graphTooltip": 1, "timezone": "browser", "refresh": "30s", "time": {"from": "now-1h", "to": "now"},
        "links": [{"type": "dashboards", "title": "Cardea", "tags": ["cardea"], "asDropdown": True, "includeVars": True,
                   "keepTime": True, "icon": "external link", "targetBlank": False, "tooltip": "", "url": ""}],
        "templating": {"list": variables(choice, many=name != "agent")}, "annotations": {"list": []}, "panels": layout(rows),
    }


def text_of(made):
    """JSON with one panel a line: a change of one panel is a change of one line."""
    panels = ",\n".join(json.dumps(panel) for panel in made.pop("panels"))
    return json.dumps(made, indent=1).removesuffix("\n}") + f',\n "panels": [\n{panels}\n ]\n}}\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "dashboards")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for parts in (OVERVIEW, ONE_AGENT, CARDS, MCP, ITSELF):
        (folder / f"cardea-{parts[0]}.json").write_text(text_of(dashboard(*parts)))


main()
