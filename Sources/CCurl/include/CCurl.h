/// The part of libcurl that the downloader uses, opened at the first download.
///
/// libcurl and the thirty libraries behind it cost 3.7 ms and 5 MB to load, which a process that only answers from the
/// cache must not pay. `hc_load` opens the library; every other function may be called only after it returned NULL. The
/// `setopt` and `getinfo` wrappers exist because Swift cannot call C functions with variable arguments.
#ifndef HALCYON_CCURL_H
#define HALCYON_CCURL_H

#include <curl/curl.h>

typedef size_t (*hc_data_callback)(char *bytes, size_t size, size_t count, void *context);

/// Opens and initialises libcurl. Returns NULL on success, otherwise a static sentence. Thread-safe.
const char *hc_load(void);

/// The versions of libcurl and of the libraries that it uses.
const char *hc_version(void);

CURL *hc_easy_init(void);
void hc_easy_cleanup(CURL *easy);
const char *hc_easy_strerror(CURLcode code);
CURLcode hc_set_long(CURL *easy, CURLoption option, long value);
CURLcode hc_set_offset(CURL *easy, CURLoption option, long long value);
CURLcode hc_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode hc_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode hc_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode hc_set_write(CURL *easy, hc_data_callback callback, void *context);
CURLcode hc_set_header(CURL *easy, hc_data_callback callback, void *context);
/// Sets the callbacks that run before a socket is created, and before a request is sent over a new or reused
/// connection.
CURLcode hc_set_judges(CURL *easy, curl_opensocket_callback dial, curl_prereq_callback request, void *context);
/// Creates a socket for an address, with close-on-exec; returns -1 on failure.
int hc_socket(const struct curl_sockaddr *address);
/// Sets the callback that closes the sockets created by the callback of `hc_set_judges`. It can run after the handle is
/// freed.
CURLcode hc_set_closing(CURL *easy, curl_closesocket_callback close, void *context);
void hc_close(int socket);
/// The count of bytes read from TLS connections, less the bytes that `hc_take_off` subtracted.
typedef struct {
    /// The connections read from most recently; through an HTTPS proxy, two are read alternately. The pointers serve
    /// only for comparison, because the connections may be freed.
    struct {
        const void *connection;
        size_t bytes;
    } flows[4];
    unsigned next;
    /// The number of bytes above which a connection is closed.
    size_t limit;
    /// 1 when a connection was closed because of the limit.
    int is_exceeded;
} hc_intake;
/// Resets the counts.
void hc_begin_intake(hc_intake *intake);
/// Subtracts useful bytes from the count of every connection.
void hc_take_off(hc_intake *intake, size_t count);
/// Counts the bytes of the connection that this handle opens, for the life of the connection. Over HTTP/2 libcurl keeps
/// reading as long as frames arrive, even useless ones, and handles nothing else meanwhile.
void hc_set_intake(CURL *easy, hc_intake *intake);
/// 1 when the socket connects the local port to the given remote address, in the form of inet_ntop, and port; otherwise
/// 0.
int hc_joins(int socket, int near_port, const char *far_address, int far_port);
/// 1 when the socket has unread bytes; otherwise 0.
int hc_has_input(int socket);
/// A connection without HTTP: a handle with CURLOPT_CONNECT_ONLY, and the CURL_ERROR_SIZE bytes that it describes failures
/// in. Any thread may use it, but only one at a time.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    CURL *easy;
    char *failure;
} hc_line;
/// Connects, while the calling thread waits.
CURLcode hc_easy_perform(CURL *easy);
/// Sends what can be sent without waiting; CURLE_AGAIN when that is nothing.
CURLcode hc_send(CURL *easy, const void *bytes, size_t size, size_t *count);
/// Receives what is there, of which there is nothing after CURLE_AGAIN; a count of 0 is the end of the connection.
CURLcode hc_receive(CURL *easy, void *bytes, size_t size, size_t *count);
/// The socket of a connection; -1 when there is none.
int hc_active_socket(CURL *easy);
/// Resumes a paused transfer; returns the result of the callbacks that it calls.
CURLcode hc_resume(CURL *easy);
long hc_info_long(CURL *easy, CURLINFO info);
long long hc_info_offset(CURL *easy, CURLINFO info);
const char *hc_info_string(CURL *easy, CURLINFO info);

struct curl_slist *hc_list_append(struct curl_slist *list, const char *text);
void hc_list_free(struct curl_slist *list);

/// Returns NULL when there is no memory for it, or no descriptors to wake it with.
CURLM *hc_multi_init(void);
/// Also closes its connections. All transfers must have been removed.
void hc_multi_cleanup(CURLM *multi);
CURLMcode hc_multi_add(CURLM *multi, CURL *easy);
CURLMcode hc_multi_remove(CURLM *multi, CURL *easy);
CURLMcode hc_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode hc_multi_perform(CURLM *multi, int *running);
CURLMcode hc_multi_poll(CURLM *multi, int timeout_ms);
/// A multi handle for all threads, for the one function of libcurl that any of them may call.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    CURLM *multi;
} hc_waker;
/// Ends the wait of `hc_multi_poll`, or the next one.
CURLMcode hc_wake(hc_waker waker);
/// The next finished transfer, or NULL; stores its result in `code`.
CURL *hc_multi_next_done(CURLM *multi, CURLcode *code);

CURLU *hc_url(void);
void hc_url_cleanup(CURLU *url);
CURLUcode hc_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
/// The part as text, to be freed with `hc_free`, or NULL.
char *hc_url_get(CURLU *url, CURLUPart part, unsigned int flags);
void hc_free(void *pointer);

#endif
