#pragma once

#include "core/call_limits.hpp"
