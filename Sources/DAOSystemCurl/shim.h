#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

// Swift cannot call functions with a variable number of arguments. One function sets or gets the options of each type.

static inline CURLcode dao_curl_set_number(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode dao_curl_set_size(CURL *curl, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(curl, option, value);
}

/// libcurl copies the text.
static inline CURLcode dao_curl_set_text(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode dao_curl_set_pointer(CURL *curl, CURLoption option, void *value) {
    return curl_easy_setopt(curl, option, value);
}

/// The list belongs to the caller, and lives longer than the transfer.
static inline CURLcode dao_curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode dao_curl_set_writer(CURL *curl, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode dao_curl_set_reader(CURL *curl, curl_read_callback value) {
    return curl_easy_setopt(curl, CURLOPT_READFUNCTION, value);
}

static inline CURLcode dao_curl_set_seeker(CURL *curl, curl_seek_callback value) {
    return curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, value);
}

/// Allows http and https alone.
static inline CURLcode dao_curl_allow_http_only(CURL *curl) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/// Does not wait for the resolver's thread when a transfer ends before the thread does.
static inline void dao_curl_quit_resolver(CURL *curl) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static inline CURLcode dao_curl_get_number(CURL *curl, CURLINFO info, long *value) {
    return curl_easy_getinfo(curl, info, value);
}

static inline CURLcode dao_curl_get_pointer(CURL *curl, CURLINFO info, void **value) {
    return curl_easy_getinfo(curl, info, (char **)value);
}

static inline CURLMcode dao_curl_set_multi_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// Shares cookies between the transfers of one thread.
static inline CURLSHcode dao_curl_share_cookies(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

/// HTTP/2 where TLS agrees on it, and HTTP/1.1 otherwise.
static const long dao_curl_http_2_with_tls = CURL_HTTP_VERSION_2TLS;
static const long dao_curl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
static const size_t dao_curl_read_pause = CURL_READFUNC_PAUSE;
static const size_t dao_curl_read_abort = CURL_READFUNC_ABORT;

/// A connection that its peer has closed is an error of a call, not a signal, on the calling thread.
static inline void dao_curl_block_pipe_signal(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/// Names the calling thread, in at most 15 characters. Foundation on Linux drops a thread's name when the thread sets it
/// before the one that began it has noted which thread that is.
static inline void dao_curl_name_thread(const char *name) {
#if defined(__linux__)
    prctl(PR_SET_NAME, name, 0, 0, 0);
#elif defined(__APPLE__)
    pthread_setname_np(name);
#endif
}
