#include "net/client/curl_driver.hpp"

#include "core/clock.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

// libcurl brings GnuTLS along, for LDAP and RTMP, which nobody asks it for. Unless this says 1, GnuTLS tests its ciphers and
// builds its tables in every process that loads it: 0.7 MiB (gnutls/gnutls.h, GNUTLS_SKIP_GLOBAL_INIT).
extern "C" int _gnutls_global_init_skip()  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
{
    return 1;
}

namespace net {

namespace asio = boost::asio;

// A socket of libcurl's, for as long as libcurl wants to hear of it. Handlers hold it weakly: when they run, libcurl
// may be done with the socket and the driver may be gone.
struct curl_driver::watch {
    explicit watch(asio::io_context& io)
        : descriptor{io}
    {
    }
    ~watch() { leave(); }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    // libcurl closes the socket, and may get the same number again before the handler that led here has returned.
    void leave()
    {
        if (descriptor.is_open()) {
            descriptor.release();
        }
    }

    asio::posix::basic_stream_descriptor<asio::io_context::executor_type> descriptor;
    int wanted = 0;   // CURL_POLL_IN | CURL_POLL_OUT
    int waiting = 0;  // of these, armed; an armed wait that is no longer wanted is left to run out
};

curl_driver::curl_driver(asio::io_context& io, resolver* names)
    : io_{io},
      names_{names},
      timer_{std::make_shared<timer>(io)}
{
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_.reset(initialised == CURLE_OK ? curl_multi_init() : nullptr);
    if (multi_ == nullptr) {
        throw std::runtime_error{"libcurl does not initialise"};
    }
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &curl_driver::on_socket);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &curl_driver::on_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

curl_driver::~curl_driver()
{
    remove_all();
    multi_.reset();  // closes the kept connections, which calls on_socket
}

CURLMcode curl_driver::add(std::shared_ptr<curl_transfer> transfer)
{
    auto* const easy = transfer->easy();
    auto& added = *transfers_.emplace(easy, std::move(transfer)).first->second;
    const auto host = names_ != nullptr ? added.host_name() : std::string{};
    if (host.empty()) {
        return begin(easy);
    }
    const auto now = std::chrono::steady_clock::now();
    auto name = names_->find(host, now);
    if (name->addresses == nullptr) {
        auto answered = [this, easy, name](error_code failed) { on_resolved(easy, name, failed); };
        lookups_[easy] = {names_->ask(name, std::move(answered), now, added.patience()), now};
        return CURLM_OK;
    }
    if (!added.use(*name, now, core::duration::zero())) {
        transfers_.erase(easy);
        return CURLM_OUT_OF_MEMORY;
    }
    return begin(easy);
}

CURLMcode curl_driver::begin(CURL* easy)
{
    const auto code = curl_multi_add_handle(multi_.get(), easy);
    if (code != CURLM_OK) {
        transfers_.erase(easy);
    }
    return code;
}

void curl_driver::on_resolved(CURL* easy, const resolver::name_ptr& name, const error_code& failed)
{
    const auto begun = lookups_.at(easy).begun;
    lookups_.erase(easy);
    const auto transfer = transfers_.at(easy);
    const auto now = std::chrono::steady_clock::now();
    const auto waited = std::chrono::duration_cast<core::duration>(now - begun);
    if (!failed && transfer->use(*name, now, waited) && begin(easy) == CURLM_OK) {
        return;
    }
    transfers_.erase(easy);
    if (failed) {
        transfer->not_found(failed);
        transfer->over(waited >= transfer->patience() ? CURLE_OPERATION_TIMEDOUT : CURLE_COULDNT_RESOLVE_HOST);
    } else {
        transfer->over(CURLE_FAILED_INIT);
    }
}

void curl_driver::remove(const curl_transfer& transfer)
{
    if (const auto held = transfers_.extract(transfer.easy())) {
        lookups_.erase(held.key());
        curl_multi_remove_handle(multi_.get(), held.key());  // one that it does not have is removed already
    }
}

std::unordered_map<CURL*, std::shared_ptr<curl_transfer>> curl_driver::remove_all()
{
    lookups_.clear();
    for (const auto& [easy, transfer] : transfers_) {
        curl_multi_remove_handle(multi_.get(), easy);
    }
    return std::exchange(transfers_, {});
}

int curl_driver::on_socket(CURL*, curl_socket_t socket, int directions, void* self, void*) noexcept
{
    static_cast<curl_driver*>(self)->watch_socket(socket, directions);
    return 0;
}

void curl_driver::watch_socket(curl_socket_t socket, int directions)
{
    if (directions == CURL_POLL_REMOVE) {
        if (const auto gone = watches_.extract(socket)) {
            gone.mapped()->leave();
        }
        return;
    }
    auto& watched = watches_[socket];
    if (watched == nullptr) {
        watched = std::make_shared<watch>(io_);
        boost::system::error_code failed;
        watched->descriptor.assign(socket, failed);
        if (failed) {
            // Telling libcurl would end every transfer for good. Unwatched, this one ends by its deadline.
            watches_.erase(socket);
            return;
        }
    }
    watched->wanted = directions;
    arm(watched, CURL_POLL_IN);
    arm(watched, CURL_POLL_OUT);
}

void curl_driver::arm(const std::shared_ptr<watch>& watched, int direction)
{
    if ((watched->wanted & direction) == 0 || (watched->waiting & direction) != 0) {
        return;
    }
    watched->waiting |= direction;
    const auto until =
        direction == CURL_POLL_IN ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write;
    watched->descriptor.async_wait(
        until,
        [this, direction, held = std::weak_ptr{watched}](const boost::system::error_code& failed) {
            const auto ready = held.lock();
            if (ready == nullptr || !ready->descriptor.is_open()) {
                return;
            }
            ready->waiting &= ~direction;
            if ((ready->wanted & direction) == 0) {
                return;
            }
            const auto happened = direction == CURL_POLL_IN ? CURL_CSELECT_IN : CURL_CSELECT_OUT;
            act(ready->descriptor.native_handle(), failed ? CURL_CSELECT_ERR : happened);
            if (ready->descriptor.is_open()) {
                arm(ready, direction);
            }
        }
    );
}

int curl_driver::on_timer(CURLM*, long milliseconds, void* self) noexcept
{
    static_cast<curl_driver*>(self)->arm_timer(milliseconds);
    return 0;
}

void curl_driver::arm_timer(long milliseconds)
{
    if (milliseconds < 0) {
        timer_->cancel();
        return;
    }
    timer_->expires_after(core::duration{milliseconds});
    timer_->async_wait([this, held = std::weak_ptr{timer_}](const boost::system::error_code& cancelled) {
        if (!cancelled && !held.expired()) {
            act(CURL_SOCKET_TIMEOUT, 0);
        }
    });
}

void curl_driver::act(curl_socket_t socket, int happened)
{
    int running = 0;
    const auto outcome = curl_multi_socket_action(multi_.get(), socket, happened, &running);
    int left = 0;
    while (const auto* const told = curl_multi_info_read(multi_.get(), &left)) {
        if (told->msg == CURLMSG_DONE) {
            const auto code = told->data.result;  // `told` does not survive the removal
            if (const auto ended = transfers_.extract(told->easy_handle)) {
                curl_multi_remove_handle(multi_.get(), ended.key());
                ended.mapped()->over(code);
            }
        }
    }
    if (outcome == CURLM_OUT_OF_MEMORY || outcome == CURLM_INTERNAL_ERROR) {
        // libcurl may have forgotten a socket or a time: nothing else would end its transfers.
        for (const auto& [easy, lost] : remove_all()) {
            lost->over(CURLE_FAILED_INIT);
        }
    }
}

}  // namespace net
