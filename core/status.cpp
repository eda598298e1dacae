#include "core/status.hpp"

namespace core {

unsigned http_status(errc code) noexcept
{
    // over 60 lines: one table of all codes.
    // No default: -Werror=switch makes a new errc fail the build until it is given a status here.
    switch (code) {
        case errc::bad_request:
        case errc::parse_error:
        case errc::invalid_request:
        case errc::invalid_params:
        case errc::header_mismatch:
        case errc::session_required:
        case errc::version_unsupported:
        case errc::input_expired:
        case errc::events_gone:
        case errc::version_not_supported:
        case errc::operation_unsupported:
        case errc::extension_required:
            return 400;
        case errc::unauthenticated:
            return 401;
        case errc::agent_read_only:
        case errc::admin_only:
        case errc::forbidden:
        case errc::origin_forbidden:
            return 403;
        case errc::rate_limited:
            return 429;
        case errc::not_found:
        case errc::agent_not_found:
        case errc::task_not_found:
        case errc::extended_card_unsupported:
        case errc::extended_card_not_configured:
        case errc::method_not_found:
        case errc::session_not_found:
            return 404;
        case errc::method_not_allowed:
            return 405;
        case errc::not_acceptable:
            return 406;
        case errc::request_timeout:
            return 408;
        case errc::version_conflict:
        case errc::handover_failed:
            return 409;
        case errc::body_too_large:
        case errc::too_large:
            return 413;
        case errc::target_too_long:
            return 414;
        case errc::unsupported_media_type:
            return 415;
        case errc::expectation_failed:
            return 417;
        case errc::misdirected_request:
            return 421;
        case errc::config_invalid:
            return 422;
        case errc::header_too_large:
            return 431;
        case errc::caller_gone:
            return 499;
        case errc::extended_card_incomplete:
        case errc::internal:
        case errc::store_failed:
            return 500;
        case errc::not_implemented:
            return 501;
        case errc::upstream_unresolved:
        case errc::upstream_refused:
        case errc::upstream_forbidden:
        case errc::upstream_tls:
        case errc::upstream_proxy:
        case errc::upstream_reset:
        case errc::upstream_protocol:
        case errc::upstream_status:
        case errc::event_too_large:
        case errc::message_too_large:
        case errc::answer_untranslatable:
        case errc::card_not_json:
        case errc::card_invalid:
        case errc::card_signature:
        case errc::card_unrewritable:
        case errc::card_too_large:
            return 502;
        case errc::session_not_started:
        case errc::session_not_ready:
        case errc::session_failed:
        case errc::session_crashed:
        case errc::session_misconfigured:
        case errc::circuit_open:
        case errc::draining:
        case errc::overloaded:
        case errc::session_limit:
        case errc::access_unavailable:
        case errc::upstream_credentials:
            return 503;
        case errc::upstream_timeout:
            return 504;
        case errc::http_version_not_supported:
            return 505;
        case errc::store_full:
            return 507;
        case errc::loop_detected:
            return 508;
    }
    return 500;
}

int jsonrpc_code(errc code) noexcept
{
    switch (code) {
        case errc::parse_error:
            return -32700;
        case errc::invalid_request:
            return -32600;
        case errc::method_not_found:
            return -32601;
        case errc::invalid_params:
        case errc::input_expired:
            return -32602;
        case errc::session_not_found:
        case errc::task_not_found:
            return -32001;
        case errc::header_mismatch:
            return -32020;
        case errc::version_unsupported:
            return -32022;
        case errc::unsupported_media_type:
            return -32005;
        case errc::extension_required:
            return -32008;
        case errc::extended_card_unsupported:
        case errc::operation_unsupported:
            return -32004;
        case errc::version_not_supported:
            return -32009;
        case errc::answer_untranslatable:
            return -32006;
        case errc::extended_card_not_configured:
            return -32007;
        case errc::upstream_unresolved:
        case errc::upstream_refused:
        case errc::upstream_forbidden:
        case errc::upstream_tls:
        case errc::upstream_proxy:
        case errc::upstream_reset:
        case errc::upstream_protocol:
        case errc::upstream_status:
        case errc::upstream_timeout:
        case errc::event_too_large:
        case errc::message_too_large:
        case errc::card_not_json:
        case errc::card_invalid:
        case errc::card_signature:
        case errc::card_unrewritable:
        case errc::card_too_large:
        case errc::extended_card_incomplete:
        case errc::internal:
        case errc::store_failed:
            return -32603;
        case errc::bad_request:
        case errc::not_found:
        case errc::agent_not_found:
        case errc::agent_read_only:
        case errc::version_conflict:
        case errc::handover_failed:
        case errc::admin_only:
        case errc::unauthenticated:
        case errc::forbidden:
        case errc::rate_limited:
        case errc::not_acceptable:
        case errc::origin_forbidden:
        case errc::events_gone:
        case errc::session_required:
        case errc::access_unavailable:
        case errc::upstream_credentials:
        case errc::method_not_allowed:
        case errc::request_timeout:
        case errc::body_too_large:
        case errc::too_large:
        case errc::target_too_long:
        case errc::expectation_failed:
        case errc::misdirected_request:
        case errc::loop_detected:
        case errc::config_invalid:
        case errc::header_too_large:
        case errc::caller_gone:
        case errc::not_implemented:
        case errc::http_version_not_supported:
        case errc::session_misconfigured:
        case errc::session_not_started:
        case errc::session_not_ready:
        case errc::session_failed:
        case errc::session_crashed:
        case errc::circuit_open:
        case errc::draining:
        case errc::overloaded:
        case errc::session_limit:
        case errc::store_full:
            return -31000 - static_cast<int>(http_status(code));
    }
    return -32603;
}

unsigned jsonrpc_http_status(errc code) noexcept
{
    switch (code) {
        case errc::parse_error:
        case errc::invalid_request:
        case errc::method_not_found:
        case errc::task_not_found:
        case errc::invalid_params:
        case errc::extension_required:
        case errc::extended_card_unsupported:
        case errc::extended_card_not_configured:
        case errc::version_not_supported:
        case errc::operation_unsupported:
        case errc::answer_untranslatable:
            return 200;
        default:
            return http_status(code);
    }
}

bool retryable(errc code) noexcept
{
    switch (code) {
        case errc::request_timeout:
        case errc::rate_limited:
        case errc::upstream_unresolved:
        case errc::upstream_refused:
        case errc::upstream_reset:
        case errc::upstream_timeout:
        case errc::upstream_credentials:
        case errc::session_not_started:
        case errc::session_not_ready:
        case errc::session_failed:
        case errc::session_crashed:
        case errc::circuit_open:
        case errc::draining:
        case errc::overloaded:
        case errc::session_limit:
        case errc::access_unavailable:
            return true;
        default:
            return false;
    }
}

bool passes(unsigned status) noexcept
{
    return status == 408 || status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace core
