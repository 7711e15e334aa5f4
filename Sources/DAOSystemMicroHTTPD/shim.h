#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

// Swift imports enumerations in another way where the header says more about them.
static const enum MHD_Result dao_http_yes = MHD_YES;
static const enum MHD_Result dao_http_no = MHD_NO;
static const enum MHD_ValueKind dao_http_headers = MHD_HEADER_KIND;
static const enum MHD_ValueKind dao_http_options = MHD_GET_ARGUMENT_KIND;
static const enum MHD_ResponseMemoryMode dao_http_copies = MHD_RESPMEM_MUST_COPY;

/// Starts a server on 127.0.0.1 with a thread for each connection. Swift cannot call a function with a variable number of arguments.
///
/// - port: The port; 0 for any free one.
/// - Returns: The server; null with `errno` set when the port is in use or not allowed.
static inline struct MHD_Daemon *dao_start_http_server(
    uint16_t port, MHD_AccessHandlerCallback handle, MHD_RequestCompletedCallback complete, void *context) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, port, NULL, NULL, handle, context,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, complete, context,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)30, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)600,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)1 << 18, MHD_OPTION_THREAD_STACK_SIZE, (size_t)1 << 20, MHD_OPTION_END);
}

/// The port of a server; 0 when it cannot be told.
static inline uint16_t dao_http_server_port(struct MHD_Daemon *server) {
    const union MHD_DaemonInfo *information = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT);
    return information ? information->port : 0;
}
