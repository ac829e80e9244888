/*
 * settings.c - environment variables to settings, as a table.
 *
 * No stdio and no strtol here: nothing that allocates, locks, or depends on the application's
 * locale.
 */
#include "preload/settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "preload/sys.h"

#define STDERR 2

enum kind { NUMBER, YES_NO };

static const struct setting {
    const char *name;
    const char *fallback; /* as a text, for the message and as the default's one source */
    enum kind kind;
    size_t offset;
    unsigned min, max;
} table[] = {
    {"HCCT_RATE", "100", NUMBER, offsetof(struct agent_settings, rate), 1, 10000},
    {"HCCT_WAIT", "0", NUMBER, offsetof(struct agent_settings, wait_ms), 0, 10000},
    {"HCCT_SIGNAL", "0", NUMBER, offsetof(struct agent_settings, signal), 0, 64},
    {"HCCT_FOLLOW", "yes", YES_NO, offsetof(struct agent_settings, follow), 0, 0},
    {"HCCT_ENABLE", "yes", YES_NO, offsetof(struct agent_settings, enable), 0, 0},
    {"HCCT_VERBOSE", "no", YES_NO, offsetof(struct agent_settings, verbose), 0, 0},
};

void settings_say(const struct agent_settings *settings, bool always, const char *what,
                  const char *detail) {
    char line[512] = "hcct: ";
    if (!always && !settings->verbose)
        return;
    size_t used = strlen(line);
    const char *part[] = {what, detail, "\n"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(part); i++) {
        size_t n = part[i] != NULL ? strlen(part[i]) : 0;
        if (n > sizeof line - 1 - used)
            n = sizeof line - 1 - used;
        memcpy(line + used, part[i] != NULL ? part[i] : "", n);
        used += n;
    }
    sys3(SYS_write, STDERR, line, used);
}

static bool parse_number(const char *text, unsigned min, unsigned max, unsigned *value) {
    unsigned long n = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || n > 1000000000)
            return false;
        n = n * 10 + (unsigned long)(*text - '0');
    }
    *value = (unsigned)n;
    return n >= min && n <= max;
}

static bool parse_yes_no(const char *text, bool *value) {
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"1", true},  {"yes", true}, {"on", true},   {"true", true},
                 {"0", false}, {"no", false}, {"off", false}, {"false", false}};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

static bool set(struct agent_settings *settings, const struct setting *s, const char *text) {
    void *into = (char *)settings + s->offset;
    return s->kind == NUMBER ? parse_number(text, s->min, s->max, into) : parse_yes_no(text, into);
}

void settings_read(struct agent_settings *settings) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(table); i++) {
        const struct setting *s = &table[i];
        const char *text = getenv(s->name);
        if (text != NULL && text[0] != '\0' && set(settings, s, text))
            continue;
        if (text != NULL && text[0] != '\0') {
            settings_say(settings, true, s->name,
                         " has a value that can't be; the default is used");
            settings_say(settings, true, "the default is ", s->fallback);
        }
        set(settings, s, s->fallback);
    }
    if (paths_socket(settings->socket, sizeof settings->socket, NULL) >= sizeof settings->socket) {
        settings->socket[0] = '\0';
        settings_say(settings, true, "the socket path is longer than 107 bytes: not profiled; ",
                     "set HCCT_SOCKET to a shorter one");
    }
}
