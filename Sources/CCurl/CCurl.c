#define _GNU_SOURCE
#include "CCurl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// curl.h defines checking macros over the variadic functions; this file needs the plain functions.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

// The functions of libcurl that are used; the table and the loader are both generated from this list.
#define FUNCTIONS(X) \
    X(curl_global_init) X(curl_easy_init) X(curl_easy_cleanup) X(curl_easy_strerror) \
    X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_slist_append) X(curl_slist_free_all) X(curl_multi_init) \
    X(curl_multi_add_handle) X(curl_multi_remove_handle) X(curl_multi_setopt) X(curl_multi_perform) \
    X(curl_multi_poll) X(curl_multi_wakeup) X(curl_multi_info_read) X(curl_url) X(curl_url_cleanup) \
    X(curl_url_set) X(curl_url_get) X(curl_free) X(curl_easy_pause) \
    X(curl_multi_cleanup) X(curl_version) X(curl_easy_perform) X(curl_easy_send) X(curl_easy_recv)

static struct {
#define DECLARE(name) __typeof__(&name) name;
    FUNCTIONS(DECLARE)
} curl;

/// The OpenSSL functions that are used, from the copy that libcurl is linked with; null if it uses another TLS library.
static struct {
    __typeof__(&SSL_CTX_set_msg_callback) watch;
    __typeof__(&SSL_CTX_ctrl) control;
    __typeof__(&SSL_set_shutdown) shut;
} ssl;

static const char *failure;
/// The UTF-8 locale for host names: libcurl converts them by the thread's locale, which is ASCII by default.
static locale_t letters;

static void load(void) {
    static char text[512];
    failure = NULL;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        int is_missing = reason && strncmp(reason, "libcurl.so.4: ", 14) == 0 && strstr(reason, strerror(ENOENT));
        if (is_missing) {
            failure = "libcurl.so.4 cannot be opened: install the package libcurl4";
        } else {
            snprintf(text, sizeof text, "libcurl cannot be loaded: %s", reason ? reason : "the system does not say why");
            failure = text;
        }
        return;
    }
#define RESOLVE(name) \
    if (!(curl.name = (__typeof__(&name))dlsym(library, #name))) { \
        failure = "libcurl.so.4 is too old: " #name " is missing"; \
        return; \
    }
    FUNCTIONS(RESOLVE)
    ssl.watch = (__typeof__(ssl.watch))dlsym(library, "SSL_CTX_set_msg_callback");
    ssl.control = (__typeof__(ssl.control))dlsym(library, "SSL_CTX_ctrl");
    ssl.shut = (__typeof__(ssl.shut))dlsym(library, "SSL_set_shutdown");
    letters = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) failure = "libcurl cannot be initialised";
}

const char *hc_load(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int is_loaded;
    pthread_mutex_lock(&lock);
    // What failed for want of descriptors or memory is tried again.
    if (!is_loaded) load();
    is_loaded = !failure;
    const char *result = failure;
    pthread_mutex_unlock(&lock);
    return result;
}

const char *hc_version(void) { return curl.curl_version(); }
CURL *hc_easy_init(void) { return curl.curl_easy_init(); }
void hc_easy_cleanup(CURL *easy) { curl.curl_easy_cleanup(easy); }
const char *hc_easy_strerror(CURLcode code) { return curl.curl_easy_strerror(code); }
CURLcode hc_set_long(CURL *easy, CURLoption option, long value) { return curl.curl_easy_setopt(easy, option, value); }
CURLcode hc_set_offset(CURL *easy, CURLoption option, long long value) {
    return curl.curl_easy_setopt(easy, option, (curl_off_t)value);
}
CURLcode hc_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
CURLcode hc_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
CURLcode hc_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
CURLcode hc_set_write(CURL *easy, hc_data_callback callback, void *context) {
    curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    return curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
}
CURLcode hc_set_header(CURL *easy, hc_data_callback callback, void *context) {
    curl.curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    return curl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
}
CURLcode hc_set_judges(CURL *easy, curl_opensocket_callback dial, curl_prereq_callback request, void *context) {
    curl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, dial);
    curl.curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    return curl.curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, request);
}
int hc_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
CURLcode hc_set_closing(CURL *easy, curl_closesocket_callback close, void *context) {
    curl.curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
    return curl.curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
}
void hc_close(int socket) { close(socket); }

/// Counts the bytes of a record; OpenSSL calls it for each record, with its header.
static void count_record(
    int sent, int version, int type, const void *header, size_t size, SSL *connection, void *context) {
    (void)version;
    if (sent || type != SSL3_RT_HEADER || size < SSL3_RT_HEADER_LENGTH) return;
    hc_intake *intake = context;
    const unsigned char *bytes = header;
    const unsigned count = sizeof intake->flows / sizeof *intake->flows;
    unsigned place = 0;
    while (place < count && intake->flows[place].connection != connection) place++;
    if (place == count) {
        place = intake->next++ % count;
        intake->flows[place].connection = connection;
        intake->flows[place].bytes = 0;
    }
    intake->flows[place].bytes += (size_t)bytes[3] << 8 | bytes[4];
    if (intake->flows[place].bytes <= intake->limit) return;
    intake->is_exceeded = 1;
    // The same state as after a close by the server.
    ssl.shut(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}
static CURLcode watch_records(CURL *easy, void *context, void *intake) {
    (void)easy;
    ssl.watch(context, count_record);
    ssl.control(context, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, intake);
    return CURLE_OK;
}
void hc_begin_intake(hc_intake *intake) {
    memset(intake->flows, 0, sizeof intake->flows);
    intake->is_exceeded = 0;
}
void hc_take_off(hc_intake *intake, size_t count) {
    for (unsigned place = 0; place < sizeof intake->flows / sizeof *intake->flows; place++) {
        size_t *bytes = &intake->flows[place].bytes;
        *bytes -= count < *bytes ? count : *bytes;
    }
}
void hc_set_intake(CURL *easy, hc_intake *intake) {
    if (!ssl.watch || !ssl.control || !ssl.shut) return;
    curl.curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, intake);
    curl.curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, watch_records);
}
static int port_of(const struct sockaddr_storage *address) {
    switch (address->ss_family) {
    case AF_INET: return ntohs(((const struct sockaddr_in *)address)->sin_port);
    case AF_INET6: return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    default: return -1;
    }
}
int hc_joins(int socket, int near_port, const char *far_address, int far_port) {
    struct sockaddr_storage near = {0}, far = {0};
    socklen_t size = sizeof near, far_size = sizeof far;
    char text[INET6_ADDRSTRLEN];
    if (getsockname(socket, (struct sockaddr *)&near, &size) || getpeername(socket, (struct sockaddr *)&far, &far_size))
        return 0;
    const void *number = far.ss_family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)&far)->sin6_addr
                                                   : (const void *)&((struct sockaddr_in *)&far)->sin_addr;
    return port_of(&near) == near_port && port_of(&far) == far_port
        && inet_ntop(far.ss_family, number, text, sizeof text) && !strcmp(text, far_address);
}
int hc_has_input(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}
CURLcode hc_easy_perform(CURL *easy) { return curl.curl_easy_perform(easy); }
CURLcode hc_send(CURL *easy, const void *bytes, size_t size, size_t *count) {
    *count = 0;
    return curl.curl_easy_send(easy, bytes, size, count);
}
CURLcode hc_receive(CURL *easy, void *bytes, size_t size, size_t *count) {
    *count = 0;
    return curl.curl_easy_recv(easy, bytes, size, count);
}
int hc_active_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl.curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}
CURLcode hc_resume(CURL *easy) { return curl.curl_easy_pause(easy, CURLPAUSE_CONT); }
long hc_info_long(CURL *easy, CURLINFO info) {
    long value = 0;
    curl.curl_easy_getinfo(easy, info, &value);
    return value;
}
long long hc_info_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl.curl_easy_getinfo(easy, info, &value);
    return value;
}
const char *hc_info_string(CURL *easy, CURLINFO info) {
    char *value = NULL;
    curl.curl_easy_getinfo(easy, info, &value);
    return value;
}

struct curl_slist *hc_list_append(struct curl_slist *list, const char *text) {
    return curl.curl_slist_append(list, text);
}
void hc_list_free(struct curl_slist *list) { curl.curl_slist_free_all(list); }

CURLM *hc_multi_init(void) {
    CURLM *multi = curl.curl_multi_init();
    // Without descriptors for it, libcurl makes one that nothing can wake.
    if (multi && curl.curl_multi_wakeup(multi) != CURLM_OK) {
        curl.curl_multi_cleanup(multi);
        multi = NULL;
    }
    return multi;
}
void hc_multi_cleanup(CURLM *multi) { curl.curl_multi_cleanup(multi); }
CURLMcode hc_multi_add(CURLM *multi, CURL *easy) { return curl.curl_multi_add_handle(multi, easy); }
CURLMcode hc_multi_remove(CURLM *multi, CURL *easy) { return curl.curl_multi_remove_handle(multi, easy); }
CURLMcode hc_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl.curl_multi_setopt(multi, option, value);
}
CURLMcode hc_multi_perform(CURLM *multi, int *running) { return curl.curl_multi_perform(multi, running); }
CURLMcode hc_multi_poll(CURLM *multi, int timeout_ms) { return curl.curl_multi_poll(multi, NULL, 0, timeout_ms, NULL); }
CURLMcode hc_wake(hc_waker waker) { return curl.curl_multi_wakeup(waker.multi); }
CURL *hc_multi_next_done(CURLM *multi, CURLcode *code) {
    int left;
    CURLMsg *message;
    while ((message = curl.curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

CURLU *hc_url(void) { return curl.curl_url(); }
void hc_url_cleanup(CURLU *url) { curl.curl_url_cleanup(url); }
CURLUcode hc_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
    return curl.curl_url_set(url, part, text, flags);
}
char *hc_url_get(CURLU *url, CURLUPart part, unsigned int flags) {
    char *text = NULL;
    locale_t before = letters ? uselocale(letters) : (locale_t)0;
    CURLUcode code = curl.curl_url_get(url, part, &text, flags);
    if (before) uselocale(before);
    return code == CURLUE_OK ? text : NULL;
}
void hc_free(void *pointer) { curl.curl_free(pointer); }
