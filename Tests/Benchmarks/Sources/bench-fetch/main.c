// What fetching into a cache takes at least: the same libraries as the server's, one thread for libcurl and one for the disk,
// a look into the index, SHA-256, a whole file and a row for each picture. No protocol, nobody to cancel or to merge with,
// nothing that could go wrong.
//
//   bench-fetch FOLDER LIST CONNECTIONS
//
// LIST has a URL to a line. Ends with 1 when one of them could not be had.
#define _GNU_SOURCE
#include "fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t receive(char *data, size_t size, size_t count, void *picture) {
    bench_append(&((Picture *)picture)->body, data, size * count);
    return size * count;
}

/// Begins the next download of the list; false at its end.
static bool begin(CURLM *multi, FILE *list) {
    Picture *picture = calloc(1, sizeof *picture);
    CURL *easy = curl_easy_init();
    if (!picture || !easy) bench_fail("There is no memory.");
    if (!fgets(picture->url, sizeof picture->url, list)) {
        curl_easy_cleanup(easy);
        free(picture);
        return false;
    }
    picture->url[strcspn(picture->url, "\n")] = 0;
    if (keep_has(picture->url)) bench_fail("%s is there already.", picture->url);
    curl_easy_setopt(easy, CURLOPT_URL, picture->url);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, picture);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, picture);
    curl_multi_add_handle(multi, easy);
    return true;
}

/// Hands over what has come; returns how many.
static int end(CURLM *multi) {
    int count = 0, rest;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &rest)); count++) {
        CURL *easy = message->easy_handle;
        Picture *picture;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&picture);
        if (message->data.result != CURLE_OK)
            bench_fail("Cannot fetch %s: %s.", picture->url, curl_easy_strerror(message->data.result));
        curl_multi_remove_handle(multi, easy);
        curl_easy_cleanup(easy);
        keep(picture);
    }
    return count;
}

int main(int count, char **arguments) {
    if (count != 4) bench_fail("Usage: bench-fetch FOLDER LIST CONNECTIONS");
    FILE *list = fopen(arguments[2], "r");
    if (!list) bench_fail("Cannot read %s.", arguments[2]);
    int limit = atoi(arguments[3]);
    curl_global_init(CURL_GLOBAL_ALL);
    keep_start(arguments[1]);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 64L);
    bool is_through = false;
    for (int running = 0; !is_through || running > 0;) {
        while (!is_through && running < limit) {
            if (begin(multi, list)) running++;
            else is_through = true;
        }
        int unfinished;
        curl_multi_perform(multi, &unfinished);
        int ended = end(multi);
        running -= ended;
        if (ended == 0 && running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    keep_finish();
    curl_multi_cleanup(multi);
    return 0;
}
