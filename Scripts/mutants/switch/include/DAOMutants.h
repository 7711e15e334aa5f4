// The switch of `make mutants`: which edit is on, and which edits a process has come by.
#include <stdbool.h>

extern int dao_mutant_selected;
extern unsigned char *dao_mutants_reached;

/// Returns whether an edit is on, and notes that the process has come by it.
static inline bool mutant(int number) {
    if (!dao_mutants_reached[number]) dao_mutants_reached[number] = 1;
    return number == dao_mutant_selected;
}
