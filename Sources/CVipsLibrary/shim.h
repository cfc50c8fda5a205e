// Only the C files of CVips look at the library's headers; Swift sees CVips.h.
#include <glib.h>
