/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/history_internal.h"

#include <ctype.h>
#include <string.h>
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

/* Valid UTF-8 without control characters (newline and tab stay); owned. */
static char *clean(const char *text)
{
    struct hone_json *json HONE_AUTOJSON = hone_json_new_str(text ? text : "");
    char *out = hone_strdup(hone_json_str(json)); /* the one place that defines the replacement */
    char *to = out;
    for (const char *from = out; *from; from++)
        if (*from != '\r' || from[1] != '\n')
            *to++ = *from;
    *to = '\0';
    hone_utf8_defuse(out, ' ');
    return out;
}

char *hone_text_line(const char *text, size_t max)
{
    char *line = clean(text);
    char *to = line;
    for (const char *from = line; *from; from++) { /* runs of blanks become one space */
        char c = *from == '\n' || *from == '\t' ? ' ' : *from;
        if (c != ' ' || (to > line && to[-1] != ' '))
            *to++ = c;
    }
    *to = '\0';
    if (strlen(line) > max)
        line[hone_utf8_cut(line, max)] = '\0';
    for (to = line + strlen(line); to > line && to[-1] == ' '; to--)
        to[-1] = '\0';
    return line;
}

/* The body with lines trimmed at the end, at most one empty line in a row, none at the ends. git
 * takes a line that begins with
 * "---" for the start of a patch and stops looking for trailers: such lines are indented. */
static void add_body(struct hone_buf *out, const char *body)
{
    char *text HONE_AUTOFREE = clean(body);
    bool has_text = false;
    bool is_gap = false;
    char *save = NULL;
    for (char *rest = text; rest; rest = save) {
        char *line = rest;
        char *end = strchr(line, '\n');
        save = end ? end + 1 : NULL;
        size_t len = end ? (size_t)(end - line) : strlen(line);
        while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
            len--;
        if (len == 0) {
            is_gap = has_text;
            continue;
        }
        hone_buf_str(out, is_gap || !has_text ? "\n" : "");
        hone_buf_str(out, strncmp(line, "---", 3) == 0 ? " " : "");
        hone_buf_add(out, line, len);
        hone_buf_str(out, "\n");
        has_text = true;
        is_gap = false;
    }
}

static bool is_key(const char *key)
{
    size_t len = key ? strlen(key) : 0;
    if (len == 0 || len > HONE_LIMIT_NAME_BYTES || !isalpha((unsigned char)key[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)key[i]) && key[i] != '-')
            return false;
    return true;
}

static int add_trailer(struct hone_buf *out, const char *key, const char *value,
                       struct hone_err *err)
{
    if (!is_key(key))
        return hone_fail(err, HONE_E_ARG, "'%.64s' is no trailer name; use letters, digits and '-'",
                         key ? key : "");
    char *line HONE_AUTOFREE = hone_text_line(value, HONE_LIMIT_TRAILER_BYTES);
    if (line[0])
        hone_buf_printf(out, "%s: %s\n", key, line);
    return 0;
}

int hone_text_message(const struct hone_version *v, char **ret_message, struct hone_err *err)
{
    const struct hone_trailer *trailers = v->trailers.v;
    if (v->body && strlen(v->body) > HONE_LIMIT_COMMIT_TEXT_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "the commit's body is %zu bytes, at most %u are kept",
                         strlen(v->body), HONE_LIMIT_COMMIT_TEXT_BYTES);
    if (v->trailers.n > HONE_LIMIT_TRAILERS)
        return hone_fail(err, HONE_E_LIMIT, "%zu trailers, at most %d are kept", v->trailers.n,
                         HONE_LIMIT_TRAILERS);
    struct hone_buf out HONE_CLEANUP(hone_buf_done) = HONE_BUF_INIT;
    char *subject HONE_AUTOFREE = hone_text_line(v->subject, HONE_LIMIT_SUBJECT_BYTES);
    hone_buf_printf(&out, "%s\n", subject[0] ? subject : "version");
    add_body(&out, v->body);
    hone_buf_str(&out, "\n");
    int rc = 0;
    if (v->task && !hone_trailer_get(v, "Task"))
        rc = add_trailer(&out, "Task", v->task, err);
    if (rc == 0 && v->target && !hone_trailer_get(v, "Target"))
        rc = add_trailer(&out, "Target", v->target, err);
    for (size_t i = 0; rc == 0 && i < v->trailers.n; i++)
        rc = add_trailer(&out, trailers[i].key, trailers[i].value, err);
    if (rc == 0)
        rc = hone_buf_check(&out, err);
    if (rc == 0)
        *ret_message = hone_buf_steal(&out);
    return rc;
}

/* The last paragraph, if every line of it is "Key: value"; NULL: no trailers. */
static char *find_trailers(char *message)
{
    char *start = NULL;
    for (char *at = message; (at = strstr(at, "\n\n")); at += 1)
        start = at + 2;
    if (!start || !*start)
        return NULL;
    for (const char *line = start; *line;) {
        const char *end = strchr(line, '\n');
        const char *colon = strstr(line, ": ");
        if (!colon || (end && colon > end))
            return NULL;
        line = end ? end + 1 : line + strlen(line);
    }
    return start;
}

static void parse_trailers(char *text, struct hone_pool *pool, struct hone_version *ret)
{
    size_t n = 0;
    for (const char *at = text; *at; at++)
        n += *at == '\n';
    struct hone_trailer *trailers = hone_pool_alloc(pool, (n + 1) * sizeof(*trailers));
    n = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *colon = strstr(line, ": ");
        *colon = '\0';
        trailers[n++] = (struct hone_trailer){.key = line, .value = colon + 2};
    }
    ret->trailers = (struct hone_array){.v = trailers, .n = n};
}

void hone_text_parse(char *message, struct hone_pool *pool, struct hone_version *ret)
{
    size_t len = strlen(message);
    while (len > 0 && message[len - 1] == '\n')
        message[--len] = '\0';
    char *trailers = find_trailers(message);
    if (trailers) {
        trailers[-1] = '\0';
        parse_trailers(trailers, pool, ret);
    }
    ret->subject = message;
    char *body = strchr(message, '\n');
    if (body) {
        *body++ = '\0';
        body += strspn(body, "\n");
        for (len = strlen(body); len > 0 && body[len - 1] == '\n'; len--)
            body[len - 1] = '\0';
        ret->body = body[0] ? body : NULL;
    }
    ret->task = hone_trailer_get(ret, "Task");
    ret->target = hone_trailer_get(ret, "Target");
}

const char *hone_trailer_get(const struct hone_version *v, const char *key)
{
    const struct hone_trailer *trailers = v->trailers.v;
    for (size_t i = 0; i < v->trailers.n; i++)
        if (trailers[i].key && strcmp(trailers[i].key, key) == 0)
            return trailers[i].value;
    return NULL;
}
