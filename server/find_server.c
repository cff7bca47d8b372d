/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "server/rpc/auth.h"
#include "server/verb.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

/* The URL that the workspace's server announced. */
static int read_announced(const char *workspace, char **ret_url, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(workspace, ".hone", "serve.json", NULL);
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    size_t len;
    int rc = hone_file_read(path, HONE_LIMIT_JOB_BYTES, &text, &len, err);
    if (rc == HONE_E_NOT_FOUND)
        return hone_fail(err, HONE_E_NOT_FOUND, "no server runs on %s; start `hone serve`",
                         workspace);
    if (rc == 0)
        rc = hone_json_parse(text, len, &json, err);
    if (rc < 0)
        return hone_wrap(err, "%s", path);
    *ret_url = hone_strdup(hone_json_get_str(json, "url", ""));
    return 0;
}

int hone_find_server(const char *workspace, const char *url, const char *token_file, char **ret_url,
                     char **ret_token, struct hone_err *err)
{
    HONE_AUTOFREE char *found = strcmp(workspace, ".") == 0 ? hone_workspace_find(workspace) : NULL;
    const char *dir = found ? found : workspace;
    int rc = 0;
    if (strcmp(url, "auto") == 0)
        rc = read_announced(dir, ret_url, err);
    else if (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0)
        *ret_url = hone_sprintf("ws%s", url + strlen("http")); /* the same port and path */
    else
        *ret_url = strstr(url, "://") ? hone_strdup(url) : hone_sprintf("ws://%s/mcp", url);
    if (rc < 0)
        return rc;
    if (token_file)
        return hone_token_load(token_file, false, ret_token, err);
    if (strstr(*ret_url, "token="))
        return 0;
    HONE_AUTOFREE char *path = hone_path_join(dir, ".hone", "token", NULL);
    return hone_file_exists(path) ? hone_token_load(path, false, ret_token, err) : 0;
}
