#pragma once

#include "net/process/service_manager.hpp"
