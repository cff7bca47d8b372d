/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page/documents.h"

#include <string.h>

#include "workspace/base/base.h"
#include "workspace/base/buf.h"
#include "workspace/base/embed.h"

#define PAGE(name_, path_) HONE_EMBED(hone_document_##name_, "docs/" path_ ".md")

PAGE(first, "guides/first");
PAGE(connect, "guides/connect");
PAGE(tasks, "tasks");
PAGE(verdict, "guides/verdict");
PAGE(search, "guides/search");
PAGE(cuda, "guides/cuda");
PAGE(imports, "guides/imports");
PAGE(torch_model, "guides/torch-model");
PAGE(models, "guides/models");
PAGE(night, "guides/night");
PAGE(cluster, "guides/cluster");
PAGE(page, "guides/page");
PAGE(search_example, "guides/search-example");
PAGE(tools, "reference/tools");
PAGE(protocol, "reference/protocol");
PAGE(profile, "reference/profile");
PAGE(policy, "reference/policy");
PAGE(contents, "reference/contents");
PAGE(history, "reference/history");
PAGE(glossary, "glossary");

/* In the order of a reader's need. */
const struct hone_document hone_documents[] = {
    {"first", hone_document_first},
    {"connect", hone_document_connect},
    {"tasks", hone_document_tasks},
    {"verdict", hone_document_verdict},
    {"search", hone_document_search},
    {"cuda", hone_document_cuda},
    {"imports", hone_document_imports},
    {"torch-model", hone_document_torch_model},
    {"models", hone_document_models},
    {"night", hone_document_night},
    {"cluster", hone_document_cluster},
    {"page", hone_document_page},
    {"search-example", hone_document_search_example},
    {"tools", hone_document_tools},
    {"protocol", hone_document_protocol},
    {"profile", hone_document_profile},
    {"policy", hone_document_policy},
    {"contents", hone_document_contents},
    {"history", hone_document_history},
    {"glossary", hone_document_glossary},
};
const size_t hone_n_documents = HONE_COUNTOF(hone_documents);

const struct hone_document *hone_document_find(const char *name)
{
    for (size_t i = 0; i < hone_n_documents; i++)
        if (strcmp(hone_documents[i].name, name) == 0)
            return &hone_documents[i];
    return NULL;
}

char *hone_document_title(const struct hone_document *document)
{
    const char *text = document->text + strspn(document->text, "# ");
    return hone_strndup(text, strcspn(text, "\n"));
}
