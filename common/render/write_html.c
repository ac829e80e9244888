/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_html.c - puts style, markup, data and scripts of the page together.
 */
#include "common/render/write_html.h"

#include "common/profile/filter.h"
#include "common/render/page_data.h"

/* page_style, page_style_hash, page_body, page_script, page_script_hash */
#include "common/render/page/page.inc"

/* Written by page/embed.sh from bytes that end in a newline: so do the elements' contents here,
 * which the hashes are of. */
static void put_head(FILE *out, const char *network) {
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "script-src '%s'; style-src '%s'; img-src data:; connect-src %s; base-uri 'none'; "
            "form-action 'none'\">\n",
            page_script_hash, page_style_hash, network);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"generator\" content=\"hcct " HCCT_VERSION "\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>hcct</title>\n",
          out);
    fprintf(out, "<style>%s</style>\n</head>\n%s", page_style, page_body);
}

static void put_script(FILE *out) {
    fprintf(out, "<script>%s</script>\n", page_script);
}

static bool put_end(FILE *out) {
    fputs("</body>\n</html>\n", out);
    return fflush(out) == 0 && !ferror(out);
}

static void open_data(FILE *out, const char *how) {
    fprintf(out, "<script type=\"application/json\" %s>", how);
}

static void close_data(FILE *out) {
    fputs("</script>\n", out);
}

/* Filtered as the first one was by whoever writes it. */
static void put_other(FILE *out, const struct profile *profile,
                      const struct format_options *options) {
    struct profile *filtered = NULL;
    if (options->focus != NULL || options->ignore != NULL)
        filtered = profile_filter(profile, options->focus, options->ignore);
    open_data(out, "class=\"other-data\"");
    page_data_write(out, filtered != NULL ? filtered : profile, options);
    close_data(out);
    profile_free(filtered);
}

/* What the first picture needs, the script that draws it, and then what it reads afterwards. */
bool write_html(FILE *out, const struct profile *profile, const struct format_options *options) {
    struct page_rest *rest;
    put_head(out, "'none'");
    open_data(out, "id=\"data\"");
    rest = page_data_begin(out, profile, options);
    close_data(out);
    put_script(out);
    if (rest != NULL) {
        open_data(out, "id=\"rest\"");
        page_data_end(out, rest);
        close_data(out);
    }
    for (unsigned i = 0; i < options->n_others; i++)
        put_other(out, options->others[i], options);
    return put_end(out);
}

bool write_html_diff(FILE *out, const struct diff *diff, const struct format_options *options) {
    (void)options;
    put_head(out, "'none'");
    open_data(out, "id=\"data\"");
    page_data_write_diff(out, diff);
    close_data(out);
    put_script(out);
    return put_end(out);
}

bool write_html_live(FILE *out) {
    put_head(out, "'self'");
    put_script(out);
    return put_end(out);
}

bool write_page_data(FILE *out, const struct profile *profile,
                     const struct format_options *options) {
    page_data_end(out, page_data_begin(out, profile, options));
    return fflush(out) == 0 && !ferror(out);
}

bool write_page_data_diff(FILE *out, const struct diff *diff,
                          const struct format_options *options) {
    (void)options;
    page_data_write_diff(out, diff);
    return fflush(out) == 0 && !ferror(out);
}
