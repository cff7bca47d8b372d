/* SPDX-License-Identifier: Apache-2.0 */
/* Every size that comes from outside has its maximum here, one a line. Each has a test at it and
 * above it. */
#ifndef HONE_BASE_LIMITS_H
#define HONE_BASE_LIMITS_H

#define HONE_LIMIT_BUF_BYTES           (64u << 20) /* default bound of a hone_buf */
#define HONE_LIMIT_JSON_BYTES          (16u << 20) /* one JSON text */
#define HONE_LIMIT_JSON_DEPTH          64
#define HONE_LIMIT_FIELD_BYTES         (1u << 20)   /* one string whose row gives no max_len */
#define HONE_LIMIT_FIELD_ITEMS         4096         /* one array whose row gives no max_len */
#define HONE_LIMIT_SOURCE_BYTES        (1u << 20)   /* a candidate's source */
#define HONE_LIMIT_NAME_BYTES          64           /* task, branch and file stems */
#define HONE_LIMIT_FILE_BYTES          (64u << 20)  /* a file that hone reads whole */
#define HONE_LIMIT_LOG_BYTES           (256u << 10) /* kept output of one child */
#define HONE_LIMIT_REPORT_BYTES        (4u << 20)   /* report.json from the runner */
#define HONE_LIMIT_TREE_REPORT_BYTES   (16u << 10)  /* report.json in a commit's tree */
#define HONE_LIMIT_TRAILERS            64           /* trailers of one commit */
#define HONE_LIMIT_SUBJECT_BYTES       200          /* subject line of a commit; the rest is cut */
#define HONE_LIMIT_TRAILER_BYTES       1000         /* value of a trailer; the rest is cut */
#define HONE_LIMIT_COMMIT_TEXT_BYTES   (64u << 10)  /* body of a commit */
#define HONE_LIMIT_RECORD_BYTES        (16u << 20)  /* data text of one ledger record */
#define HONE_LIMIT_CACHE_BYTES         (64u << 20)  /* one entry of the cache */
#define HONE_LIMIT_AXES                16           /* axes of a task */
#define HONE_LIMIT_TENSORS             64           /* inputs plus outputs of a task */
#define HONE_LIMIT_RANK                6
#define HONE_LIMIT_STORED_TENSORS      1024      /* of a safetensors file of a pack */
#define HONE_LIMIT_STORED_HEADER_BYTES (1 << 20) /* of its header */
#define HONE_LIMIT_TORCH_SECONDS       120 /* processor time to describe a module, or of one answer */
#define HONE_LIMIT_TORCH_PATIENCE      5 /* times as long by the clock: others use the cores too */
#define HONE_LIMIT_TORCH_BYTES         (4ll << 30) /* memory of a module that is described */
#define HONE_LIMIT_TORCH_ANSWER        (1 << 20)   /* bytes of its description */
#define HONE_LIMIT_TORCH_ON_HOST       (4 << 20) /* elements, of all tensors, of a module: GPU tasks */
#define HONE_LIMIT_IMPORT_FILES        4096      /* of a folder that is imported */
#define HONE_LIMIT_IMPORT_DEPTH        8         /* folders in folders of it */
#define HONE_LIMIT_IMPORT_STORED       (64 << 20)  /* a file with a suite's stored inputs */
#define HONE_LIMIT_MODEL_ROWS          256         /* modules of a model that are told */
#define HONE_LIMIT_MODEL_SWAPS         16          /* modules that are replaced at a time */
#define HONE_LIMIT_MODEL_BYTES         (256 << 20) /* inputs, or outputs, of a model */
#define HONE_LIMIT_CONTENT_SCALE       1e9         /* scale and shift of an input's content */
#define HONE_LIMIT_WORKLOADS           64
#define HONE_LIMIT_HIDDEN              16            /* drawn sizes of one job that are timed */
#define HONE_LIMIT_BEYOND_BYTES        (256ll << 20) /* buffers of a size beyond the public ones */
#define HONE_LIMIT_ELEMENTS            (1ll << 31)   /* of one tensor */
#define HONE_LIMIT_TENSOR_BYTES        (8ll << 30)
#define HONE_LIMIT_PACK_FILES          256 /* files of a task pack */
#define HONE_LIMIT_PACK_DEPTH          4   /* folders in folders of a task pack */
#define HONE_LIMIT_EXPR_BYTES          512 /* an axis, flops or constraint expression */
#define HONE_LIMIT_CUDA_BRACKETS       256 /* nested, of a CUDA file that becomes a task */
#define HONE_LIMIT_EXPR_DEPTH          32
#define HONE_LIMIT_TUNABLES            8
#define HONE_LIMIT_TUNE_VALUES         32
#define HONE_LIMIT_TUNE_POINTS         256 /* combinations of one sweep */
/* tried against where() while making a sweep's points */
#define HONE_LIMIT_TUNE_COMBINATIONS 65536
#define HONE_LIMIT_INCLUDE_DEPTH     16 /* headers in headers of a user's function */
#define HONE_LIMIT_FLAGS             16 /* compiler options of one candidate */
#define HONE_LIMIT_TIMEOUT_MS        3600000
#define HONE_LIMIT_TUNE_VALUE        1000000000 /* a tunable lies in -this..this */
#define HONE_LIMIT_STAGES            10         /* stages of one job */
#define HONE_LIMIT_STAGE_ROWS        64         /* of one report: stages and what they spent */
#define HONE_LIMIT_ARMS              4          /* sources in one job */
#define HONE_LIMIT_TIMES             5          /* and what torch takes: times of a workload */
#define HONE_LIMIT_EXPORT_VALUES     512 /* expected values: of an export, an output and a case */
#define HONE_LIMIT_CORES             4096
#define HONE_LIMIT_JAIL_BYTES        (1ll << 40)
#define HONE_LIMIT_JOB_BYTES         (1u << 20) /* job.json */
#define HONE_LIMIT_PATH_BYTES        4096
#define HONE_LIMIT_WORD_BYTES        128         /* ids, words and versions in a report */
#define HONE_LIMIT_LINE_BYTES        4096        /* a message, command or detail in a report */
#define HONE_LIMIT_ASSEMBLY_BYTES    (48u << 10) /* what a compiler made of one kernel, as text */
#define HONE_LIMIT_DIAGNOSTICS       20          /* of one build, worst first */
#define HONE_LIMIT_REVIEW_ROWS       32          /* things for a reader of one report */
#define HONE_LIMIT_KINDS             64          /* kinds of content that one report names */
#define HONE_LIMIT_RESTS             16          /* units, places of fast-math in a report */
#define HONE_LIMIT_DOUBTS            16          /* reasons against claiming one figure */
#define HONE_LIMIT_HOLDER_BYTES      160         /* what a lock file says of its holder */
#define HONE_LIMIT_LEASE_WAITERS     64          /* named of those who wait for a lease */
#define HONE_LIMIT_CONFIRMATIONS     64          /* of one version that are held together */
#define HONE_LIMIT_POLICY_NAMES      64          /* imports that a task names */
#define HONE_LIMIT_CODE_BYTES        (4u << 20)  /* instructions of an object that a policy reads */
#define HONE_LIMIT_CODE_BYTES        (4u << 20)  /* instructions that a policy reads */
#define HONE_LIMIT_REPORT_ROWS       1024        /* checks, remarks, counters of one report */
#define HONE_LIMIT_ANSWER_ROWS       8192        /* trivial answers of one calibration */
#define HONE_LIMIT_PROGRESS_BYTES    4096        /* a progress line of the runner */
#define HONE_LIMIT_FRAME_HEAD_BYTES  (1u << 20)  /* head of a frame between hone and a runner */
#define HONE_LIMIT_FRAME_BYTES       (4u << 20)  /* what follows it */
#define HONE_LIMIT_NOISE_BYTES       (64u << 10) /* what a launcher prints before the runner speaks */
#define HONE_LIMIT_CALL_FILES        512         /* files that one call takes to a runner */
#define HONE_LIMIT_CALL_FILE_BYTES   (1ll << 30)
#define HONE_LIMIT_RUNNERS           64 /* runners of one executor */
#define HONE_LIMIT_WS_MESSAGE_BYTES  (4u << 20)
#define HONE_LIMIT_WS_QUEUE_BYTES    (8u << 20) /* unsent bytes of one connection */
#define HONE_LIMIT_CONNECTIONS       1024       /* WebSockets */
#define HONE_LIMIT_CALLS_PER_CONN    64         /* requests in flight on one connection */
#define HONE_LIMIT_SUBSCRIPTIONS     64   /* resources that one connection or request watches */
#define HONE_LIMIT_JOBS              1024 /* kept jobs */
#define HONE_LIMIT_SEARCHES          8    /* searches at a time in one program */
#define HONE_LIMIT_LANES             64   /* searches at a time of one suite */
#define HONE_LIMIT_SUITE_TASKS       2000 /* tasks of one suite */
#define HONE_LIMIT_QUEUE             256  /* calls waiting for a worker */
#define HONE_LIMIT_RPC_ID_BYTES      256  /* a request's id, when it is a string */
#define HONE_LIMIT_BATCH             64 /* messages of one batch (revision 2025-03-26 alone has them) */
#define HONE_LIMIT_STATE_BYTES                                                                     \
    (64u << 10) /* requestState: answers of earlier rounds that a call brings back */
#define HONE_LIMIT_RESPONSES 64               /* inputResponses of one request */
#define HONE_LIMIT_STATE_MS  (30 * 60 * 1000) /* from a question to the call that brings it back */
#define HONE_LIMIT_INBOX_BYTES                                                                     \
    (16u << 20) /* received messages of one connection that wait for their turn */
#define HONE_LIMIT_PLAN_BYTES         (8u << 20) /* one plan of a CUDA launcher as JSON */
#define HONE_LIMIT_PLAN_OPS           4096       /* launches, memsets and copies of one plan */
#define HONE_LIMIT_PLAN_PARAMS        1024       /* parameters of one kernel */
#define HONE_LIMIT_PLAN_PARAM_BYTES   32764      /* the same in bytes */
#define HONE_LIMIT_PLAN_LITERAL_BYTES 65536      /* bytes from the host, over the whole plan */
#define HONE_LIMIT_PLAN_SCRATCH       64         /* scratch buffers of one plan */
#define HONE_LIMIT_PLAN_STREAMS       64         /* streams of one launcher */
#define HONE_LIMIT_PLAN_MAPS          64         /* tensor maps of one launch */
#define HONE_LIMIT_PLAN_NOTES         32
#define HONE_LIMIT_GPU_HELD_PERCENT   25    /* of a device: buffers and answers kept between jobs */
#define HONE_LIMIT_GPU_ORACLES        32    /* task's oracles kept loaded on a device */
#define HONE_LIMIT_HEAD_BYTES         16384 /* an HTTP request's head */
#define HONE_LIMIT_HTTP_SESSIONS      256   /* of MCP over HTTP */
#define HONE_LIMIT_HALF_OPEN          64    /* sockets that are no WebSocket yet */
#define HONE_LIMIT_TOKEN_BYTES        128
#define HONE_LIMIT_ACCESS_TOKENS      64         /* named tokens of a workspace */
#define HONE_LIMIT_CLIENT_NAME_BYTES  32         /* of a named token */
#define HONE_LIMIT_ANSWERS_TEXT_BYTES (2u << 20) /* of a search as a resource; one answer more */
#define HONE_LIMIT_COOKIES            64         /* pages that a server knows */
#define HONE_LIMIT_AUDIT_BYTES        (8u << 20) /* of an audit log, then it is moved aside */
#define HONE_LIMIT_STDIO_LINE_BYTES   (16u << 20)
#define HONE_LIMIT_SYMBOL_BYTES       8192        /* a mangled name or a name expression */
#define HONE_LIMIT_CUBIN_BYTES        (32u << 20) /* what a device compiler may hand back */
#define HONE_LIMIT_CUDA_KERNELS       512         /* kernel instances of one cubin */
#define HONE_LIMIT_CUDA_VARIABLES     8192        /* device variables of one cubin */
#define HONE_LIMIT_CUDA_PARAMS        256         /* parameters of one kernel */
#define HONE_LIMIT_CUDA_PARAM_BYTES   32764       /* of all parameters of one kernel */
#define HONE_LIMIT_CUDA_COMPILES      1024        /* compiles in flight in one compile server */
#define HONE_LIMIT_MODELS             32          /* entries of the configuration */
#define HONE_LIMIT_MODEL_TEXT_BYTES   (1u << 20)  /* text of one answer */
#define HONE_LIMIT_MODEL_WIRE_BYTES   (16u << 20) /* one answer as it comes over the wire */
#define HONE_LIMIT_MODEL_TOKENS       100000000   /* a count that a provider may tell */
#define HONE_LIMIT_MODEL_TRIES        10          /* of one request with one model */
#define HONE_LIMIT_MODEL_CHAIN        4           /* a model and its fallbacks */
#define HONE_LIMIT_PROMPT_BYTES       (2u << 20)  /* all text of one request */
#define HONE_LIMIT_SSE_BYTES          (1u << 20)  /* one event of a stream */
#define HONE_LIMIT_HTTP_HEADERS_BYTES (64u << 10) /* of an answer */
#define HONE_LIMIT_HTTP_ERROR_BYTES   (8u << 10)  /* kept text of an answer that is an error */
#define HONE_LIMIT_KEY_BYTES          4096        /* a secret from a file or the environment */
#define HONE_LIMIT_CONFIG_BYTES       (256u << 10)
#define HONE_LIMIT_EDITS              64   /* edits of one answer of a model */
#define HONE_LIMIT_TRIED              8    /* steps of a version's past that a prompt shows */
#define HONE_LIMIT_TRIED_BYTES        160  /* words on one of them; the rest is cut */
#define HONE_LIMIT_BEST               8    /* versions of the whole search that a prompt shows */
#define HONE_LIMIT_SETTINGS           6    /* of a sweep that a prompt shows; the default besides */
#define HONE_LIMIT_MACHINE_BYTES      1500 /* the machine in a prompt; further lines are cut */
#define HONE_LIMIT_DECLINE_BYTES      400  /* why a model declines a step; the rest is cut */
#define HONE_LIMIT_REFUSED_BYTES      (16u << 10) /* of a refused answer in the next prompt */
#define HONE_LIMIT_MERGE_BYTES        (12u << 10) /* of a sibling's diff in a prompt */
#define HONE_LIMIT_LATTICE_BYTES      (1u << 20)  /* one lattice file */
#define HONE_LIMIT_LATTICE_REPEATS    64          /* times of one of its states */
#define HONE_LIMIT_HINT_BYTES         1000        /* a hint to a running search */
#define HONE_LIMIT_HINTS              8           /* of them that stand at a time */
#define HONE_LIMIT_SUBMISSIONS        16          /* steps from outside that wait in one search */
#define HONE_LIMIT_EPISODES           64          /* open in one hone env */
#define HONE_LIMIT_KNOWLEDGE_LINE     (8u << 10)  /* one row of a store */
#define HONE_LIMIT_KNOWLEDGE_BYTES    (16u << 20) /* a store */
#define HONE_LIMIT_KNOWLEDGE_ROWS     50000       /* of a store */
#define HONE_LIMIT_KNOWLEDGE_PROMPT   (4u << 10)  /* all that rows of it add to one prompt */
#define HONE_LIMIT_DEVICES            64          /* of one machine that are used */
#define HONE_LIMIT_PAGE_SEARCHES      1000        /* searches in one list; the oldest give way */
#define HONE_LIMIT_PAGE_SOURCES       2000        /* sources that a static page holds */
#define HONE_MAX_CODERS               16 /* answers of models under way at a time in one search */

#endif
