#include <sqlite3.h>

/// Lets SQLite not count the memory it takes, under one lock for all connections; before the first of them.
static inline int hl_sqlite_leaves_memory_uncounted(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
