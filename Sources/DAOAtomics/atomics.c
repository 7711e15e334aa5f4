#include "DAOAtomics.h"
