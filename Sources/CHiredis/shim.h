#pragma once

#include <hiredis/read.h>
#include <hiredis/hiredis.h>
