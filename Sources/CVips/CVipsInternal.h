#ifndef HALCYON_CVIPS_INTERNAL_H
#define HALCYON_CVIPS_INTERNAL_H

#include "CVips.h"
#include <vips/vips.h>

/// Lets the deadline end an evaluation of the image.
void hv_watch(VipsImage *image);

#endif
