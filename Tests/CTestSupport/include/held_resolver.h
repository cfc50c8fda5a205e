/// Holds up the resolution of names, as a name server does that is silent.
#ifndef HALCYON_HELD_RESOLVER_H
#define HALCYON_HELD_RESOLVER_H

/// From now on who asks for `silent.test` or `mute.test` waits, until all who hold have released.
void hl_hold_resolver(void);
/// Lets those who wait go, without an answer.
void hl_release_resolver(void);
/// How many wait for `silent.test`.
int hl_held_resolutions(void);

#endif
