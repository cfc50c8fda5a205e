/// SQLite, with files that other processes may cut short at any time.
#ifndef HALCYON_CSQLITE_H
#define HALCYON_CSQLITE_H

#include <sqlite3.h>
#include <stdint.h>

/// The name of SQLite's access to files by which databases are opened: the system's own, with guarded shared memory.
#define HL_SQLITE_FILES "halcyon"

/// Prepares the library, before the first connection: registers the access to files, and stops the count of SQLite's
/// memory, for which all connections would take one lock. Returns a result code.
int hl_sqlite_prepare(void);

/// 1 as long as the memory that a connection shares with others (the index of its write-ahead log) has lost nothing since
/// the connection first used it. Afterwards nothing counts that was read since the connection was last asked, and the
/// connection must be closed: it does not write to the database file any more.
int hl_sqlite_is_whole(sqlite3 *connection);

/// The same, and also 0 when the end of the memory is cut off, of which nothing has been touched yet; for what costs more
/// than a lookup.
int hl_sqlite_is_sound(sqlite3 *connection);

/// Has each transaction of a connection fail, instead of being committed, when its memory has lost something.
void hl_sqlite_guard(sqlite3 *connection);

/// A connection to a database that no other connection has open, in whatever process: none can be opened until it is closed.
/// NULL when one has, when there is no database, and when that cannot be told. It is of no use but to be closed.
sqlite3 *hl_sqlite_alone(const char *path);

/// Compares the index of the write-ahead log with the log: SQLite itself never does, and reads old pages where the index is
/// wrong. Called in a transaction that writes nothing, under the lock for writing. Returns 0 when they disagree; then the
/// index has lost something for all connections (see hl_sqlite_is_whole) and is made again by the next one. O(n) in the
/// frames of the log.
int hl_sqlite_check_log_index(sqlite3 *connection);
/// Tells the number of the log and that of its frames that count, by its index; returns 0 when there is none. The number grows by
/// one whenever SQLite begins the log anew (file format, 4.4: salt-1).
int hl_sqlite_log_position(sqlite3 *connection, uint32_t *log, uint32_t *frames);
/// Tells how many frames of the log somebody has begun to copy into the database, and how many are copied; returns 0 when there is no
/// log.
int hl_sqlite_log_copying(sqlite3 *connection, uint32_t *begun, uint32_t *copied);

#endif
