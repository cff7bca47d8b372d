/* SPDX-License-Identifier: Apache-2.0 */
/* `hone connect CLIENT`: the lines that make an agent's host use hone. One table of clients, three
 * forms each: the host starts `hone mcp`, or connects to a running `hone serve` over HTTP or
 * WebSocket. A form is text with @PROGRAM@, @WORKSPACE@, @URL@; JSON forms can be written into the
 * client's file, beside what is there. The token is never written: configurations name the
 * environment variable HONE_TOKEN. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/verb.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct args {
    const char *workspace, *client, *how, *url;
    bool write;
};

enum how { STDIO, HTTP, WS, N_HOWS };
static const char *const how_names[] = {"stdio", "http", "ws", NULL};

#define PLAIN_STDIO "{\"command\":\"@PROGRAM@\",\"args\":[\"mcp\",\"--workspace\",\"@WORKSPACE@\"]}"

static const struct client {
    const char *name, *what;
    const char *file; /* where it belongs; in the project, or with ~ in the home folder */
    const char *key;  /* JSON: the object that holds servers; NULL: plain text, only printed */
    const char *forms[N_HOWS]; /* NULL: the client has no such transport */
} clients[] = {
    {"claude-code",
     "Claude Code",
     ".mcp.json",
     "mcpServers",
     {PLAIN_STDIO,
      "{\"type\":\"http\",\"url\":\"@URL@\",\"headers\":{\"Authorization\":\"Bearer "
      "${HONE_TOKEN}\"}}",
      "{\"type\":\"ws\",\"url\":\"@URL@\",\"headers\":{\"Authorization\":\"Bearer "
      "${HONE_TOKEN}\"}}"}},
    {"codex",
     "Codex",
     "~/.codex/config.toml",
     NULL,
     {"[mcp_servers.hone]\ncommand = \"@PROGRAM@\"\nargs = [\"mcp\", \"--workspace\", "
      "\"@WORKSPACE@\"]\ntool_timeout_sec = 300\n",
      "[mcp_servers.hone]\nurl = \"@URL@\"\nbearer_token_env_var = \"HONE_TOKEN\"\n"
      "tool_timeout_sec = 300\n",
      NULL}},
    {"gemini",
     "Gemini CLI",
     ".gemini/settings.json",
     "mcpServers",
     {PLAIN_STDIO, "{\"httpUrl\":\"@URL@\",\"headers\":{\"Authorization\":\"Bearer $HONE_TOKEN\"}}",
      NULL}},
    {"opencode",
     "opencode",
     "opencode.json",
     "mcp",
     {"{\"type\":\"local\",\"command\":[\"@PROGRAM@\",\"mcp\",\"--workspace\",\"@WORKSPACE@\"],"
      "\"enabled\":true}",
      "{\"type\":\"remote\",\"url\":\"@URL@\",\"headers\":{\"Authorization\":\"Bearer "
      "{env:HONE_TOKEN}\"},\"enabled\":true}",
      NULL}},
    {"vscode",
     "VS Code",
     ".vscode/mcp.json",
     "servers",
     {"{\"type\":\"stdio\",\"command\":\"@PROGRAM@\",\"args\":[\"mcp\",\"--workspace\","
      "\"@WORKSPACE@\"]}",
      "{\"type\":\"http\",\"url\":\"@URL@\",\"headers\":{\"Authorization\":\"Bearer "
      "${env:HONE_TOKEN}\"}}",
      NULL}},
    {"json", "any host with mcpServers", "mcp.json", "mcpServers", {PLAIN_STDIO, NULL, NULL}},
    {"curl",
     "a shell",
     "-",
     NULL,
     {NULL,
      "curl @URL@ -H \"Authorization: Bearer $HONE_TOKEN\" -H 'Content-Type: application/json' \\\n"
      "  -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' "
      "\\\n"
      "  -H 'Mcp-Method: tools/call' -H 'Mcp-Name: task_show' -d '{\"jsonrpc\":\"2.0\",\"id\":1,\n"
      "  "
      "\"method\":\"tools/call\",\"params\":{\"name\":\"task_show\",\"arguments\":{},\"_meta\":{\n"
      "  \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\n"
      "  \"io.modelcontextprotocol/clientCapabilities\":{}}}}'\n",
      NULL}},
};

static const char *const client_names[] = {"claude-code", "codex", "gemini", "opencode",
                                           "vscode",      "json",  "curl",   NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, client, "client", "CLIENT", "Whose configuration.", .is_positional = true,
             .is_required = true, .choices = client_names),
    HONE_OPT(struct args, workspace, "workspace", "DIR", "Workspace folder.",
             .env = "HONE_WORKSPACE", .fallback = "."),
    HONE_OPT(struct args, how, "by", "HOW",
             "stdio: the client starts hone; http, ws: it connects to a running `hone serve`. "
             "Default: what the client has, in this order.",
             .choices = how_names),
    HONE_OPT(struct args, url, "url", "URL",
             "The server for http and ws: HOST:PORT, or auto for the one that serves the "
             "workspace.",
             .fallback = "auto"),
    HONE_OPT(struct args, write, "write", NULL,
             "Write it into the client's file in this folder, beside what is there (JSON only)."),
};

/* ---- values ---- */

/* scheme://HOST:PORT/mcp of the server, without its token; owned. */
static int server_url(const struct args *args, enum how how, char **ret, struct hone_err *err)
{
    HONE_AUTOFREE char *url = NULL;
    HONE_AUTOFREE char *token = NULL;
    int rc = hone_find_server(args->workspace, args->url, NULL, &url, &token, err);
    if (rc < 0 && strcmp(args->url, "auto") == 0 && rc == HONE_E_NOT_FOUND) {
        url = hone_strdup("ws://127.0.0.1:7411/mcp");
        hone_say("note: no server runs on %s; 127.0.0.1:7411 is where `hone serve` listens",
                 args->workspace);
        rc = 0;
    }
    if (rc < 0)
        return rc;
    const char *rest = strstr(url, "://");
    *ret = hone_sprintf("%s%.*s", how == HTTP ? "http" : "ws", (int)strcspn(rest, "?"), rest);
    return 0;
}

/* Text with every @NAME@ replaced; owned. JSON strings and TOML strings quote alike. */
static char *fill_in(const char *form, const char *const names[], const char *const values[])
{
    struct hone_buf out = HONE_BUF_INIT;
    for (const char *at = form; *at != '\0';) {
        size_t i = 0;
        while (names[i] != NULL && strncmp(at, names[i], strlen(names[i])) != 0)
            i++;
        if (names[i] == NULL) {
            hone_buf_add(&out, at++, 1);
            continue;
        }
        for (const char *v = values[i]; v != NULL && *v != '\0'; v++)
            hone_buf_printf(&out, "%s%c", *v == '"' || *v == '\\' ? "\\" : "", *v);
        at += strlen(names[i]);
    }
    return hone_buf_steal(&out);
}

static char *own_path(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    return n > 0 ? hone_strndup(path, (size_t)n) : hone_strdup("hone");
}

/* ---- output ---- */

/* {key: {"hone": entry}}, in what is there already (NULL: nothing). Owned. */
static struct hone_json *merged(const struct client *client, const struct hone_json *entry,
                                struct hone_json *old)
{
    struct hone_json *all = old != NULL ? old : hone_json_new_object();
    struct hone_json *servers = hone_json_detach(all, client->key);
    if (servers == NULL)
        servers = hone_json_new_object();
    hone_json_free(hone_json_detach(servers, "hone"));
    hone_json_set(servers, "hone", hone_json_copy(entry));
    hone_json_set(all, client->key, servers);
    return all;
}

static int write_file(const struct client *client, const struct hone_json *entry,
                      struct hone_err *err)
{
    HONE_AUTOFREE char *old_text = NULL;
    struct hone_json *old = NULL;
    size_t len;
    int rc = hone_file_read(client->file, HONE_LIMIT_JSON_BYTES, &old_text, &len, err);
    if (rc < 0 && rc != HONE_E_NOT_FOUND)
        return rc;
    if (rc == 0)
        rc = hone_json_parse(old_text, len, &old, err);
    else
        rc = 0;
    if (rc == 0 && old != NULL &&
        (hone_json_type(old) != HONE_JSON_OBJECT ||
         (hone_json_get(old, client->key) != NULL &&
          hone_json_type(hone_json_get(old, client->key)) != HONE_JSON_OBJECT)))
        rc = hone_fail(err, HONE_E_CORRUPT, "it is no object of servers");
    if (rc < 0) {
        hone_json_free(old);
        return hone_wrap(err, "%s is left as it is", client->file);
    }
    HONE_AUTOJSON struct hone_json *all = merged(client, entry, old);
    HONE_AUTOFREE char *text = hone_json_print_pretty(all);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", text);
    HONE_AUTOFREE char *folder = hone_strndup(client->file, strcspn(client->file, "/"));
    if (strlen(folder) < strlen(client->file))
        rc = hone_mkdirs(folder, 0755, err);
    if (rc == 0)
        rc = hone_file_write(client->file, line, strlen(line), 0644, false, err);
    if (rc == 0)
        hone_say("wrote %s", client->file);
    return rc;
}

static int put(const struct args *args, const struct client *client, const char *text,
               struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *entry = NULL;
    if (client->key == NULL)
        return args->write
                   ? hone_fail(err, HONE_E_UNSUPPORTED,
                               "%s is no JSON: put the lines into it yourself", client->file)
                   : hone_print(text, err);
    int rc = hone_json_parse(text, strlen(text), &entry, err);
    if (rc < 0 || args->write)
        return rc < 0 ? rc : write_file(client, entry, err);
    HONE_AUTOJSON struct hone_json *all = merged(client, entry, NULL);
    HONE_AUTOFREE char *pretty = hone_json_print_pretty(all);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", pretty);
    return hone_print(line, err);
}

static const struct client *find(const char *name)
{
    size_t i = 0;
    while (strcmp(clients[i].name, name) != 0)
        i++;
    return &clients[i];
}

static int pick_how(const struct args *args, const struct client *client, enum how *ret,
                    struct hone_err *err)
{
    *ret = STDIO;
    while (args->how != NULL ? strcmp(how_names[*ret], args->how) != 0
                             : client->forms[*ret] == NULL)
        (*ret)++;
    return client->forms[*ret] != NULL
               ? 0
               : hone_fail(err, HONE_E_UNSUPPORTED, "%s does not connect by %s", client->what,
                           args->how);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    const struct client *client = find(args->client);
    char workspace[PATH_MAX];
    HONE_AUTOFREE char *program = own_path();
    HONE_AUTOFREE char *url = NULL;
    enum how how;
    int rc = pick_how(args, client, &how, err);
    if (rc == 0 && realpath(args->workspace, workspace) == NULL)
        rc = hone_fail(err, HONE_E_NOT_FOUND, "%s: no such folder", args->workspace);
    if (rc == 0 && how != STDIO)
        rc = server_url(args, how, &url, err);
    if (rc < 0)
        return rc;
    static const char *const names[] = {"@PROGRAM@", "@WORKSPACE@", "@URL@", NULL};
    const char *const values[] = {program, workspace, url, NULL};
    HONE_AUTOFREE char *text = fill_in(client->forms[how], names, values);
    if (!args->write)
        hone_say("# for %s, in %s", client->what, client->file);
    if (how != STDIO)
        hone_say("# before it starts: export HONE_TOKEN=$(cat %s/.hone/token)", workspace);
    return put(args, client, text, err);
}

const struct hone_verb hone_verb_connect = {
    .name = "connect",
    .summary = "Print or write an agent host's configuration for hone.",
    .description =
        "Prints what belongs into the host's file, and on stderr which file that is. The "
        "token is never printed: the\nconfiguration names the environment variable "
        "HONE_TOKEN.",
    .example = "hone connect claude-code --workspace ~/kernels --write",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
