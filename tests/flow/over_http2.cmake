# Flow programs once more over HTTP/2: their callers (CARDEA_TEST_HTTP, tests/support/http2_voice.hpp), or their agents
# (CARDEA_TEST_AGENT_HTTP, tests/support/http2_front.hpp). `often` is in `./dev test`, `seldom` in `./dev http2` alone. The patterns after it
# are test cases about HTTP/1.1: its chunks, its pipelining, HTTP/1.0, a half that is closed, the end of its connections, its reasons, what
# it costs in memory, heads that HTTP/2 cannot say; with agents also interim answers, heads in parts and bodies in pieces, which the front
# cannot say. Left out altogether are framing, which is about nothing else, and programs that have HTTP/2 on both sides. A gateway
# that starts from a configuration file calls its agents by HTTP/1.1 in these runs too, and so it calls agents that are added at run time.

function(cardea_over_http2 name when)
    cardea_again_over_http2(flow_${name}_over_http2 ${name} CARDEA_TEST_HTTP ${when} ${ARGN})
endfunction()

function(cardea_agents_over_http2 name when)
    cardea_again_over_http2(flow_${name}_agents_http2 ${name} CARDEA_TEST_AGENT_HTTP ${when} ${ARGN})
endfunction()

function(cardea_again_over_http2 test name variable when)
    list(JOIN ARGN "," skipped)
    set(only "")
    if(when STREQUAL "seldom")
        set(only CONFIGURATIONS http2)
    endif()
    add_test(NAME ${test} ${only} COMMAND flow_${name} "--test-case-exclude=${skipped}")
    set_tests_properties(${test} PROPERTIES LABELS "flow;http2" ENVIRONMENT ${variable}=2)
endfunction()

cardea_over_http2(a2a_tools often)
cardea_over_http2(access often "requests whose heads cannot be read*")
cardea_over_http2(audit often)
cardea_over_http2(bridge often)
cardea_over_http2(cards often "A card offers gRPC where SDKs dial*")
cardea_over_http2(chains often)
cardea_over_http2(console seldom "a viewer of HTTP/1.0*" "a caller of HTTP/1.0*")
cardea_over_http2(contained_calls seldom "a stream in HTTP/1.0*")
cardea_over_http2(contained_programs often)
cardea_over_http2(containment seldom)
cardea_over_http2(explain often)
cardea_over_http2(extended_cards seldom "a caller of HTTP/1.0*")
cardea_over_http2(fairness often)
cardea_over_http2(faults seldom)
cardea_over_http2(handover seldom)
cardea_over_http2(hosts often)
cardea_over_http2(isolation often)
cardea_over_http2(limits seldom
    "as many connections are open*"
    "what is sent ahead of an answer*"
    "when descriptors run out*"
    "connections to agents leave the reserved*"
    "a caller that is refused while it sends 5 MB*"
    "a refused caller that sends nothing more*"
    "a request that cannot be read*"
    "the bytes of a head*"
    "the size line of a chunk*"
    "the extensions of a body's chunks*"
    "the trailers of a body*"
    "a head has its time*"
    "a body that comes too slowly*"
    "a connection carries as many requests*")
cardea_over_http2(mcp_bundle often)
cardea_over_http2(mcp_calls often
    "events of a call and of the session's own stream*"
    "A client that asks once more on its connection*")
cardea_over_http2(mcp_hostile seldom)
cardea_over_http2(mcp_programs seldom "A stream to a caller of HTTP/1.0*")
cardea_over_http2(mcp_tokens often)
cardea_over_http2(operations seldom
    "an address whose agent a client has dropped*"
    "a request for a card at the origin*"
    "An answer whose head is out when drain_delay*"
    "A kept connection *"
    "Of pipelined requests*"
    "What is left of a batch*"
    "The metrics of many agents come in pieces*"
    "The page is never compressed*"
    "as many connections to metrics*")
cardea_over_http2(own_faults seldom)
cardea_over_http2(pins often)
cardea_over_http2(push seldom)
cardea_over_http2(records often)
cardea_over_http2(relay often
    "a byte order mark behind a comment*"
    "a call is taken up to the limit*"
    "a call that comes during a stream*"
    "a call that does not arrive in time*"
    "a caller of HTTP/1.0*"
    "a caller of a unary call that closes its half*"
    "a caller that closes its half*"
    "a caller that leaves has one line*"
    "a caller that only closes its half*"
    "a caller that reads late*"
    "a caller that resets is left at once*"
    "a caller that takes nothing*"
    "a caller that waits for 100*"
    "a chunk that is larger*"
    "a chunked call that is malformed*"
    "a head that is refused*"
    "a stream has one line*"
    "an answer to an upload of which half*"
    "each request has exactly one line*"
    "nothing after a call that ends*"
    "pipelined calls*"
    "requests are counted by*"
    "without its comments a stream*")
cardea_over_http2(reload seldom)
cardea_over_http2(replica_sessions seldom)
cardea_over_http2(replicas seldom)
cardea_over_http2(service seldom)
cardea_over_http2(session_answers often)
cardea_over_http2(session_cards often)
cardea_over_http2(sessions often)
cardea_over_http2(shared_store seldom)
cardea_over_http2(store seldom)
cardea_over_http2(tls seldom
    "callers are served over TLS 1.2*"
    "a caller that is silent before*"
    "after the handshake*"
    "plain HTTP on the TLS port*"
    "a caller that closes its half*"
    "when the gateway stops*"
    "an idle connection over TLS*")
cardea_over_http2(traces seldom "Each access line has a trace*" "what the gateway answers itself*")
cardea_over_http2(upstream often)
cardea_over_http2(volume seldom "a hundred thousand pipelined*")
set_tests_properties(flow_handover_over_http2 PROPERTIES RUN_SERIAL TRUE)

cardea_agents_over_http2(a2a_tools seldom)
cardea_agents_over_http2(access seldom)
cardea_agents_over_http2(bridge seldom)
cardea_agents_over_http2(cards seldom "what an agent answers instead of a card*")
cardea_agents_over_http2(chains seldom)
cardea_agents_over_http2(console seldom)
cardea_agents_over_http2(contained_calls seldom "a call without a head gets the 403*")
cardea_agents_over_http2(explain seldom)
cardea_agents_over_http2(extended_cards seldom "every failure on the way to a card*")
cardea_agents_over_http2(fairness seldom)
cardea_agents_over_http2(faults seldom "Nothing is sent again once a byte*")
cardea_agents_over_http2(hosts seldom)
cardea_agents_over_http2(isolation seldom)
cardea_agents_over_http2(limits seldom)
cardea_agents_over_http2(mcp_bundle seldom)
cardea_agents_over_http2(mcp_calls seldom "A redirect to the bare origin*" "The key in the query of an agent*")
cardea_agents_over_http2(mcp_tokens seldom)
cardea_agents_over_http2(operations seldom)
cardea_agents_over_http2(pins seldom)
cardea_agents_over_http2(push seldom)
cardea_agents_over_http2(records seldom)
cardea_agents_over_http2(relay often
    "each request has exactly one line with what it was and what became of it"
    "an answer that was cut keeps its status*"
    "what fails before the agent's head is whole has one mapped answer*"
    "an answer's head is taken up to its limit in bytes and not beyond"
    "eight interim answers are skipped"
    "204 passes without a body*"
    "a 204 that announces a body ends its connection*"
    "a first event over the limit is an error*"
    "a large call whose stream breaks at once is answered with its id*"
    "a large answer goes no faster than its caller takes it"
    "an answer that ends with a reset instead of its connection's end is cut"
    "calls at the same time have a connection each*"
    "an agent that announces the end of the connection is not called on it again"
    "a call is not repeated once a byte of an answer has come"
    "bytes after an answer are nobody's answer*"
    "an unused connection to an agent is closed after its time"
    "no more idle connections are kept than the limit says"
    "an answer to an upload of which half is there reaches its caller*"
    "a chunked body that is none is cut*"
    "a caller that reads late gets every event that came before its stream was cut*"
    "over TLS a caller that reads late gets every event too*"
    "in a storm of faults each caller gets its own answer or an error*"
    "a stream that breaks before a byte of it was passed is an error*")
cardea_agents_over_http2(replica_sessions seldom)
cardea_agents_over_http2(sessions seldom)
cardea_agents_over_http2(traces seldom)
cardea_agents_over_http2(upstream seldom
    "A connection to an agent carries*"
    "An idle connection closes a second before*"
    "A connection that the agent keeps*"
    "After an agent has ended an idle connection*"
    "A connection closes when it is old*"
    "An agent whose breaker opens loses*"
    "*streams and cards of an agent go through its proxy*"
    "A caller's fields for proxies*"
    "Sessions of an MCP server go through its proxy*"
    "An agent that registered itself is reached through the proxy*")
cardea_agents_over_http2(volume seldom)
