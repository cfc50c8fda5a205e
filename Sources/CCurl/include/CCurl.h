/// The part of libcurl that the downloader uses, opened at the first download.
///
/// libcurl and the thirty libraries behind it cost 3.7 ms and 5 MB to load, which a process that only answers hits
/// must not pay. `hc_load` opens the library; every other function may be called only after it returned NULL.
/// The `setopt` and `getinfo` wrappers exist because Swift cannot call C functions with variable arguments.
#ifndef HALCYON_CCURL_H
#define HALCYON_CCURL_H

#include <curl/curl.h>

typedef size_t (*hc_data_callback)(char *bytes, size_t size, size_t count, void *context);

/// Opens libcurl and initialises it; NULL on success, else a static sentence. Safe to call from several threads.
const char *hc_load(void);

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
/// Sets who is asked before a socket is made, and again before a request is sent over a connection, new or not.
CURLcode hc_set_judges(CURL *easy, curl_opensocket_callback dial, curl_prereq_callback request, void *context);
/// A new socket for an address, closed in programs that are started; -1 if there can be none.
int hc_socket(const struct curl_sockaddr *address);
/// Sets who closes sockets that `hc_set_judges` had made; it is asked even after the handle is gone.
CURLcode hc_set_closing(CURL *easy, curl_closesocket_callback close, void *context);
void hc_close(int socket);
/// What has been read from secure connections, less what was taken off by who had any of it.
typedef struct {
    /// Those that were read from last; through a proxy over https two are read in turns. To be compared alone, for they may be
    /// gone.
    struct {
        const void *connection;
        size_t bytes;
    } flows[4];
    unsigned next;
    /// With more bytes than this, a connection is closed.
    size_t limit;
    /// Whether one was.
    int is_exceeded;
} hc_intake;
/// Counts anew.
void hc_begin_intake(hc_intake *intake);
/// Takes off what was of use, wherever it came from.
void hc_take_off(hc_intake *intake, size_t count);
/// Has the bytes counted that come over the connection which this handle opens, as long as that lives. Over HTTP/2 libcurl
/// reads on as long as there are frames that are of no use to anybody, and nothing else has its turn.
void hc_set_intake(CURL *easy, hc_intake *intake);
/// Whether it is the connection from a port of ours to an address, as inet_ntop writes it, and a port.
int hc_joins(int socket, int near_port, const char *far_address, int far_port);
/// Whether there are bytes that nobody has read.
int hc_has_input(int socket);
/// Goes on with a transfer whose body was held back; the result is that of the callbacks it calls.
CURLcode hc_resume(CURL *easy);
long hc_info_long(CURL *easy, CURLINFO info);
long long hc_info_offset(CURL *easy, CURLINFO info);
const char *hc_info_string(CURL *easy, CURLINFO info);

struct curl_slist *hc_list_append(struct curl_slist *list, const char *text);
void hc_list_free(struct curl_slist *list);

CURLM *hc_multi_init(void);
/// Closes its connections too. No transfer may be left in it.
void hc_multi_cleanup(CURLM *multi);
CURLMcode hc_multi_add(CURLM *multi, CURL *easy);
CURLMcode hc_multi_remove(CURLM *multi, CURL *easy);
CURLMcode hc_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode hc_multi_perform(CURLM *multi, int *running);
CURLMcode hc_multi_poll(CURLM *multi, int timeout_ms);
CURLMcode hc_multi_wakeup(CURLM *multi);
/// The next finished transfer, or NULL; its result is stored in `code`.
CURL *hc_multi_next_done(CURLM *multi, CURLcode *code);

CURLU *hc_url(void);
void hc_url_cleanup(CURLU *url);
CURLUcode hc_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
/// The part as text to be released with `hc_free`, or NULL.
char *hc_url_get(CURLU *url, CURLUPart part, unsigned int flags);
void hc_free(void *pointer);

#endif
