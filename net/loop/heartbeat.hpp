#pragma once

#include "net/loop/deadlines.hpp"
