#pragma once

#include "net/loop/signal.hpp"
