#include <sqlite3.h>

/// Takes a name in double quotes that no column has for the mistake it is, not for a text. Swift cannot call a function with a variable number
/// of arguments.
static inline int dao_refuse_quoted_text(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
    if (code != SQLITE_OK) return code;
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
}

/// Sets whether the write-ahead log stays when the connection is closed. Otherwise a connection that believes to be the last one removes it, and it
/// is mistaken when another process has lost its locks on the file, as a process does that opens and closes the file by other means.
static inline int dao_keep_log(sqlite3 *database, int keeps) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}
