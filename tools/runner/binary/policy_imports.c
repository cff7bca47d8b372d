/* SPDX-License-Identifier: Apache-2.0 */
/* Imported functions by name: a table of what each may mean. What is not in it is `imports`. */
#include <string.h>

#include "tools/runner/binary/policy.h"

#define FINE (-1)

/* A last * stands for any rest. The first row that fits counts. */
static const struct {
    const char *names; /* parted by blanks */
    int rule;
} rows[] = {
    /* what looks like its neighbours but is not */
    {"omp_get_wtime omp_get_wtick clock clock_* gettimeofday time times timespec_get ftime "
     "getrusage timer_* setitimer getitimer alarm ualarm __vdso_* timerfd_*",
     HONE_POLICY_TIMERS},
    {"sched_getcpu getcpu sched_setaffinity pthread_setaffinity_np pthread_attr_setaffinity_np "
     "omp_get_place_num omp_get_partition_* sched_setscheduler set_mempolicy mbind",
     HONE_POLICY_PLACEMENT},
    {"nanosleep usleep sleep thrd_sleep pause sigwait* poll ppoll select pselect epoll_* "
     "__nanosleep sched_setparam",
     HONE_POLICY_TRAPS},
    {"dlopen dlmopen dlsym dlvsym dlclose dlerror dladdr dladdr1 dlinfo dl_iterate_phdr "
     "_dl_find_object __libc_dlopen_mode __libc_dlsym _dl_* __tunable*",
     HONE_POLICY_LOADER},
    {"mmap mmap64 munmap mremap mprotect pkey_* madvise posix_madvise memfd_* shm_* shmat shmget "
     "remap_file_pages mincore mlock* munlock* msync brk sbrk mallopt __malloc_hook "
     "__free_hook process_madvise",
     HONE_POLICY_MEMORY},
    {"syscall fork vfork __fork clone clone3 exec* fexecve posix_spawn* system popen ptrace "
     "process_vm_* prctl arch_prctl personality kill tgkill raise pthread_kill pthread_sigmask "
     "sigaction __sigaction signal bsd_signal sigset sysv_signal sigaltstack sigprocmask sigqueue "
     "socket socketpair connect bind listen accept* send sendto sendmsg recv recvfrom recvmsg "
     "setns unshare mount umount* chroot setrlimit* prlimit* seccomp dup "
     "dup2 dup3 exit_group setuid setgid wait waitpid wait4 "
     "sigsetjmp __sigsetjmp siglongjmp eventfd pipe pipe2 open open64 openat* creat* "
     "perf_event_open bpf io_uring_*",
     HONE_POLICY_SYSCALLS},
    {"cblas_* cblas* LAPACKE_* mkl_* MKL_* vml* vsl* dnnl_* onednn_* openblas_* bli_* blis_* "
     "fftw_* fftwf_* armpl_* nvpl_* cublas* cusparse* cudnn* cusolver* cufft* curand* nccl* "
     "hipblas* rocblas* gsl_* xnn_* ggml_* eigen_* sgemm dgemm sgemm_ dgemm_ cgemm_ zgemm_ "
     "sgemv_ dgemv_ sdot_ ddot_ saxpy_ daxpy_ sscal_ dscal_ isamax_ idamax_ snrm2_ dnrm2_ "
     "sasum_ dasum_ hgemm_ sbgemm_ ssyrk_ dsyrk_ strsm_ dtrsm_ sgesv_ dgesv_",
     HONE_POLICY_LIBRARIES},
    /* the linker's and the compiler's own */
    {"__cxa_finalize __gmon_start__ _ITM_* _Jv_RegisterClasses __tls_get_addr __stack_chk_fail "
     "__assert_fail __assert abort __errno_location __gcc_* __gcov_* __aeabi_* "
     "__*chk _mcount __fentry__ _Unwind_* __gxx_personality_v0 __gcc_personality_v0",
     FINE},
    {"__mul* __div* __mod* __udiv* __umod* __ash* __lsh* __float* __fix* __trunc* __extend* "
     "__popcount* __clz* __ctz* __ffs* __parity* __bswap* __pow* __add* __sub* __neg* __cmp* "
     "__eq* __ne* __lt* __le* __gt* __ge* __unord* __atomic_* __sync_* __cpu_model "
     "__cpu_indicator_init __cpu_features2",
     FINE},
    /* OpenMP and threads */
    {"GOMP_* gomp_* omp_* __kmpc_* kmp_* kmpc_*", FINE},
    {"pthread_create pthread_join pthread_detach pthread_exit pthread_self pthread_equal "
     "pthread_once pthread_mutex* pthread_cond* pthread_rwlock* pthread_spin* pthread_barrier* "
     "pthread_key* pthread_getspecific pthread_setspecific pthread_attr_* sem_* sched_yield "
     "pthread_getaffinity_np sched_getaffinity __sched_cpu* sysconf get_nprocs* thrd_* mtx_* "
     "cnd_* tss_* call_once",
     FINE},
    /* memory and text */
    {"malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign valloc "
     "malloc_usable_size memcpy memmove memset mempcpy memcmp bcmp memchr memrchr memmem str* "
     "stp* wmem* bcopy bzero explicit_bzero qsort qsort_r bsearch rand rand_r srand random* "
     "srandom* drand48* erand48* ato* abs labs llabs div ldiv lldiv toupper tolower is* "
     "__ctype_*",
     FINE},
    {"printf vprintf puts putchar fprintf vfprintf fputs fputc fputs_unlocked putc fwrite fflush "
     "snprintf sprintf vsnprintf vsprintf perror stdout stderr __printf_chk __fprintf_chk "
     "__snprintf_chk",
     FINE},
    /* libm, its vector forms */
    {"_ZGV* sin* cos* tan* asin* acos* atan* sinh* cosh* tanh* exp* log* pow* sqrt* cbrt* hypot* "
     "erf* tgamma* lgamma* gamma* ceil* floor* round* trunc* rint* nearbyint* lrint* llrint* "
     "lround* llround* fabs* fmin* fmax* fmod* fdim* fma fmaf fmal remainder* remquo* copysign* "
     "nan* ldexp* frexp* scalb* ilogb* modf* nextafter* nexttoward* j0* j1* jn* y0* y1* yn* "
     "signgam __signgam finite* __isnan* __isinf* __finite* __fpclassify* __signbit* fe* "
     "significand* drem* c*exp* csqrt* cabs* carg* creal* cimag* conj* cproj* clog* cpow* "
     "__*_finite "
     "roundeven*",
     FINE},
};

static bool fits(const char *pattern, size_t len, const char *name)
{
    const char *star = memchr(pattern, '*', len);
    size_t head = star != NULL ? (size_t)(star - pattern) : len;
    size_t tail = star != NULL ? len - head - 1 : 0, n = strlen(name);
    if (star == NULL)
        return n == len && memcmp(pattern, name, len) == 0;
    return n >= head + tail && memcmp(pattern, name, head) == 0 &&
           memcmp(star + 1, name + n - tail, tail) == 0;
}

static bool fits_one(const char *names, const char *name)
{
    for (const char *at = names; *at != '\0';) {
        size_t len = strcspn(at, " ");
        if (fits(at, len, name))
            return true;
        at += len + (at[len] == ' ');
    }
    return false;
}

bool hone_policy_import_rule(const char *name, enum hone_policy_rule *ret)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        if (!fits_one(rows[i].names, name))
            continue;
        if (rows[i].rule == FINE)
            return false;
        *ret = (enum hone_policy_rule)rows[i].rule;
        return true;
    }
    *ret = HONE_POLICY_IMPORTS;
    return true;
}

bool hone_policy_is_listed(const struct hone_strs *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (fits(list->v[i], strlen(list->v[i]), name))
            return true;
    return false;
}

bool hone_policy_is_foreign_library(const char *name)
{
    return !fits_one("libc.so* libm.so* libgomp.so* libomp.so* libiomp5.so* libpthread.so* "
                     "libgcc_s.so* libmvec.so* ld-linux* libatomic.so* librt.so*",
                     name);
}
