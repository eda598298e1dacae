# What is written down of requests: counters, the metrics page, the access log and where log lines end.
add_library(gateway_accounting STATIC
    access_log.cpp
    log_output.cpp
    metrics_agents.cpp
    metrics_family.cpp
    metrics_page.cpp
    process_stats.cpp
    request_record.cpp
    terminal_text.cpp
    worker_metrics.cpp
)
target_link_libraries(gateway_accounting PUBLIC project_options core a2a)
