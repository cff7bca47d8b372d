/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/arena/waited.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

double hone_waited_ns(pid_t pid, double *ret_n_threads)
{
    HONE_AUTOFREE char *folder = hone_sprintf("/proc/%d/task", (int)pid);
    DIR *dir = opendir(folder);
    double sum = 0;
    *ret_n_threads = 0;
    if (dir == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        HONE_AUTOFREE char *path = hone_sprintf("%s/%s/schedstat", folder, entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
        double ran = 0, waited = 0;
        *ret_n_threads += entry->d_name[0] != '.';
        if (file == NULL)
            continue;
        if (fscanf(file, "%lf %lf", &ran, &waited) == 2)
            sum += waited;
        fclose(file);
    }
    closedir(dir);
    return sum;
}
