/// Counts the blocks that jansson takes and gives back.
#ifndef HALCYON_JANSSON_BLOCKS_H
#define HALCYON_JANSSON_BLOCKS_H

/// Blocks that jansson took on this thread less those it gave back on it.
long hl_jansson_live_blocks(void);
/// Blocks that jansson ever took on this thread.
long hl_jansson_taken_blocks(void);

#endif
