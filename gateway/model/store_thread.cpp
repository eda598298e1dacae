#include "gateway/model/store_thread.hpp"

namespace gateway::model {

store_thread::store_thread(std::unique_ptr<store::engine> engine)
    : engine_{std::move(engine)},
      work_{net::asio::make_work_guard(io_)},
      thread_{[this] { io_.run(); }}
{
}

store_thread::~store_thread()
{
    work_.reset();
    thread_.join();
}

}  // namespace gateway::model
