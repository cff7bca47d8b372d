/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and graphs of the emulated device. Each stream has a thread that does its work in
 * order; the null stream waits for blocking streams and they for it, as the driver says. Work after
 * a fault is dropped. */
#include "tests/cuda_emulator/driver.h"

#include <stdio.h>

struct item {
    struct emu_work work;
    uint64_t ticket;
    struct item *next;
};
struct hone_cu_stream_s {
    struct item *first, *last; /* the first one is being done */
    pthread_t thread;
    bool has_thread, is_non_blocking, is_ending;
    struct hone_cu_stream_s *next;
};
struct hone_cu_event_s {
    int refs, n_pending;
    bool has_time, is_recorded;
    uint64_t ns;
};
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct hone_cu_stream_s null_stream, *streams; /* streams: null_stream is not in it */
    uint64_t ticket;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct hone_cu_stream_s *resolve(hone_cu_stream stream)
{
    return (uintptr_t)stream <= 2 ? &queue.null_stream : stream;
}

static bool must_wait(const struct hone_cu_stream_s *stream, uint64_t ticket)
{
    const struct item *first = queue.null_stream.first;
    if (stream != &queue.null_stream)
        return !stream->is_non_blocking && first != NULL && first->ticket < ticket;
    for (const struct hone_cu_stream_s *s = queue.streams; s != NULL; s = s->next)
        if (!s->is_non_blocking && s->first != NULL && s->first->ticket < ticket)
            return true;
    return false;
}

static void *stream_thread(void *arg)
{
    struct hone_cu_stream_s *stream = arg;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        struct item *item = stream->first;
        if (item == NULL && stream->is_ending)
            break;
        if (item == NULL || must_wait(stream, item->ticket)) {
            pthread_cond_wait(&queue.changed, &queue.lock);
            continue;
        }
        pthread_mutex_unlock(&queue.lock);
        if (!emu_is_broken()) {
            hone_cu_result rc = item->work.run(item->work.arg);
            if (rc != 0)
                emu_break(rc);
        }
        if (item->work.drop != NULL)
            item->work.drop(item->work.arg);
        pthread_mutex_lock(&queue.lock);
        stream->first = item->next;
        if (stream->first == NULL)
            stream->last = NULL;
        free(item);
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.lock);
    hone_emu_thread_done();
    return NULL;
}

hone_cu_result emu_submit(hone_cu_stream handle, struct emu_work work)
{
    struct hone_cu_stream_s *stream = resolve(handle);
    struct item *item = calloc(1, sizeof(*item));
    if (item == NULL)
        abort();
    item->work = work;
    pthread_mutex_lock(&queue.lock);
    if (!stream->has_thread)
        stream->has_thread = pthread_create(&stream->thread, NULL, stream_thread, stream) == 0;
    bool is_taken = stream->has_thread;
    if (is_taken) {
        item->ticket = ++queue.ticket;
        if (stream->last != NULL)
            stream->last->next = item;
        else
            stream->first = item;
        stream->last = item;
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.lock);
    if (!is_taken) {
        if (work.drop != NULL)
            work.drop(work.arg);
        free(item);
    }
    return is_taken ? 0 : HONE_CU_OUT_OF_MEMORY;
}

hone_cu_result emu_wait_stream(hone_cu_stream handle)
{
    struct hone_cu_stream_s *stream = resolve(handle);
    pthread_mutex_lock(&queue.lock);
    uint64_t until = queue.ticket;
    while (stream->first != NULL && stream->first->ticket <= until)
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
    fflush(stdout); /* what kernels printed */
    return emu_enter();
}
void emu_wait_all(void)
{
    pthread_mutex_lock(&queue.lock);
    uint64_t until = queue.ticket;
    for (bool goes_on = true; goes_on;) {
        goes_on = queue.null_stream.first != NULL && queue.null_stream.first->ticket <= until;
        for (const struct hone_cu_stream_s *s = queue.streams; s != NULL; s = s->next)
            goes_on |= s->first != NULL && s->first->ticket <= until;
        if (goes_on)
            pthread_cond_wait(&queue.changed, &queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    fflush(stdout);
}

hone_cu_result cuStreamCreate(hone_cu_stream *ret, unsigned flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    struct hone_cu_stream_s *stream = emu_handle(sizeof(*stream));
    stream->is_non_blocking = (flags & HONE_CU_STREAM_NON_BLOCKING) != 0;
    pthread_mutex_lock(&queue.lock);
    stream->next = queue.streams;
    queue.streams = stream;
    pthread_mutex_unlock(&queue.lock);
    *ret = stream;
    return 0;
}
hone_cu_result cuStreamDestroy(hone_cu_stream stream)
{
    if ((uintptr_t)stream <= 2)
        return EMU_INVALID_HANDLE;
    pthread_mutex_lock(&queue.lock);
    stream->is_ending = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    if (stream->has_thread)
        pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&queue.lock);
    struct hone_cu_stream_s **at = &queue.streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    pthread_mutex_unlock(&queue.lock);
    free(stream);
    return emu_enter();
}
hone_cu_result cuStreamSynchronize(hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    return rc != 0 ? rc : emu_wait_stream(stream);
}
hone_cu_result cuStreamQuery(hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    pthread_mutex_lock(&queue.lock);
    bool is_busy = resolve(stream)->first != NULL;
    pthread_mutex_unlock(&queue.lock);
    return rc != 0 ? rc : is_busy ? HONE_CU_NOT_READY : emu_enter();
}

/* ---- events ---- */

hone_cu_result cuEventCreate(hone_cu_event *ret, unsigned flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    struct hone_cu_event_s *event = emu_handle(sizeof(*event));
    event->refs = 1;
    event->has_time = (flags & HONE_CU_EVENT_NO_TIMING) == 0;
    *ret = event;
    return 0;
}
static void event_unref(void *arg)
{
    struct hone_cu_event_s *event = arg;
    pthread_mutex_lock(&queue.lock);
    bool is_last = --event->refs == 0;
    pthread_mutex_unlock(&queue.lock);
    if (is_last)
        free(event);
}
static hone_cu_result event_happens(void *arg)
{
    struct hone_cu_event_s *event = arg;
    pthread_mutex_lock(&queue.lock);
    event->ns = hone_emu_clock();
    event->n_pending--;
    pthread_mutex_unlock(&queue.lock);
    return 0;
}
hone_cu_result cuEventDestroy(hone_cu_event event)
{
    if (event == NULL)
        return EMU_INVALID_HANDLE;
    event_unref(event);
    return emu_enter();
}
hone_cu_result cuEventRecord(hone_cu_event event, hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || event == NULL)
        return rc != 0 ? rc : EMU_INVALID_HANDLE;
    pthread_mutex_lock(&queue.lock);
    event->refs++;
    event->n_pending++;
    event->is_recorded = true;
    pthread_mutex_unlock(&queue.lock);
    return emu_submit(stream, (struct emu_work){event_happens, event_unref, event});
}
hone_cu_result cuEventQuery(hone_cu_event event)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || event == NULL)
        return rc != 0 ? rc : EMU_INVALID_HANDLE;
    pthread_mutex_lock(&queue.lock);
    bool is_pending = event->n_pending > 0;
    pthread_mutex_unlock(&queue.lock);
    rc = emu_enter();
    return rc != 0 ? rc : is_pending ? HONE_CU_NOT_READY : 0;
}
hone_cu_result cuEventSynchronize(hone_cu_event event)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || event == NULL)
        return rc != 0 ? rc : EMU_INVALID_HANDLE;
    pthread_mutex_lock(&queue.lock);
    while (event->n_pending > 0 && !emu_is_broken())
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
    return emu_enter();
}
hone_cu_result cuEventElapsedTime(float *ret_ms, hone_cu_event start, hone_cu_event end)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (start == NULL || end == NULL || !start->has_time || !end->has_time || !start->is_recorded ||
        !end->is_recorded)
        return EMU_INVALID_HANDLE;
    if (start->n_pending > 0 || end->n_pending > 0)
        return HONE_CU_NOT_READY;
    *ret_ms = (float)((double)(int64_t)(end->ns - start->ns) * 1e-6);
    return 0;
}

/* ---- graphs ---- */

struct hone_cu_graph_node_s {
    struct emu_work work; /* arg owned; not consumed by running */
    bool is_kernel;
    struct hone_cu_graph_s *graph;
    size_t *after, n_after;
};
struct hone_cu_graph_s {
    struct hone_cu_graph_node_s **nodes;
    size_t n_nodes, *order; /* order: once instantiated */
    int refs;               /* the graph, its executables, their launches */
    bool is_instantiated;
};

hone_cu_result cuGraphCreate(hone_cu_graph *ret, unsigned flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || flags != 0)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    struct hone_cu_graph_s *graph = emu_handle(sizeof(*graph));
    graph->refs = 1;
    *ret = graph;
    return 0;
}
static void graph_unref(void *arg)
{
    struct hone_cu_graph_s *graph = arg;
    pthread_mutex_lock(&queue.lock);
    bool is_last = --graph->refs == 0;
    pthread_mutex_unlock(&queue.lock);
    for (size_t i = 0; is_last && i < graph->n_nodes; i++) {
        graph->nodes[i]->work.drop(graph->nodes[i]->work.arg);
        free(graph->nodes[i]->after);
        free(graph->nodes[i]);
    }
    if (is_last) {
        free(graph->nodes);
        free(graph->order);
        free(graph);
    }
}
static struct hone_cu_graph_s *graph_ref(struct hone_cu_graph_s *graph)
{
    pthread_mutex_lock(&queue.lock);
    graph->refs++;
    pthread_mutex_unlock(&queue.lock);
    return graph;
}
hone_cu_result cuGraphDestroy(hone_cu_graph graph)
{
    if (graph == NULL)
        return HONE_CU_INVALID_VALUE;
    graph_unref(graph);
    return emu_enter();
}

/* An executable shares its graph's nodes: ours are not changed after it was made. */
static hone_cu_result node_add(hone_cu_graph_node *ret, hone_cu_graph graph,
                               const hone_cu_graph_node *after, size_t n_after,
                               struct emu_work work, bool is_kernel)
{
    struct hone_cu_graph_node_s *node = calloc(1, sizeof(*node));
    void *nodes = realloc(graph->nodes, (graph->n_nodes + 1) * sizeof(*graph->nodes));
    if (node == NULL || nodes == NULL)
        abort();
    graph->nodes = nodes;
    *node = (struct hone_cu_graph_node_s){work, is_kernel, graph, NULL, 0};
    node->after = calloc(n_after + 1, sizeof(*node->after));
    bool is_good = node->after != NULL && !graph->is_instantiated;
    for (size_t i = 0; is_good && i < n_after; i++) {
        size_t k = 0;
        while (k < graph->n_nodes && graph->nodes[k] != after[i])
            k++;
        is_good = k < graph->n_nodes;
        node->after[node->n_after++] = k;
    }
    if (!is_good) {
        work.drop(work.arg);
        free(node->after);
        free(node);
        return HONE_CU_INVALID_VALUE;
    }
    graph->nodes[graph->n_nodes++] = node;
    *ret = node;
    return 0;
}
hone_cu_result cuGraphAddKernelNode(hone_cu_graph_node *ret, hone_cu_graph graph,
                                    const hone_cu_graph_node *after, size_t n_after,
                                    const struct hone_cu_kernel_params *p)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    struct hone_cu_launch_config config = {.grid_x = p->grid_x,
                                           .grid_y = p->grid_y,
                                           .grid_z = p->grid_z,
                                           .block_x = p->block_x,
                                           .block_y = p->block_y,
                                           .block_z = p->block_z,
                                           .shared_bytes = p->shared_bytes};
    struct emu_kernel_call *call;
    rc = emu_call_new(&config, p->func, p->params, p->extra, &call);
    return rc != 0 ? rc
                   : node_add(ret, graph, after, n_after,
                              (struct emu_work){emu_call_run, emu_call_free, call}, true);
}
static hone_cu_result add_transfer(hone_cu_graph_node *ret, hone_cu_graph graph,
                                   const hone_cu_graph_node *after, size_t n_after,
                                   struct emu_transfer t)
{
    struct emu_transfer *copy = malloc(sizeof(*copy));
    if (copy == NULL)
        abort();
    *copy = t;
    return node_add(ret, graph, after, n_after,
                    (struct emu_work){emu_transfer_run, emu_transfer_free, copy}, false);
}
hone_cu_result cuGraphAddMemsetNode(hone_cu_graph_node *ret, hone_cu_graph graph,
                                    const hone_cu_graph_node *after, size_t n_after,
                                    const struct hone_cu_memset_params *p, hone_cu_ctx ctx)
{
    (void)ctx;
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    unsigned size = p->element_size;
    if ((size != 1 && size != 2 && size != 4) || p->height != 1 || p->width == 0 ||
        p->dst % size != 0 || !emu_is_memory(p->dst, p->width * size) ||
        (size < 4 && p->value >> (8 * size) != 0))
        return HONE_CU_INVALID_VALUE;
    return add_transfer(ret, graph, after, n_after,
                        (struct emu_transfer){.to = p->dst,
                                              .n = p->width,
                                              .value = p->value,
                                              .element_bytes = size,
                                              .is_fill = true});
}
hone_cu_result cuGraphAddMemcpyNode(hone_cu_graph_node *ret, hone_cu_graph graph,
                                    const hone_cu_graph_node *after, size_t n_after,
                                    const struct hone_cu_memcpy3d *p, hone_cu_ctx ctx)
{
    (void)ctx;
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    struct emu_transfer t = {.n = p->width};
    t.from = p->src_type == HONE_CU_MEMTYPE_HOST ? (uintptr_t)p->src_host : p->src_device;
    t.to = p->dst_type == HONE_CU_MEMTYPE_HOST ? (uintptr_t)p->dst_host : p->dst_device;
    t.from += p->src_x;
    t.to += p->dst_x;
    if (p->width == 0 || p->height != 1 || p->depth != 1 ||
        (p->src_type != HONE_CU_MEMTYPE_HOST && !emu_is_memory(t.from, t.n)) ||
        (p->dst_type != HONE_CU_MEMTYPE_HOST && !emu_is_memory(t.to, t.n)))
        return HONE_CU_INVALID_VALUE;
    return add_transfer(ret, graph, after, n_after, t);
}
hone_cu_result cuGraphKernelNodeSetAttribute(hone_cu_graph_node node, int id,
                                             const union hone_cu_launch_value *value)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || node == NULL || !node->is_kernel || node->graph->is_instantiated)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    return emu_call_set(node->work.arg, id, value);
}

/* Of the nodes that may go, the one added last goes first: a missing edge shows itself. */
static bool graph_order(struct hone_cu_graph_s *graph)
{
    bool *is_done = calloc(graph->n_nodes + 1, sizeof(*is_done));
    graph->order = calloc(graph->n_nodes + 1, sizeof(*graph->order));
    if (is_done == NULL || graph->order == NULL)
        abort();
    size_t n = 0;
    for (bool goes_on = true; goes_on && n < graph->n_nodes;) {
        goes_on = false;
        for (size_t i = graph->n_nodes; i-- > 0 && !goes_on;) {
            bool may_go = !is_done[i];
            for (size_t k = 0; may_go && k < graph->nodes[i]->n_after; k++)
                may_go = is_done[graph->nodes[i]->after[k]];
            if (may_go) {
                is_done[i] = goes_on = true;
                graph->order[n++] = i;
            }
        }
    }
    free(is_done);
    return n == graph->n_nodes;
}
hone_cu_result cuGraphInstantiate(hone_cu_graph_exec *ret, hone_cu_graph graph,
                                  unsigned long long flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || graph == NULL || flags != 0)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    if (!graph->is_instantiated && !graph_order(graph))
        return HONE_CU_INVALID_VALUE;
    graph->is_instantiated = true;
    *ret = (hone_cu_graph_exec)(void *)graph_ref(graph);
    return 0;
}
static hone_cu_result graph_run(void *arg)
{
    struct hone_cu_graph_s *graph = arg;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct emu_work *work = &graph->nodes[graph->order[i]]->work;
        hone_cu_result rc = work->run(work->arg);
        if (rc != 0)
            return rc;
    }
    return 0;
}
hone_cu_result cuGraphLaunch(hone_cu_graph_exec exec, hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || exec == NULL)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    return emu_submit(stream, (struct emu_work){graph_run, graph_unref,
                                                graph_ref((struct hone_cu_graph_s *)(void *)exec)});
}
hone_cu_result cuGraphExecDestroy(hone_cu_graph_exec exec)
{
    if (exec == NULL)
        return HONE_CU_INVALID_VALUE;
    graph_unref(exec);
    return emu_enter();
}
