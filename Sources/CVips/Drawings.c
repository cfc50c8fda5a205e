#define _GNU_SOURCE
#include "CVipsInternal.h"
#include "OpenedFiles.h"
#include <dlfcn.h>
#include <iconv.h>
#include <string.h>
#include <time.h>

/// The functions of fontconfig that are used, from the library that libvips is linked with.
typedef struct {
    int nfont, sfont;
    void **fonts;
} FontSet;
typedef void *(*Current)(void);
typedef FontSet *(*Fonts)(void *config, int set);
typedef int (*Text)(const void *font, const char *object, int number, unsigned char **text);
typedef int (*Interval)(void *config, int seconds);

/// Opens the files of all fonts, and has fontconfig not look for new ones.
static void keep_fonts(void) {
    Current current = (Current)dlsym(RTLD_DEFAULT, "FcConfigGetCurrent");
    Fonts fonts = (Fonts)dlsym(RTLD_DEFAULT, "FcConfigGetFonts");
    Text text = (Text)dlsym(RTLD_DEFAULT, "FcPatternGetString");
    Interval interval = (Interval)dlsym(RTLD_DEFAULT, "FcConfigSetRescanInterval");
    void *config = current ? current() : NULL;
    if (!config || !fonts || !text || !interval) return;
    interval(config, 0);
    // Those of the system, and those that an application adds.
    for (int kind = 0; kind < 2; kind++) {
        FontSet *set = fonts(config, kind);
        for (int i = 0; set && i < set->nfont; i++) {
            unsigned char *path;
            if (!text(set->fonts[i], "file", 0, &path)) hv_keep_file((const char *)path);
        }
    }
}

/// Loads the modules of gdk-pixbuf, which reads pictures within drawings.
static void load_picture_modules(void) {
    GSList *(*formats)(void) = (GSList * (*)(void)) dlsym(RTLD_DEFAULT, "gdk_pixbuf_get_formats");
    char *(*name)(void *) = (char *(*)(void *))dlsym(RTLD_DEFAULT, "gdk_pixbuf_format_get_name");
    GObject *(*start)(const char *, GError **) =
        (GObject * (*)(const char *, GError **)) dlsym(RTLD_DEFAULT, "gdk_pixbuf_loader_new_with_type");
    gboolean (*end)(GObject *, GError **) = (gboolean(*)(GObject *, GError **))dlsym(RTLD_DEFAULT, "gdk_pixbuf_loader_close");
    if (!formats || !name || !start || !end) return;
    GSList *all = formats();
    for (GSList *one = all; one; one = one->next) {
        char *text = name(one->data);
        GObject *loader = start(text, NULL);
        if (loader) {
            end(loader, NULL);
            g_object_unref(loader);
        }
        g_free(text);
    }
    g_slist_free(all);
}

/// Loads the tables of encodings in which drawings are written besides Unicode. They stay as long as one is open.
static void load_encodings(void) {
    static const char *names[] = {"WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1252", "WINDOWS-1253", "WINDOWS-1254",
        "ISO-8859-2", "ISO-8859-5", "ISO-8859-7", "ISO-8859-9", "ISO-8859-15", "KOI8-R", "SHIFT_JIS", "EUC-JP", "GBK",
        "GB18030", "BIG5", "EUC-KR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) (void)iconv_open("UTF-8", names[i]);
}

/// A drawing that has the library load what it needs for text and for pictures within drawings.
static const char everything[] =
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='64' height='64'>"
    "<text y='9' font-size='8'>a</text><text y='9' font-size='8' font-family='serif' font-weight='bold'>\xe6\xbc\xa2</text>"
    "<text y='9' font-size='8' font-family='monospace' font-style='italic'>\xd7\xa9</text>"
    "<image width='1' height='1' xlink:href='data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='/>"
    "<image width='1' height='1' xlink:href='data:image/gif;base64,"
    "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'/></svg>";

void hv_prepare_drawings(void) {
    tzset();
    VipsImage *image = hv_load(hv_svg, everything, strlen(everything), 1, 1, 0, 1, 1, 2, 0);
    VipsImage *drawn = image ? hv_materialise(image) : NULL;
    if (drawn) g_object_unref(drawn);
    if (image) g_object_unref(image);
    vips_error_clear();
    load_picture_modules();
    keep_fonts();
    load_encodings();
}
