/// The files that a confined process may open, because it opened them before.
#ifndef HALCYON_OPENED_FILES_H
#define HALCYON_OPENED_FILES_H

/// Opens a file for reading and keeps it for the life of the process; nothing happens when that fails.
void hv_keep_file(const char *path);
/// The number of files that are kept.
int hv_kept_files(void);
/// Answers calls that the filter refuses with SIGSYS: a kept file can be opened for reading, which duplicates its
/// descriptor; everything else fails with EPERM.
void hv_answer_refused(void);

#endif
