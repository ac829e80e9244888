/*
 * page_json.h - strings of the page's data as JSON that can stand within a script element.
 */
#ifndef HCCT_PAGE_JSON_H
#define HCCT_PAGE_JSON_H

#include <stdio.h>

/* Quoted; without '<', '>' and '&', so that no name can end the element that it stands in. `text`
 * is valid UTF-8. */
void page_json_string(FILE *out, const char *text);

/* Lines of the text report's summary (a word in the first ten columns, then a sentence, which goes
 * on in lines that begin with blanks) as pairs of strings, separated by commas. */
void page_json_facts(FILE *out, const char *lines);

#endif
