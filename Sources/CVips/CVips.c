#define _GNU_SOURCE
#include "CVipsInternal.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <vips/vips.h>

static void log_to_stderr(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer context) {
    (void)context;
    if (level & (G_LOG_LEVEL_DEBUG | G_LOG_LEVEL_INFO | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_WARNING)) return;
    dprintf(2, "%s: %s\n", domain ? domain : "GLib", text ? text : "");
}

int hv_start(void) {
    // GLib prints the messages that these variables enable on standard output.
    unsetenv("G_MESSAGES_DEBUG");
    unsetenv("VIPS_INFO");
    unsetenv("VIPS_WARNING");
    // libvips searches for plug-ins in this folder, so it finds none.
    setenv("VIPSHOME", "/nonexistent", 1);
    g_log_set_default_handler(log_to_stderr, NULL);
    if (vips_init("halcyon-codec")) return -1;
    unsetenv("VIPSHOME");
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    vips_operation_block_set("VipsForeignLoad", TRUE);
    static const char *allowed[] = {"VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadNsgif",
        "VipsForeignLoadWebp", "VipsForeignLoadTiff", "VipsForeignLoadSvg", "VipsForeignLoadJp2k",
        "VipsForeignLoadPpm", "VipsForeignLoadPdf"};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) vips_operation_block_set(allowed[i], FALSE);
    return 0;
}

/// The path of a plug-in in the folder where libvips itself would search.
static int plugin_path(const char *name, char *path, size_t size) {
    Dl_info where;
    if (!dladdr((void *)vips_init, &where) || !where.dli_fname) return -1;
    const char *slash = strrchr(where.dli_fname, '/');
    int length = snprintf(path, size, "%.*s/vips-modules-%d.%d/vips-%s.so",
        slash ? (int)(slash - where.dli_fname) : 1, slash ? where.dli_fname : ".", vips_version(0), vips_version(1), name);
    return length < 0 || (size_t)length >= size ? -1 : 0;
}

int hv_open_plugin(const char *name) {
    char path[4096];
    if (plugin_path(name, path, sizeof path)) return -1;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) return -1;
    if (!strcmp(name, "jxl")) return hv_open_jxl(module);
    if (!strcmp(name, "heif")) hv_open_heif(module);
    const char *(*start)(void *) = (const char *(*)(void *))dlsym(module, "g_module_check_init");
    return start && !start(NULL) ? 0 : -1;
}

int hv_has(const char *operation) { return vips_type_find("VipsOperation", operation) != 0; }

char *hv_take_error(void) { return vips_error_buffer_copy(); }

void hv_free(void *bytes) { g_free(bytes); }

void hv_release(VipsImage *image) { g_object_unref(image); }

static int64_t deadline;
static int was_killed;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void hv_set_deadline(int64_t nanoseconds) {
    deadline = nanoseconds;
    vips_error_clear();
    was_killed = 0;
}

int hv_was_killed(void) { return was_killed; }

int hv_is_late(void) {
    if (deadline && now() >= deadline) was_killed = 1;
    return was_killed;
}

static void check_deadline(VipsImage *image, VipsProgress *progress, void *context) {
    (void)progress, (void)context;
    if (hv_is_late()) vips_image_set_kill(image, TRUE);
}

void hv_watch(VipsImage *image) {
    if (!deadline) return;
    vips_image_set_progress(image, TRUE);
    g_signal_connect(image, "eval", G_CALLBACK(check_deadline), NULL);
}

int hv_has_plugin(const char *name) {
    char path[4096];
    return !plugin_path(name, path, sizeof path) && !access(path, R_OK);
}
